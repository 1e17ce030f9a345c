// core/domain/url/cache/: caches of URLs that were seen lately or often.

import { UrlBytes } from './url-bytes.ts';

/** Links from a seed that are told apart; all beyond count as that many. */
const MAX_DEPTH = 254;

/** The depths at which URLs were met last. */
export class DepthCache {
  /** Depth + 1. */
  readonly #depths: UrlBytes;

  /** @param bits as of {@link UrlBytes}; a link to a URL that was forgotten costs a read */
  constructor(bits?: number) {
    this.#depths = new UrlBytes(bits);
  }

  /** Whether the URL is known to lie within `depth` links of a seed. False where it is not known. */
  isWithin(url: string, depth: number): boolean {
    const known = this.#depths.get(url);
    return known > 0 && known - 1 <= depth;
  }

  /** The depth counts from now on, whether smaller or greater than the one before. */
  note(url: string, depth: number): void {
    this.#depths.set(url, Math.min(depth, MAX_DEPTH) + 1);
  }
}
