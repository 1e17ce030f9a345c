import type { Fingerprint } from '../../../page/near/fingerprint-tables.ts';
import { firstBits, type MergedBlocks, type MergedUnit, wordAt } from './signature-entries.ts';

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
export const digestText = ({ high, low }: Fingerprint): string =>
  String.fromCharCode(high >>> 16, high & 0xffff, low >>> 16, low & 0xffff);

/** Visits the places of URLs. Returns up to where the bytes are sound. */
export function visitUrls(bytes: Buffer, visit: (at: number) => void): number {
  let at = 0;
  while (at + HEADER <= bytes.length) {
    const end = endOfUrl(bytes, at);
    if (end > bytes.length) break;
    visit(at);
    at = end;
  }
  return at;
}

function endOfUrl(bytes: Buffer, at: number): number {
  const length = bytes.readUInt16BE(at + 8);
  return at + HEADER + (length === REMOVED ? 0 : length);
}

export const digestAt = (bytes: Buffer, at: number): Fingerprint => ({
  high: wordAt(bytes, at),
  low: wordAt(bytes, at + 4),
});

/** `null`: removed. */
export const urlAt = (bytes: Buffer, at: number): string | null =>
  bytes.readUInt16BE(at + 8) === REMOVED ? null : bytes.toString('utf8', at + HEADER, endOfUrl(bytes, at));

/** URL of a digest in a block; `null`: it is not there, or removed. */
export function urlIn(bytes: Buffer | undefined, { high, low }: Fingerprint): string | null {
  if (bytes === undefined) return null;
  for (let at = 0, end = 0; at + HEADER <= bytes.length; at = end) {
    end = endOfUrl(bytes, at);
    if (end > bytes.length) break;
    if (wordAt(bytes, at + 4) === low && wordAt(bytes, at) === high) return urlAt(bytes, at);
  }
  return null;
}

/** Merges the URLs of a unit, by their digests. @param sources newest first, the rows of each oldest first */
export function mergeUrls(sources: readonly Buffer[], { unitBits, unit, bits, isLast }: MergedUnit): MergedBlocks {
  // The row of each digest, as it stands in a source.
  const newest = new Map<string, Buffer>();
  for (const bytes of sources.toReversed()) {
    visitUrls(bytes, (at) => {
      const digest = digestAt(bytes, at);
      if (firstBits(digest.high, unitBits) !== unit) return;
      newest.set(digestText(digest), bytes.subarray(at, endOfUrl(bytes, at)));
    });
  }
  const members = new Map<number, Buffer[]>();
  let entries = 0;
  for (const row of newest.values()) {
    if (isLast && row.readUInt16BE(8) === REMOVED) continue;
    const block = firstBits(wordAt(row, 0), bits);
    const list = members.get(block);
    if (list === undefined) members.set(block, [row]);
    else list.push(row);
    entries++;
  }
  return { blocks: new Map([...members].map(([block, list]) => [block, Buffer.concat(list)])), entries };
}
