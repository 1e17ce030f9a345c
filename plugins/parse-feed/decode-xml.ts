import { constants, gunzipSync } from 'node:zlib';
import { getBOMEncoding, normalizeEncoding, TextDecoder } from '@exodus/bytes/encoding.js';

export function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

/**
 * Decompresses a gzip file as far as it goes: it may be truncated. Throws a `RangeError` (code `ERR_BUFFER_TOO_LARGE`)
 * beyond `maxBytes`, an `Error` for data that is not gzip.
 */
export function gunzip(bytes: Uint8Array, maxBytes: number): Uint8Array {
  return gunzipSync(bytes, { maxOutputLength: maxBytes, finishFlush: constants.Z_SYNC_FLUSH });
}

/** Text of an XML or plain text file: by its byte order mark, else its XML declaration, else UTF-8. */
export function decodeXml(bytes: Uint8Array): string {
  const encoding = getBOMEncoding(bytes) ?? declaredEncoding(bytes) ?? 'utf-8';
  return new TextDecoder(encoding).decode(bytes);
}

function declaredEncoding(bytes: Uint8Array): string | null {
  let start = '';
  for (const byte of bytes.subarray(0, 256)) start += String.fromCharCode(byte);
  const label = /^\s*<\?xml[^>]*?\sencoding\s*=\s*["']([\w.:-]+)["']/.exec(start)?.[1];
  if (label === undefined) return null;
  const name = normalizeEncoding(label);
  // A declaration that could be read byte by byte is in no 16-bit encoding (WHATWG takes UTF-8 then).
  return name?.startsWith('utf-16') ? 'utf-8' : name;
}
