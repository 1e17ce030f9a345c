import {
  type Fingerprint,
  fingerprintDistance,
  TABLES,
  tableKey,
} from '../../../domain/page/near/fingerprint-tables.ts';
import { type KeyRange, prefixRange, urlKey } from '../../../domain/url/canonical/url-key.ts';
import { murmur3 } from '../../../domain/url/hash/murmur3.ts';
import { DIGEST_WORDS, digestUrl } from '../../../domain/url/hash/url-digest.ts';
import { ROW } from '../codecs/keys.ts';

/**
 * Rows of the tables of signatures, below one letter:
 *
 * | key | row |
 * |---|---|
 * | `nd` + digest of the representative + URL key | a duplicate of it; empty |
 * | `nf` | layout and plan of the tables, written when they are whole |
 * | `nt` + scope + table + 16 bits | bucket: signatures with these bits |
 * | `nu` + digest | URL of a digest |
 */
export const NEAR_FACT_KEY = `${ROW.near}f`;
const BUCKET = `${ROW.near}t`;
const URL_OF = `${ROW.near}u`;
const DUPLICATE = `${ROW.near}d`;

/** Layout of these rows. Those of another layout are rebuilt from the records. */
export const NEAR_LAYOUT = 1;

/** Maximum signatures of a bucket, and duplicates among them; further ones are left out and counted. */
const MAX_ENTRIES = 1_024;
const MAX_DUPLICATES = 256;

/** A signature in its bucket. */
export interface NearEntry {
  readonly fingerprint: Fingerprint;
  /** First half of the digest of the URL. */
  readonly digest: Fingerprint;
  readonly textChars: number;
  readonly isDuplicate: boolean;
}

export function digestOf(url: string): Fingerprint {
  const words = new Uint32Array(DIGEST_WORDS);
  digestUrl(url, words, 0);
  return { high: words[0]!, low: words[1]! };
}

const hex = (word: number): string => word.toString(16).padStart(8, '0');
const digestText = ({ high, low }: Fingerprint): string => hex(high) + hex(low);

/** Scope of a bucket key: pages of different scopes, or with signatures of different kinds, never meet. */
export function scopeText(scope: string, signatureName: string): string {
  return hex(murmur3(`${scope}\n${signatureName}`));
}

/** Keys of the buckets of a signature, by table. */
export function bucketKeys(scope: string, fingerprint: Fingerprint): string[] {
  return Array.from({ length: TABLES }, (_, table) => {
    const bits = tableKey(fingerprint, table).toString(16).padStart(4, '0');
    return `${BUCKET}${scope}${table}${bits}`;
  });
}

export const BUCKETS: KeyRange = prefixRange(BUCKET);
export const DUPLICATES: KeyRange = prefixRange(DUPLICATE);
export const urlOfDigestKey = (digest: Fingerprint): string => URL_OF + digestText(digest);
export const duplicateKey = (target: string, url: string): string => duplicatesPrefix(target) + urlKey(url);
export const duplicatesPrefix = (target: string): string => DUPLICATE + digestText(digestOf(target));
/** URL key of a duplicate. */
export const urlKeyOfDuplicate = (key: string): string => key.slice(DUPLICATE.length + 16);

const HEADER = 5;
const ENTRY = 20;
const IS_DUPLICATE = 0x8000_0000;
const MAX_CHARS = 0x7fff_ffff;

/** A bucket, read and changed in its stored form: layout, number of entries left out, entries. */
export class NearBucket {
  #bytes: Buffer;

  /** @param stored bytes that cannot be read count as one entry left out */
  constructor(stored: Buffer | undefined) {
    const isSound = stored !== undefined && stored[0] === NEAR_LAYOUT && (stored.length - HEADER) % ENTRY === 0;
    this.#bytes = isSound ? stored : emptyBucket(stored === undefined ? 0 : 1);
  }

  get bytes(): Buffer {
    return this.#bytes;
  }

  get isEmpty(): boolean {
    return this.#bytes.length === HEADER && this.leftOut === 0;
  }

  get leftOut(): number {
    return this.#bytes.readUInt32BE(1);
  }

  /** Visits entries within a distance. */
  near(fingerprint: Fingerprint, distance: number, visit: (entry: NearEntry, distance: number) => void): void {
    const bytes = this.#bytes;
    for (let at = HEADER; at < bytes.length; at += ENTRY) {
      const own = fingerprintDistance(fingerprint, { high: bytes.readUInt32BE(at), low: bytes.readUInt32BE(at + 4) });
      if (own <= distance) visit(this.#entry(at), own);
    }
  }

  get size(): number {
    return (this.#bytes.length - HEADER) / ENTRY;
  }

  /** The entry of a page. */
  find(digest: Fingerprint): NearEntry | null {
    const at = this.#find(digest);
    return at === -1 ? null : this.#entry(at);
  }

  add(entry: NearEntry): void {
    const { length } = this.#bytes;
    const isFull = this.size >= MAX_ENTRIES || (entry.isDuplicate && this.#duplicates() >= MAX_DUPLICATES);
    if (isFull) {
      this.#countLeftOut(1);
      return;
    }
    const bytes = Buffer.alloc(length + ENTRY);
    this.#bytes.copy(bytes);
    bytes.writeUInt32BE(entry.fingerprint.high, length);
    bytes.writeUInt32BE(entry.fingerprint.low, length + 4);
    bytes.writeUInt32BE(entry.digest.high, length + 8);
    bytes.writeUInt32BE(entry.digest.low, length + 12);
    const chars = Math.min(entry.textChars, MAX_CHARS);
    bytes.writeUInt32BE((entry.isDuplicate ? IS_DUPLICATE + chars : chars) >>> 0, length + 16);
    this.#bytes = bytes;
  }

  /** An absent entry was one left out. */
  remove(digest: Fingerprint): void {
    const at = this.#find(digest);
    if (at === -1) {
      if (this.leftOut > 0) this.#countLeftOut(-1);
      return;
    }
    this.#bytes = Buffer.concat([this.#bytes.subarray(0, at), this.#bytes.subarray(at + ENTRY)]);
  }

  #entry(at: number): NearEntry {
    const bytes = this.#bytes;
    const last = bytes.readUInt32BE(at + 16);
    return {
      fingerprint: { high: bytes.readUInt32BE(at), low: bytes.readUInt32BE(at + 4) },
      digest: { high: bytes.readUInt32BE(at + 8), low: bytes.readUInt32BE(at + 12) },
      textChars: last % IS_DUPLICATE,
      isDuplicate: last >= IS_DUPLICATE,
    };
  }

  #find({ high, low }: Fingerprint): number {
    const bytes = this.#bytes;
    for (let at = HEADER; at < bytes.length; at += ENTRY) {
      if (bytes.readUInt32BE(at + 8) === high && bytes.readUInt32BE(at + 12) === low) return at;
    }
    return -1;
  }

  #duplicates(): number {
    let count = 0;
    for (let at = HEADER; at < this.#bytes.length; at += ENTRY) {
      if (this.#bytes.readUInt32BE(at + 16) >= IS_DUPLICATE) count++;
    }
    return count;
  }

  #countLeftOut(change: 1 | -1): void {
    const bytes = Buffer.from(this.#bytes);
    bytes.writeUInt32BE(this.leftOut + change, 1);
    this.#bytes = bytes;
  }
}

function emptyBucket(leftOut: number): Buffer {
  const bytes = Buffer.alloc(HEADER);
  bytes[0] = NEAR_LAYOUT;
  bytes.writeUInt32BE(leftOut, 1);
  return bytes;
}
