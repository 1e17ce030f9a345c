import { ownText } from '../../../../page/text/cut-text.ts';

/** About the common links of some thousand pages of a site; 10 to 15 MB. */
const DEFAULT_HOT_URLS = 65_536;

/**
 * A bounded set of known URLs that keeps the recently used ones. Two generations: a hit in the old one moves the URL to
 * the young one. When the young one is full, it replaces the old one. That costs one or two set operations a query and
 * no list of ages. A URL that is absent may be known all the same.
 */
export class HotUrls implements UrlCache {
  readonly #generationSize: number;
  #young = new Set<string>();
  #old = new Set<string>();

  /** @param capacity most URLs held; 0 holds none */
  constructor(capacity: number = DEFAULT_HOT_URLS) {
    if (!Number.isInteger(capacity) || capacity < 0) {
      throw new TypeError(`capacity must be a whole number of URLs, 0 or more, got ${capacity}`);
    }
    this.#generationSize = Math.floor(capacity / 2);
  }

  get size(): number {
    return this.#young.size + this.#old.size;
  }

  has(url: string): boolean {
    if (this.#young.has(url)) return true;
    if (!this.#old.has(url)) return false;
    this.add(url);
    return true;
  }

  add(url: string): void {
    if (this.#generationSize === 0) return;
    this.#old.delete(url);
    if (this.#young.has(url)) return;
    this.#young.add(ownText(url));
    if (this.#young.size >= this.#generationSize) {
      this.#old = this.#young;
      this.#young = new Set();
    }
  }

  remove(url: string): void {
    this.#young.delete(url);
    this.#old.delete(url);
  }
}

/** A bounded set of known URLs. A URL that is absent may be known all the same. */
export interface UrlCache {
  /** Counts as an access. */
  has(url: string): boolean;
  add(url: string): void;
  remove(url: string): void;
  readonly size: number;
}

/** Accesses of a URL: their number, and the time of the last one. */
interface UrlAccess {
  readonly url: string;
  /** rep: 1 at the first access. */
  readonly repetitions: number;
  readonly at: number;
}

/**
 * Weight of each entry of a cache list: rep + t with t = (t1 - min)/(max - min), t1 the time since the start, min and
 * max over the list; t = 1 where all times are equal. So repetitions decide, and the time of the last access breaks
 * ties. Source: CN106776768A, step S400; its formula is lost, this is the one that fits its words without another
 * parameter.
 */
export function urlWeights(entries: readonly UrlAccess[], startedAt: number): number[] {
  const times = entries.map(({ at }) => at - startedAt);
  const min = times.reduce((least, time) => Math.min(least, time), Number.POSITIVE_INFINITY);
  const max = times.reduce((most, time) => Math.max(most, time), Number.NEGATIVE_INFINITY);
  return entries.map(
    ({ repetitions }, i) => repetitions + (max === min ? 1 : ((times[i] as number) - min) / (max - min)),
  );
}

/** A link of a ring; the ring's head stands between its newest and its oldest. */
interface Link {
  before: Link;
  after: Link;
}

interface Entry extends Link {
  readonly url: string;
  repetitions: number;
  at: number;
  isCached: boolean;
}

/**
 * Access list and cache list (CN106776768A, steps S401 to S403). A URL enters the access list, first in, first out;
 * accessed again there, it moves to the cache list, which evicts the lowest weight. Since t is at most 1, that is the
 * oldest entry among those with the fewest repetitions: entries lie in one ring per number of repetitions, and nothing
 * is sorted. (Rings, because finding the oldest of a `Set` after many deletions walks over all deleted entries.)
 */
export class WeightedUrls implements UrlCache {
  readonly #listSize: number;
  readonly #now: () => number;
  readonly #entries = new Map<string, Entry>();
  readonly #access = emptyRing();
  #accessCount = 0;
  /** By repetitions, each in the order of the last access. */
  readonly #cached = new Map<number, Link>();
  /** The lowest number of repetitions with a ring. */
  #fewest = Number.POSITIVE_INFINITY;

  /**
   * @param capacity most URLs held, half of them in each list; 0 holds none
   * @param now any clock that does not run backwards; default: the number of accesses so far
   */
  constructor(capacity: number = DEFAULT_HOT_URLS, now?: () => number) {
    if (!Number.isInteger(capacity) || capacity < 0) {
      throw new TypeError(`capacity must be a whole number of URLs, 0 or more, got ${capacity}`);
    }
    this.#listSize = Math.floor(capacity / 2);
    let accesses = 0;
    this.#now = now ?? (() => accesses++);
  }

  get size(): number {
    return this.#entries.size;
  }

  has(url: string): boolean {
    const entry = this.#entries.get(url);
    if (entry === undefined) return false;
    this.#unlink(entry);
    if (!entry.isCached && this.#entries.size - 1 - this.#accessCount >= this.#listSize) this.#dropLightest();
    entry.isCached = true;
    entry.repetitions++;
    entry.at = this.#now();
    this.#cache(entry);
    return true;
  }

  add(text: string): void {
    if (this.#listSize === 0 || this.has(text)) return;
    const url = ownText(text);
    if (this.#accessCount >= this.#listSize) this.remove((this.#access.after as Entry).url);
    const at = this.#now();
    const entry: Entry = { url, repetitions: 1, at, isCached: false, before: this.#access, after: this.#access };
    this.#entries.set(url, entry);
    append(this.#access, entry);
    this.#accessCount++;
  }

  remove(url: string): void {
    const entry = this.#entries.get(url);
    if (entry === undefined) return;
    this.#entries.delete(url);
    this.#unlink(entry);
  }

  /** Both lists as they are, the cache list by falling weight. */
  lists(): { readonly access: readonly UrlAccess[]; readonly cache: readonly (UrlAccess & { weight: number })[] } {
    const shown = ({ url, repetitions, at }: Entry): UrlAccess => ({ url, repetitions, at });
    const entries = [...this.#entries.values()];
    const cache = entries.filter(({ isCached }) => isCached).map(shown);
    const weights = urlWeights(cache, 0);
    return {
      access: entries.filter(({ isCached }) => !isCached).map(shown),
      cache: cache.map((entry, i) => ({ ...entry, weight: weights[i] as number })).sort((a, b) => b.weight - a.weight),
    };
  }

  #cache(entry: Entry): void {
    let ring = this.#cached.get(entry.repetitions);
    if (ring === undefined) {
      ring = emptyRing();
      this.#cached.set(entry.repetitions, ring);
    }
    append(ring, entry);
    if (entry.repetitions < this.#fewest) this.#fewest = entry.repetitions;
  }

  #dropLightest(): void {
    if (!this.#cached.has(this.#fewest)) {
      this.#fewest = Number.POSITIVE_INFINITY;
      for (const repetitions of this.#cached.keys()) this.#fewest = Math.min(this.#fewest, repetitions);
    }
    const ring = this.#cached.get(this.#fewest);
    if (ring !== undefined) this.remove((ring.after as Entry).url);
  }

  #unlink(entry: Entry): void {
    const { before, after } = entry;
    before.after = after;
    after.before = before;
    if (!entry.isCached) this.#accessCount--;
    else if (before === after && before === this.#cached.get(entry.repetitions)) this.#cached.delete(entry.repetitions);
  }
}

function emptyRing(): Link {
  const head = {} as Link;
  head.before = head;
  head.after = head;
  return head;
}

/** As the newest. */
function append(head: Link, entry: Link): void {
  entry.before = head.before;
  entry.after = head;
  head.before.after = entry;
  head.before = entry;
}
