// http/exchange/: one request and its response, by got.

import zlib from 'node:zlib';
import { CrawlError } from '../../core/domain/errors.ts';

export interface DecodedBody {
  readonly body: Uint8Array;
  /** The output reached its limit, or the coded data ended too early. */
  readonly truncated: boolean;
  /** The coded data ended too early although the body was received completely. */
  readonly isTorn: boolean;
}

type Coding = 'gzip' | 'deflate' | 'br' | 'zstd';

/** Zstandard (RFC 8878) in zlib, available in Node 22.15 and later. */
interface Zstd {
  readonly zstdDecompressSync: (data: Uint8Array, options: zlib.ZlibOptions) => Buffer;
  readonly createZstdDecompress: (options: zlib.ZlibOptions) => Decoder;
  readonly constants: { readonly ZSTD_e_flush: number };
}
type Decoder = zlib.Gunzip | zlib.BrotliDecompress;
const zstd = 'zstdDecompressSync' in zlib ? (zlib as unknown as Zstd) : null;

/** The Accept-Encoding of each request. */
export const ACCEPTED_CODINGS = `gzip, deflate, br${zstd === null ? '' : ', zstd'}`;

/** More codings than this are an attack rather than a page. */
const MAX_CODINGS = 2;
/** With more coded bytes than this zlib's own threads decode; with fewer, decoding synchronously is cheaper. */
const SYNC_LIMIT = 256 * 1024;

const CODINGS: ReadonlyMap<string, Coding> = new Map<string, Coding>([
  ['gzip', 'gzip'],
  ['x-gzip', 'gzip'],
  ['deflate', 'deflate'],
  ['br', 'br'],
  ...(zstd === null ? [] : [['zstd', 'zstd'] as const]),
]);

/** Codings in IANA's registry, and others in use, that are unsupported unless they are among those above. */
const OTHER_CODINGS: ReadonlySet<string> = new Set(
  'aes128gcm bzip2 compress dcb dcz exi lzma pack200-gzip sdch x-bzip2 x-compress xz zstd'.split(' '),
);

/**
 * Codings of a Content-Encoding field in the order in which they were applied. Throws
 * `CrawlError('content-undecodable')` if one is not supported. Any other word is not a coding (servers write "utf-8",
 * "none", "binary") and is ignored, as in browsers.
 */
export function contentCodings(field: string | undefined): readonly Coding[] {
  if (field === undefined) return [];
  const codings: Coding[] = [];
  for (const part of field.split(',')) {
    const name = part.trim().toLowerCase();
    const coding = CODINGS.get(name);
    if (coding !== undefined) codings.push(coding);
    else if (OTHER_CODINGS.has(name)) throw new CrawlError('content-undecodable', `content coding "${name}"`);
  }
  if (codings.length > MAX_CODINGS) {
    throw new CrawlError('content-undecodable', `${codings.length} content codings, at most ${MAX_CODINGS} are undone`);
  }
  return codings;
}

/**
 * Decodes a body, undoing the last applied coding first. No step outputs more than `maxBytes`, so a decompression bomb
 * costs bounded work and memory. If the body was cut, everything that can be decoded is returned, even if only the
 * missing end shows the cut.
 */
export async function decodeBody(
  wire: Uint8Array,
  codings: readonly Coding[],
  maxBytes: number,
  isCut: boolean,
): Promise<DecodedBody> {
  let decoded: DecodedBody = { body: wire, truncated: isCut, isTorn: false };
  for (const coding of [...codings].reverse()) {
    if (decoded.body.length === 0) break;
    const step = await undo(coding, decoded.body, maxBytes, decoded.truncated);
    decoded = {
      body: step.body,
      truncated: step.truncated || decoded.truncated,
      isTorn: step.isTorn || decoded.isTorn,
    };
  }
  return { ...decoded, body: owned(decoded.body) };
}

async function undo(coding: Coding, data: Uint8Array, maxBytes: number, isCut: boolean): Promise<DecodedBody> {
  try {
    if (data.length <= SYNC_LIMIT) {
      try {
        return {
          body: syncDecoder(coding, data)(data, { ...optionsOf(coding, isCut), maxOutputLength: maxBytes }),
          truncated: false,
          isTorn: false,
        };
      } catch (error) {
        if (codeOf(error) !== 'ERR_BUFFER_TOO_LARGE') throw error;
      }
    }
    return await decodeByStream(streamDecoder(coding, data, isCut), data, maxBytes);
  } catch (error) {
    if (!isCut && codeOf(error) === 'Z_BUF_ERROR') {
      const { body } = await undo(coding, data, maxBytes, true);
      if (body.length > 0) return { body, truncated: true, isTorn: true };
    }
    const reason = error instanceof Error ? error.message : String(error);
    throw new CrawlError('content-undecodable', `${coding}: ${reason}`, { cause: error });
  }
}

/** Stops the decoder at the limit. */
function decodeByStream(decoder: Decoder, data: Uint8Array, maxBytes: number): Promise<DecodedBody> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const finish = (truncated: boolean): void =>
      resolve({ body: Buffer.concat(chunks, Math.min(bytes, maxBytes)), truncated, isTorn: false });
    decoder.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes <= maxBytes) return;
      decoder.destroy();
      finish(true);
    });
    decoder.on('end', () => finish(false));
    decoder.on('error', reject);
    decoder.end(data);
  });
}

/** With these options a decoder that runs out of data returns its output so far instead of failing. */
function optionsOf(coding: Coding, isCut: boolean): zlib.ZlibOptions & zlib.BrotliOptions {
  if (!isCut) return {};
  if (coding === 'zstd') return { finishFlush: zstd!.constants.ZSTD_e_flush };
  return { finishFlush: coding === 'br' ? zlib.constants.BROTLI_OPERATION_FLUSH : zlib.constants.Z_SYNC_FLUSH };
}

function syncDecoder(
  coding: Coding,
  data: Uint8Array,
): (data: Uint8Array, options: zlib.ZlibOptions & zlib.BrotliOptions) => Buffer {
  if (coding === 'zstd') return zstd!.zstdDecompressSync;
  if (coding === 'br') return zlib.brotliDecompressSync;
  if (coding === 'gzip') return zlib.gunzipSync;
  return hasZlibHeader(data) ? zlib.inflateSync : zlib.inflateRawSync;
}

function streamDecoder(coding: Coding, data: Uint8Array, isCut: boolean): Decoder {
  const options = optionsOf(coding, isCut);
  if (coding === 'zstd') return zstd!.createZstdDecompress(options);
  if (coding === 'br') return zlib.createBrotliDecompress(options);
  if (coding === 'gzip') return zlib.createGunzip(options);
  return hasZlibHeader(data) ? zlib.createInflate(options) : zlib.createInflateRaw(options);
}

/**
 * `deflate` means the zlib format (RFC 9110 section 8.4.1.2; header: RFC 1950 section 2.2), but some servers send a
 * bare DEFLATE stream.
 */
function hasZlibHeader(data: Uint8Array): boolean {
  const [cmf = 0, flags = 0] = data;
  return (cmf & 0x0f) === 8 && cmf >> 4 <= 7 && (cmf * 256 + flags) % 31 === 0;
}

/**
 * Copies a body into an ArrayBuffer of its own if necessary, so that it can be transferred to a worker without the
 * shared pool.
 */
export function owned(body: Uint8Array): Uint8Array {
  if (body.byteLength === body.buffer.byteLength) return body;
  const copy = Buffer.allocUnsafeSlow(body.byteLength);
  copy.set(body);
  return copy;
}

const codeOf = (error: unknown): unknown => (error instanceof Error && 'code' in error ? error.code : undefined);
