import { MAX_ROBOTS_BYTES, withoutTornLine } from './robots-lines.ts';

/**
 * Text of a robots.txt as received, cut at 500 KiB: UTF-8 as in RFC 9309; UTF-16 with or without a byte order mark;
 * Latin-1 where the bytes are not valid UTF-8, so that their rules still match.
 */
export function decodeRobots(bytes: Uint8Array): string {
  if (bytes.length > MAX_ROBOTS_BYTES) return withoutTornLine(textOf(bytes.subarray(0, MAX_ROBOTS_BYTES), true));
  return textOf(bytes, false);
}

function textOf(data: Uint8Array, isCut: boolean): string {
  const utf16 = utf16Of(data);
  if (utf16 !== null) return new TextDecoder(utf16).decode(data);
  try {
    // A character that was cut is not a fault of the file.
    return new TextDecoder('utf-8', { fatal: true }).decode(data, { stream: isCut });
  } catch {
    return Buffer.from(data).toString('latin1');
  }
}

/** By the byte order mark, else by the zero byte of each of the first two characters: rules begin in ASCII. */
function utf16Of(data: Uint8Array): 'utf-16le' | 'utf-16be' | null {
  const [first, second, third, fourth] = data;
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  if (first === 0xfe && second === 0xff) return 'utf-16be';
  if (first && second === 0 && third && fourth === 0) return 'utf-16le';
  if (first === 0 && second && third === 0 && fourth) return 'utf-16be';
  return null;
}
