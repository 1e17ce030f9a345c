/** A binary heap over an array, for merging: the smallest item is the first. */
export class MergeHeap<Item> {
  readonly #items: Item[];
  readonly #isBefore: (a: Item, b: Item) => boolean;

  /** The heap owns the array. */
  constructor(items: Item[], isBefore: (a: Item, b: Item) => boolean) {
    this.#items = items;
    this.#isBefore = isBefore;
    for (let i = Math.floor(items.length / 2); i >= 0; i--) this.#sink(i);
  }

  get items(): readonly Item[] {
    return this.#items;
  }

  /** Restores the order after the first item has changed. */
  settle(): void {
    this.#sink(0);
  }

  /** Removes the first item. */
  drop(): void {
    const last = this.#items.pop();
    if (last === undefined || this.#items.length === 0) return;
    this.#items[0] = last;
    this.#sink(0);
  }

  #sink(from: number): void {
    const items = this.#items;
    for (let at = from; ; ) {
      let least = at;
      for (let child = 2 * at + 1; child <= 2 * at + 2 && child < items.length; child++) {
        if (this.#isBefore(items[child]!, items[least]!)) least = child;
      }
      if (least === at) return;
      [items[at], items[least]] = [items[least]!, items[at]!];
      at = least;
    }
  }
}
