// adapters/files/warc/: WARC 1.1 files: written, read and verified.
import * as zlib from 'node:zlib';

/** CRC-32 of gzip (RFC 1952 section 8). Node has it since 20.15 and 22.2; releases between those two lack it. */
export const crc32: (data: Uint8Array) => number = zlib.crc32 ?? crc32ByTable;

let table: Uint32Array | null = null;

/** The same, bytewise by a table (RFC 1952 section 8.1.1); about a hundred times slower. */
export function crc32ByTable(data: Uint8Array): number {
  table ??= Uint32Array.from({ length: 256 }, (_, byte) => {
    let remainder = byte;
    for (let bit = 0; bit < 8; bit++)
      remainder = (remainder & 1) === 1 ? 0xedb88320 ^ (remainder >>> 1) : remainder >>> 1;
    return remainder;
  });
  let crc = 0xffffffff;
  for (const byte of data) crc = (table[(crc ^ byte) & 0xff] as number) ^ (crc >>> 8);
  return (crc ^ 0xffffffff) >>> 0;
}
