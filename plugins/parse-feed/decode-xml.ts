import { constants, gunzipSync } from 'node:zlib';
import { getBOMEncoding, normalizeEncoding, TextDecoder } from '@exodus/bytes/encoding.js';

export function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b;
}

export interface Gunzipped {
  readonly bytes: Uint8Array;
  /** Why this may not be the whole file; `null` for a sound one. */
  readonly fault: string | null;
}

/**
 * Decompresses a gzip file as far as it is sound: it may be cut off, damaged, or followed by other data. Throws a
 * `RangeError` (code `ERR_BUFFER_TOO_LARGE`) beyond `maxBytes`, an `Error` for data that is not gzip.
 */
export function gunzip(bytes: Uint8Array, maxBytes: number): Gunzipped {
  try {
    return { bytes: gunzipSync(bytes, { maxOutputLength: maxBytes }), fault: null };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'Z_BUF_ERROR' && code !== 'Z_DATA_ERROR') throw error;
    const sound = soundPart(bytes, maxBytes);
    if (sound.length === 0) throw error;
    const fault =
      code === 'Z_BUF_ERROR' ? 'the gzip file is cut off' : 'the gzip file is damaged, or has other data behind it';
    return { bytes: sound, fault };
  }
}

/** The text of the longest sound beginning. zlib drops all output at an error, so its place is found by bisection. */
function soundPart(bytes: Uint8Array, maxBytes: number): Uint8Array {
  const of = (length: number): Uint8Array | null => {
    try {
      const options = { maxOutputLength: maxBytes, finishFlush: constants.Z_SYNC_FLUSH };
      return gunzipSync(bytes.subarray(0, length), options);
    } catch {
      return null;
    }
  };
  let best = of(bytes.length);
  if (best !== null) return best;
  let unsound = bytes.length;
  for (let sound = 0; sound + 1 < unsound; ) {
    const middle = (sound + unsound) >> 1;
    const part = of(middle);
    if (part === null) unsound = middle;
    else {
      sound = middle;
      best = part;
    }
  }
  return best ?? new Uint8Array(0);
}

/**
 * Text of an XML or plain text file: decoded by its byte order mark, otherwise its XML declaration, otherwise as UTF-8.
 */
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
