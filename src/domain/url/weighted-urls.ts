import { DEFAULT_HOT_URLS } from './hot-urls.ts';
import type { UrlCache } from './url-cache.ts';

/** How often a URL was met, and when last. */
export interface UrlAccess {
  readonly url: string;
  /** rep: 1 when it was met first. */
  readonly repetitions: number;
  readonly at: number;
}

/**
 * Weight of each entry of a cache list: rep + t with t = (t1 - min)/(max - min), t1 the time since the start, min and max over the list;
 * t = 1 where all times are equal. So the repetitions decide and the time of the last access breaks ties.
 * Source: CN106776768A, step S400; its formula is lost, this is the one that fits its words without a new parameter.
 */
export function urlWeights(entries: readonly UrlAccess[], startedAt: number): number[] {
  const times = entries.map(({ at }) => at - startedAt);
  const min = times.reduce((least, time) => Math.min(least, time), Number.POSITIVE_INFINITY);
  const max = times.reduce((most, time) => Math.max(most, time), Number.NEGATIVE_INFINITY);
  return entries.map(
    ({ repetitions }, i) => repetitions + (max === min ? 1 : ((times[i] as number) - min) / (max - min)),
  );
}

interface Entry {
  repetitions: number;
  at: number;
}

/**
 * Access list and cache list (CN106776768A, steps S401 to S403). A URL enters the access list, first in, first out; met again there, it
 * moves to the cache list, from which the lowest weight leaves. Since t is at most 1, the lowest weight is that of the oldest entry
 * among those with the fewest repetitions: entries lie in one queue per number of repetitions, and nothing is ever sorted.
 */
export class WeightedUrls implements UrlCache {
  readonly #accessSize: number;
  readonly #cacheSize: number;
  readonly #now: () => number;
  /** In the order in which they came. */
  readonly #access = new Map<string, Entry>();
  readonly #cached = new Map<string, Entry>();
  /** By repetitions, each in the order of the last access. */
  readonly #queues = new Map<number, Set<string>>();
  /** No queue is below. */
  #fewest = Number.POSITIVE_INFINITY;

  /**
   * @param capacity most URLs held, half of them in each list; 0 holds none
   * @param now any clock that does not run backwards; default: the number of accesses so far
   */
  constructor(capacity: number = DEFAULT_HOT_URLS, now?: () => number) {
    if (!Number.isInteger(capacity) || capacity < 0) {
      throw new TypeError(`capacity must be a whole number of URLs, 0 or more, got ${capacity}`);
    }
    this.#accessSize = Math.floor(capacity / 2);
    this.#cacheSize = this.#accessSize;
    let accesses = 0;
    this.#now = now ?? (() => accesses++);
  }

  get size(): number {
    return this.#access.size + this.#cached.size;
  }

  has(url: string): boolean {
    const waiting = this.#access.get(url);
    if (waiting !== undefined) {
      this.#access.delete(url);
      this.#enter(url, { repetitions: waiting.repetitions + 1, at: this.#now() });
      return true;
    }
    const entry = this.#cached.get(url);
    if (entry === undefined) return false;
    this.#unqueue(url, entry);
    entry.repetitions++;
    entry.at = this.#now();
    this.#enqueue(url, entry);
    return true;
  }

  add(url: string): void {
    if (this.#accessSize === 0 || this.has(url)) return;
    if (this.#access.size >= this.#accessSize) {
      for (const oldest of this.#access.keys()) {
        this.#access.delete(oldest);
        break;
      }
    }
    this.#access.set(url, { repetitions: 1, at: this.#now() });
  }

  remove(url: string): void {
    this.#access.delete(url);
    const entry = this.#cached.get(url);
    if (entry === undefined) return;
    this.#cached.delete(url);
    this.#unqueue(url, entry);
  }

  /** Both lists as they are, the cache list by falling weight. */
  lists(): { readonly access: readonly UrlAccess[]; readonly cache: readonly (UrlAccess & { weight: number })[] } {
    const shown = ([url, { repetitions, at }]: [string, Entry]): UrlAccess => ({ url, repetitions, at });
    const cache = [...this.#cached].map(shown);
    const weights = urlWeights(cache, 0);
    return {
      access: [...this.#access].map(shown),
      cache: cache.map((entry, i) => ({ ...entry, weight: weights[i] as number })).sort((a, b) => b.weight - a.weight),
    };
  }

  #enter(url: string, entry: Entry): void {
    if (this.#cached.size >= this.#cacheSize) this.#dropLightest();
    this.#cached.set(url, entry);
    this.#enqueue(url, entry);
  }

  #dropLightest(): void {
    let queue = this.#queues.get(this.#fewest);
    if (queue === undefined) {
      this.#fewest = Number.POSITIVE_INFINITY;
      for (const repetitions of this.#queues.keys()) this.#fewest = Math.min(this.#fewest, repetitions);
      queue = this.#queues.get(this.#fewest);
    }
    for (const lightest of queue ?? []) {
      this.remove(lightest);
      return;
    }
  }

  #enqueue(url: string, { repetitions }: Entry): void {
    const queue = this.#queues.get(repetitions);
    if (queue === undefined) this.#queues.set(repetitions, new Set([url]));
    else queue.add(url);
    if (repetitions < this.#fewest) this.#fewest = repetitions;
  }

  #unqueue(url: string, { repetitions }: Entry): void {
    const queue = this.#queues.get(repetitions);
    if (queue?.delete(url) && queue.size === 0) this.#queues.delete(repetitions);
  }
}
