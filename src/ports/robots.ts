/** robots.txt per RFC 9309, cached per origin for a day at most. */
export interface Robots {
  /**
   * May this URL be fetched? Fetches robots.txt of its origin when the cached copy is missing or too old; concurrent
   * calls for one origin share one fetch. Never rejects for what a server does: that is a verdict.
   *
   * @param nextTurn waits until the host may be asked once more, for a robots.txt that has moved within it; what it
   *   rejects with ends the call
   */
  verdict(url: string, nextTurn?: () => Promise<void>): Promise<RobotsVerdict>;
  /** The verdict if no request is needed for it, else `undefined`. */
  cachedVerdict(url: string): RobotsVerdict | undefined;
  /** Requests sent and bytes received so far, for the accounts of a round. */
  stats(): { requests: number; receivedBytes: number };
}

export interface RobotsVerdict {
  readonly allowed: boolean;
  /**
   * `robots-denied`, `robots-unreachable` (5xx, timeout: all denied for now), `crawl-delay-too-long`; `null` when
   * allowed.
   */
  readonly code: 'robots-denied' | 'robots-unreachable' | 'crawl-delay-too-long' | null;
  /** Why the newest try to get robots.txt told nothing: `status 503`, `dns-failed: ...`; `null` when it did. */
  readonly fault: string | null;
  /** The rule that decided, as written, with its line: `{line: 7, text: 'Disallow: /private'}`. */
  readonly rule: { readonly line: number; readonly text: string } | null;
  /** Crawl delay asked of us, ms, clamped to something sane; `null` when none. */
  readonly crawlDelayMs: number | null;
  readonly sitemaps: readonly string[];
  /** Status of the answer to robots.txt; `null` when there was none. */
  readonly status: number | null;
  readonly fetchedAt: number;
  /**
   * Until when the host asked to be left alone as robots.txt was asked for (429 or 503 with Retry-After), ms since the
   * epoch; absent where it did not.
   */
  readonly restUntil?: number;
}

/** Where robots.txt copies outlive the process. Losing them costs a request each, nothing else. */
export interface RobotsStore {
  load(origin: string): Promise<StoredRobots | undefined>;
  save(origin: string, entry: StoredRobots): Promise<void>;
}

export interface StoredRobots {
  /** Text after decoding, cut at 500 KiB. Empty for a 4xx. */
  readonly text: string;
  readonly status: number | null;
  readonly fetchedAt: number;
  /** Last time a usable answer (2xx, 4xx) came; a 5xx goes on using that copy for a while. */
  readonly usableAt: number | null;
  /** As {@link RobotsVerdict.fault}; absent where the newest answer was usable, and in copies of older versions. */
  readonly fault?: string;
  /** As {@link RobotsVerdict.restUntil}. */
  readonly restUntil?: number;
}
