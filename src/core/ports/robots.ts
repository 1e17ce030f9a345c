import type { UnreachedCode } from '../domain/errors.ts';
import type { FetchProtocol } from './fetch-protocol.ts';

/** Why robots.txt was not requested: its origin could not be reached, or must not be. */
export type NotRequestedCode = UnreachedCode | 'address-blocked';

/** robots.txt per RFC 9309, cached per origin for at most a day. */
export interface Robots {
  /**
   * Whether this URL may be fetched. Fetches robots.txt of its origin when the cached copy is missing or too old;
   * concurrent calls for one origin share one fetch. Never rejects because of a server: that gives a verdict.
   *
   * @param nextTurn waits for the host's next turn, for a robots.txt that redirects within the host; its rejection ends
   *   the call
   */
  verdict(url: string, nextTurn?: () => Promise<void>): Promise<RobotsVerdict>;
  /** The verdict where it needs no request; otherwise `undefined`. */
  cachedVerdict(url: string): RobotsVerdict | undefined;
  /** Requests sent and bytes received so far, for the counters of a round. */
  stats(): { requests: number; receivedBytes: number };
}

/** The rules of a process; each user of them may have its own way to send requests. */
export interface SharedRobots extends Robots {
  /**
   * The same rules, copies and counters, for a user whose requests go through what `wrap` makes of the protocol. Its
   * calls share no fetch with those of other users.
   */
  through(wrap: (protocol: FetchProtocol) => FetchProtocol): SharedRobots;
}

export interface RobotsVerdict {
  readonly allowed: boolean;
  /**
   * `robots-unreachable`: 5xx or timeout, all is denied for now. A {@link NotRequestedCode}: this verdict holds for
   * this attempt only. `null` when allowed.
   */
  readonly code: 'robots-denied' | 'robots-unreachable' | 'crawl-delay-too-long' | NotRequestedCode | null;
  /**
   * Why the last fetch of robots.txt failed: `status 503`, `fetch-timeout: ...`; the message alone where `code` is a
   * {@link NotRequestedCode}; `null` where it succeeded.
   */
  readonly fault: string | null;
  /** The deciding rule as written, with its line: `{line: 7, text: 'Disallow: /private'}`. */
  readonly rule: { readonly line: number; readonly text: string } | null;
  /** Crawl-delay for our agent, ms, bounded to a sane value; `null` without one. */
  readonly crawlDelayMs: number | null;
  readonly sitemaps: readonly string[];
  /** Status of the response to robots.txt; `null` without one. */
  readonly status: number | null;
  readonly fetchedAt: number;
  /**
   * End of the pause that the host asked for as robots.txt was fetched (429 or 503 with Retry-After), ms since the
   * epoch; absent without one.
   */
  readonly restUntil?: number;
}

/** Persistent copies of robots.txt. A lost copy costs one request. */
export interface RobotsStore {
  load(origin: string): Promise<StoredRobots | undefined>;
  save(origin: string, entry: StoredRobots): Promise<void>;
}

export interface StoredRobots {
  /** Decoded text, cut at 500 KiB. Empty for a 4xx. */
  readonly text: string;
  readonly status: number | null;
  readonly fetchedAt: number;
  /** Time of the last usable response (2xx, 4xx); after a 5xx that copy stays in use for a while. */
  readonly usableAt: number | null;
  /** As {@link RobotsVerdict.fault}; absent after a usable response. */
  readonly fault?: string;
  /** As {@link RobotsVerdict.restUntil}. */
  readonly restUntil?: number;
}
