/** Number of 1 bits of a 32-bit word. */
export function setBits(value: number): number {
  let v = value - ((value >>> 1) & 0x55555555);
  v = (v & 0x33333333) + ((v >>> 2) & 0x33333333);
  return Math.imul((v + (v >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** Bits in which two 64-bit signatures (16 hex digits each) differ, 0..64. */
export function hammingDistance(a: string, b: string): number {
  const high = Number.parseInt(a.slice(0, 8), 16) ^ Number.parseInt(b.slice(0, 8), 16);
  const low = Number.parseInt(a.slice(8, 16), 16) ^ Number.parseInt(b.slice(8, 16), 16);
  return setBits(high) + setBits(low);
}
