import type { Fingerprint } from '../../../../page/near/fingerprint-tables.ts';
import { firstBits, type MergedBlocks, type MergedUnit } from './signature-entries.ts';

/** Bytes before a URL: digest, length. */
const HEADER = 10;
/** In place of the length: the page is in no table any more. */
const REMOVED = 0xffff;

/** @param url `null`: the page has left the tables */
export function urlRow({ high, low }: Fingerprint, url: string | null): Buffer {
  const text = Buffer.from(url ?? '');
  const bytes = Buffer.alloc(HEADER + text.length);
  bytes.writeUInt32BE(high, 0);
  bytes.writeUInt32BE(low, 4);
  bytes.writeUInt16BE(url === null ? REMOVED : text.length, 8);
  text.copy(bytes, HEADER);
  return bytes;
}

/** A digest as the key of a map. */
export function digestText({ high, low }: Fingerprint): string {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32BE(high, 0);
  bytes.writeUInt32BE(low, 4);
  return bytes.toString('latin1', 0, 8);
}

/** Visits URLs with their digests; `null`: removed. Returns whether the bytes are sound. */
export function visitUrls(bytes: Buffer, visit: (digest: string, url: Buffer | null) => void): boolean {
  let at = 0;
  while (at + HEADER <= bytes.length) {
    const length = bytes.readUInt16BE(at + 8);
    const end = at + HEADER + (length === REMOVED ? 0 : length);
    if (end > bytes.length) return false;
    visit(bytes.toString('latin1', at, at + 8), length === REMOVED ? null : bytes.subarray(at + HEADER, end));
    at = end;
  }
  return at === bytes.length;
}

/** Merges the URLs of a unit, by their digests. @param sources newest first, the rows of each oldest first */
export function mergeUrls(sources: readonly Buffer[], { unitBits, unit, bits, isLast }: MergedUnit): MergedBlocks {
  const newest = new Map<string, Buffer | null>();
  for (const bytes of sources.toReversed()) {
    visitUrls(bytes, (digest, url) => {
      if (firstBits(placeOfDigest(digest), unitBits) === unit) newest.set(digest, url);
    });
  }
  const members = new Map<number, Buffer[]>();
  let entries = 0;
  for (const [digest, url] of newest) {
    if (isLast && url === null) continue;
    const block = firstBits(placeOfDigest(digest), bits);
    const row = Buffer.alloc(HEADER);
    row.write(digest, 0, 'latin1');
    row.writeUInt16BE(url === null ? REMOVED : url.length, 8);
    const list = members.get(block) ?? [];
    if (list.length === 0) members.set(block, list);
    list.push(row, ...(url === null ? [] : [url]));
    entries++;
  }
  return { blocks: new Map([...members].map(([block, list]) => [block, Buffer.concat(list)])), entries };
}

const placeOfDigest = (digest: string): number =>
  ((digest.charCodeAt(0) << 24) | (digest.charCodeAt(1) << 16) | (digest.charCodeAt(2) << 8) | digest.charCodeAt(3)) >>>
  0;
