import { MAX_ROBOTS_BYTES, withoutTornLine } from './robots-lines.ts';

/**
 * Text of a robots.txt as received, cut at 500 KiB: UTF-8 as in RFC 9309; UTF-16 with a byte order mark; Latin-1 where
 * the bytes are not valid UTF-8, so that their rules still match.
 */
export function decodeRobots(bytes: Uint8Array): string {
  if (bytes.length > MAX_ROBOTS_BYTES) return withoutTornLine(textOf(bytes.subarray(0, MAX_ROBOTS_BYTES), true));
  return textOf(bytes, false);
}

function textOf(data: Uint8Array, isCut: boolean): string {
  const [first, second] = data;
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(data);
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(data);
  try {
    // A character that was cut is not a fault of the file.
    return new TextDecoder('utf-8', { fatal: true }).decode(data, { stream: isCut });
  } catch {
    return Buffer.from(data).toString('latin1');
  }
}
