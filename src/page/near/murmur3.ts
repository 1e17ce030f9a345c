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
