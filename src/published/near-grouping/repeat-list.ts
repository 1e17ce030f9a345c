/** Repeating pages and their leaders, by page number, in eight bytes each. */
export class RepeatList {
  size = 0;
  #entries = new BigUint64Array(1_024);

  /** @param number and leader below 2^30 */
  add(number: number, leader: number, distance: number): void {
    if (this.size === this.#entries.length) {
      const larger = new BigUint64Array(2 * this.size);
      larger.set(this.#entries);
      this.#entries = larger;
    }
    this.#entries[this.size++] = (BigInt(leader) << 32n) | BigInt(4 * number + distance);
  }

  /** In the order of their leaders. */
  sort(): void {
    this.#entries.subarray(0, this.size).sort();
  }

  leader(at: number): number {
    return Number(this.#entries[at]! >> 32n);
  }

  number(at: number): number {
    return this.#low(at) >>> 2;
  }

  distance(at: number): number {
    return this.#low(at) & 3;
  }

  #low(at: number): number {
    return Number(this.#entries[at]! & 0xffff_ffffn);
  }
}
