// adapters/files/segments/: segments: fetch lists, outcomes and parse output, append-only and recoverable.
/** A set of positions below a fixed bound, one bit each. */
export class BitSet {
  count = 0;
  private readonly bits: Uint8Array;

  constructor(size: number) {
    this.bits = new Uint8Array((size + 7) >> 3);
  }

  has(index: number): boolean {
    return (((this.bits[index >> 3] ?? 0) >> (index & 7)) & 1) === 1;
  }

  add(index: number): void {
    if (this.has(index)) return;
    this.bits[index >> 3] = (this.bits[index >> 3] ?? 0) | (1 << (index & 7));
    this.count++;
  }

  clear(): void {
    this.bits.fill(0);
    this.count = 0;
  }
}
