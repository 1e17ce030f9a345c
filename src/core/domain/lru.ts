import { ownText } from '../../page/text/cut-text.ts';

export interface LruLimits {
  /** Most entries. */
  readonly entries: number;
  /** Most weight of all entries together; default: no limit. */
  readonly weight?: number;
}

interface Entry<Value> {
  readonly key: string;
  value: Value;
  weight: number;
  older: Entry<Value>;
  newer: Entry<Value>;
}

/**
 * A bounded map: entries that are beyond its limits leave, the least recently used first. The newest entry stays, even
 * if it alone is too heavy.
 *
 * Entries lie in a ring, so that a use moves two links and an eviction is one step. In the order of a `Map` a use would
 * cost a deletion and an insertion, and the oldest key would be found behind the gaps of all deleted ones.
 */
export class Lru<Value> {
  readonly #maxEntries: number;
  readonly #maxWeight: number;
  readonly #entries = new Map<string, Entry<Value>>();
  /** The head: `newer` is the oldest entry, `older` the newest. */
  readonly #ring: Entry<Value>;
  #weight = 0;

  constructor({ entries, weight = Number.POSITIVE_INFINITY }: LruLimits) {
    this.#maxEntries = entries;
    this.#maxWeight = weight;
    const head = { key: '', weight: 0 } as Entry<Value>;
    head.older = head;
    head.newer = head;
    this.#ring = head;
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Counts as a use. */
  get(key: string): Value | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#renew(entry);
    return entry.value;
  }

  /** Counts as a use. The key is kept as a text of its own; see {@link ownText}. */
  set(key: string, value: Value, weight = 1): void {
    const known = this.#entries.get(key);
    if (known === undefined) {
      const own = ownText(key);
      const entry: Entry<Value> = { key: own, value, weight, older: this.#ring, newer: this.#ring };
      this.#entries.set(own, entry);
      link(this.#ring, entry);
    } else {
      this.#weight -= known.weight;
      known.value = value;
      known.weight = weight;
      this.#renew(known);
    }
    this.#weight += weight;
    while (this.#entries.size > 1 && (this.#entries.size > this.#maxEntries || this.#weight > this.#maxWeight)) {
      this.#remove(this.#ring.newer);
    }
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (entry !== undefined) this.#remove(entry);
  }

  #renew(entry: Entry<Value>): void {
    if (entry === this.#ring.older) return;
    unlink(entry);
    link(this.#ring, entry);
  }

  #remove(entry: Entry<Value>): void {
    this.#entries.delete(entry.key);
    this.#weight -= entry.weight;
    unlink(entry);
  }
}

/** As the newest. */
function link<Value>(head: Entry<Value>, entry: Entry<Value>): void {
  entry.older = head.older;
  entry.newer = head;
  head.older.newer = entry;
  head.older = entry;
}

function unlink<Value>({ older, newer }: Entry<Value>): void {
  older.newer = newer;
  newer.older = older;
}
