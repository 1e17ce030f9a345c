/** Numbers in [0, 1) by xorshift (Marsaglia 2003); the same for the same seed. */
export function randomOf(seed: number): () => number {
  let state = (seed | 0) === 0 ? 1 : seed | 0;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}

/** 32 bits of a text, to seed what follows from it. */
export function hashOf(text: string): number {
  let value = 0;
  for (const char of text) value = (Math.imul(value, 31) + char.charCodeAt(0)) >>> 0;
  return value;
}

/** Bits of a number, spread over 32 (the end of MurmurHash3), so that numbers in a row seed unlike sequences. */
export function mixed(number: number): number {
  let value = number | 0;
  value = Math.imul(value ^ (value >>> 16), 0x85eb_ca6b);
  value = Math.imul(value ^ (value >>> 13), 0xc2b2_ae35);
  return (value ^ (value >>> 16)) >>> 0;
}
