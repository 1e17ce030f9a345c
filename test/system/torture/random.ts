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
