import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl';

export interface ZipLimits {
  readonly maxEntries: number;
  /** Bytes of all parts that are read, decompressed. */
  readonly maxBytes: number;
  /** How many times its compressed size a part may grow to. */
  readonly maxRatio: number;
}

/** Smaller parts may expand by any factor: a row of spaces is not a bomb. */
const SMALL_PART = 1 << 20;

/**
 * The parts of a document that is a ZIP file. Sizes are checked before anything is decompressed: a part that becomes
 * larger than its header says is an error.
 */
export class ZipParts {
  private readonly zip: ZipFile;
  private readonly entries: ReadonlyMap<string, Entry>;
  private readonly limits: ZipLimits;
  private bytes = 0;

  private constructor(zip: ZipFile, entries: ReadonlyMap<string, Entry>, limits: ZipLimits) {
    this.zip = zip;
    this.entries = entries;
    this.limits = limits;
  }

  /** Rejects with the fault of the file. */
  static async open(body: Uint8Array, limits: ZipLimits): Promise<ZipParts> {
    const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
    const entries = new Map<string, Entry>();
    try {
      const zip = await fromBufferPromise(bytes, { autoClose: false });
      if (zip.entryCount > limits.maxEntries) {
        throw new Error(`it has ${zip.entryCount} parts, more than the option maxEntries allows`);
      }
      for await (const entry of zip.eachEntry()) entries.set(entry.fileName, entry);
      return new ZipParts(zip, entries, limits);
    } catch (error) {
      throw describedFault(error, bytes);
    }
  }

  has(name: string): boolean {
    return this.entries.has(name);
  }

  /** The content of a part; `null`: there is none of that name. */
  async read(name: string): Promise<Buffer | null> {
    const entry = this.entries.get(name);
    if (entry === undefined) return null;
    const { uncompressedSize, compressedSize } = entry;
    if (entry.isEncrypted()) throw new Error('the document is encrypted');
    if (uncompressedSize > SMALL_PART && uncompressedSize > this.limits.maxRatio * compressedSize) {
      throw new Error(
        `${name} becomes ${Math.round(uncompressedSize / compressedSize)} times as large when decompressed`,
      );
    }
    this.bytes += uncompressedSize;
    if (this.bytes > this.limits.maxBytes) {
      throw new Error('the document is larger when decompressed than the option maxBytes allows');
    }
    // yauzl rejects a part that has another size than its header says.
    const part = Buffer.allocUnsafeSlow(uncompressedSize);
    let length = 0;
    for await (const chunk of await this.zip.openReadStreamPromise(entry))
      length += (chunk as Buffer).copy(part, length);
    return part;
  }
}

/** Files of the formats before 2007, and encrypted ones of those since (MS-CFB, 2.2). */
const COMPOUND_FILE = Buffer.from('d0cf11e0a1b11ae1', 'hex');

function describedFault(error: unknown, bytes: Buffer): Error {
  const message = error instanceof Error ? error.message : String(error);
  if (bytes.length === 0) return new Error('the document is empty');
  if (bytes.subarray(0, COMPOUND_FILE.length).equals(COMPOUND_FILE)) {
    return new Error('the document is encrypted, or of a format before 2007');
  }
  if (bytes.toString('latin1', 0, 2) !== 'PK') return new Error('the document is no ZIP file');
  if (message.includes('End of central directory record')) {
    return new Error(`the document is cut off after ${bytes.length} bytes (is http.maxBodyBytes too small?)`);
  }
  return new Error(`the document cannot be read: ${message}`);
}
