import { crc32 } from './crc32.ts';

/** Smaller records are stored rather than compressed: setting zlib up would cost more than the few bytes saved. */
export const STORED_BYTES = 2_048;

/**
 * gzip header without name and time (RFC 1952), then the header of one stored deflate block, the last one (RFC 1951).
 */
const HEADER = Buffer.from([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff, 1]);

/** A gzip member with its content uncompressed. At most 65,535 bytes, the length of one stored block. */
export function storedMember(content: Buffer): Buffer {
  const member = Buffer.allocUnsafe(HEADER.length + 4 + content.length + 8);
  HEADER.copy(member);
  member.writeUInt16LE(content.length, HEADER.length);
  member.writeUInt16LE(~content.length & 0xffff, HEADER.length + 2);
  content.copy(member, HEADER.length + 4);
  member.writeUInt32LE(crc32(content), member.length - 8);
  member.writeUInt32LE(content.length, member.length - 4);
  return member;
}
