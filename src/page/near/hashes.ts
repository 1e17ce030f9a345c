const C1 = 0xcc9e2d51;
const C2 = 0x1b873593;
const encoder = new TextEncoder();

/**
 * MurmurHash3_x86_32 (Austin Appleby, public domain) of the UTF-8 bytes of a text, an unsigned 32-bit number. Fast and
 * well distributed, not safe against an adversary. Stored data depends on it: it never changes.
 */
export function murmur3(text: string, seed = 0): number {
  return murmur3Bytes(encoder.encode(text), seed);
}

/** {@link murmur3} of bytes. */
export function murmur3Bytes(bytes: Uint8Array, seed = 0): number {
  const { length } = bytes;
  const tail = length & ~3;
  let h = seed;
  for (let i = 0; i < tail; i += 4) {
    const word = bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16) | (bytes[i + 3]! << 24);
    h ^= mixedWord(word);
    h = (Math.imul((h << 13) | (h >>> 19), 5) + 0xe6546b64) | 0;
  }
  if (tail < length) {
    let word = 0;
    for (let i = length - 1; i >= tail; i--) word = (word << 8) | bytes[i]!;
    h ^= mixedWord(word);
  }
  h ^= length;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

function mixedWord(word: number): number {
  const k = Math.imul(word, C1);
  return Math.imul((k << 15) | (k >>> 17), C2);
}

/**
 * Rabin fingerprints of 64 bits: the bytes as a polynomial over GF(2), modulo an irreducible polynomial of degree 64
 * (M. O. Rabin 1981; A. Z. Broder 1993). Constant and byte order are those of Apache Avro's `CRC-64-AVRO`, whose
 * non-zero start value distinguishes inputs that differ in leading zero bytes only.
 *
 * JavaScript has no fast 64-bit integer, so a fingerprint is a pair of 32-bit lanes, `high` and `low`.
 */

/** The fingerprint of no bytes, and the reflected polynomial. */
export const RABIN_EMPTY_HIGH = 0xc15d213a | 0;
export const RABIN_EMPTY_LOW = 0xa4d7a795 | 0;

/**
 * What the byte shifted out adds, per lane. One step is `index = (low ^ byte) & 255`, then both lanes shift right by 8.
 */
export const RABIN_HIGH = new Int32Array(256);
export const RABIN_LOW = new Int32Array(256);

for (let byte = 0; byte < 256; byte++) {
  let high = 0;
  let low = byte;
  for (let bit = 0; bit < 8; bit++) {
    const carry = -(low & 1);
    low = ((low >>> 1) | (high << 31)) ^ (RABIN_EMPTY_LOW & carry);
    high = (high >>> 1) ^ (RABIN_EMPTY_HIGH & carry);
  }
  RABIN_HIGH[byte] = high;
  RABIN_LOW[byte] = low;
}

/** The fingerprint of some bytes, as 16 hex digits. */
export function rabinFingerprint(bytes: Uint8Array): string {
  let high = RABIN_EMPTY_HIGH;
  let low = RABIN_EMPTY_LOW;
  for (const byte of bytes) {
    const index = (low ^ byte) & 255;
    low = ((low >>> 8) | (high << 24)) ^ RABIN_LOW[index]!;
    high = (high >>> 8) ^ RABIN_HIGH[index]!;
  }
  return hexOfLanes(high, low);
}

/** Two 32-bit lanes as 16 hex digits. */
export function hexOfLanes(high: number, low: number): string {
  return (high >>> 0).toString(16).padStart(8, '0') + (low >>> 0).toString(16).padStart(8, '0');
}
