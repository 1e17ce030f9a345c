import { ownText } from '../../own-text.ts';
import type { UrlCache } from './url-cache.ts';

/** About the common links of some thousand pages of a site; 10 to 15 MB. */
export const DEFAULT_HOT_URLS = 65_536;

/**
 * A bounded set of known URLs that keeps the recently used ones. Two generations: a hit in the old one moves the URL to
 * the young one. When the young one is full, it becomes the old one and the old one is dropped. That costs one or two
 * set operations a query and no list of ages. A URL that is absent may be known all the same.
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
