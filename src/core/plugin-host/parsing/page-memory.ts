import { BlockTable } from '../../../page/block-table.ts';
import { Tape } from '../../../page/tape/tape.ts';

/** Of tapes one is for the page as it came, the other for its DOM once a plugin has asked for that. */
const KEPT = 2;

/** What a thread reuses from page to page. Two pages never share a part of it. */
export class PageMemory {
  readonly tapes = new Pool(() => new Tape());
  readonly tables = new Pool(() => new BlockTable());
}

class Pool<Item> {
  private readonly free: Item[] = [];
  private readonly make: () => Item;

  constructor(make: () => Item) {
    this.make = make;
  }

  take(): Item {
    return this.free.pop() ?? this.make();
  }

  giveBack(item: Item): void {
    if (this.free.length < KEPT) this.free.push(item);
  }
}
