// store/files/segments/: segments: fetch lists, outcomes and parse output, append-only and recoverable.

/** A set of positions, one bit each. */
export class BitSet {
  count = 0;
  private bits: Uint8Array;

  /** @param size number of positions expected; the set grows for positions beyond it */
  constructor(size: number) {
    this.bits = new Uint8Array((size + 7) >> 3);
  }

  has(index: number): boolean {
    return (((this.bits[index >> 3] ?? 0) >> (index & 7)) & 1) === 1;
  }

  add(index: number): void {
    if (this.has(index)) return;
    if (index >> 3 >= this.bits.length) {
      const grown = new Uint8Array(Math.max(64, 2 * this.bits.length, (index >> 3) + 1));
      grown.set(this.bits);
      this.bits = grown;
    }
    this.bits[index >> 3] = (this.bits[index >> 3] ?? 0) | (1 << (index & 7));
    this.count++;
  }

  clear(): void {
    this.bits.fill(0);
    this.count = 0;
  }
}
