/** The crawl datum: all that the crawl db knows of one URL. */
import type { BlockMemory } from '../change/block-memory.ts';
import type { ChangeBelief } from '../change/change-belief.ts';

export const CRAWL_STATES = [
  'unfetched',
  'fetched',
  'notmodified',
  'redir_temp',
  'redir_perm',
  'gone',
  'duplicate',
  'orphan',
  'parse_failed',
] as const;

/**
 * State of the last *good* visit. A page that fails for now keeps it; `failures`, `lastError` and `httpStatus` say the
 * rest.
 */
export type CrawlState = (typeof CRAWL_STATES)[number];

/** What one visit found, as kept in the ring of visits. */
export const VISIT_OUTCOMES = [
  'new',
  'modified',
  'unchanged-304',
  'unchanged-headers',
  'unchanged-digest',
  'redirect',
  'gone',
  'failed',
  'denied',
  'parse-failed',
] as const;
export type VisitOutcome = (typeof VISIT_OUTCOMES)[number];

export interface Visit {
  /** Time of the visit, ms since the epoch. */
  readonly at: number;
  readonly outcome: VisitOutcome;
  /** Hamming distance to the signature before, bits; `null` when there was none to compare with. */
  readonly distance: number | null;
  /** Time since the visit before, ms; `null` on the first. */
  readonly elapsedMs: number | null;
  /** Body bytes received, as transferred. */
  readonly bytes: number;
  /**
   * The revisit interval after this visit, ms: with the one before it, the arithmetic of any visit can be told again.
   */
  readonly intervalMs: number;
}

/** How many visits a record keeps; older ones fall out. */
export const VISIT_RING_SIZE = 16;

/** The validators and header facts of the last full answer, compared by the ladder of change. */
export interface Validators {
  readonly etag: string | null;
  /** `Last-Modified` verbatim, so that it can be sent back as it came. */
  readonly lastModified: string | null;
  /** `Content-Length` as declared (the encoded size), bytes. */
  readonly contentLength: number | null;
}

export const NO_VALIDATORS: Validators = Object.freeze({ etag: null, lastModified: null, contentLength: null });

export interface LastError {
  readonly code: string;
  readonly message: string;
  readonly at: number;
}

/** What a fetch schedule remembers of a page. It survives a change of schedule: each reads the fields that it knows. */
export interface ScheduleMemory {
  /** Current revisit interval, ms. */
  readonly intervalMs: number;
  /** What is believed of the change rate; `null` until a schedule that keeps a belief has seen a visit. */
  readonly belief: ChangeBelief | null;
}

export type MetadataValue = string | number | boolean;

export interface CrawlDatum {
  /** Canonical URL; also the identity of the record. */
  readonly url: string;
  readonly state: CrawlState;
  readonly discoveredAt: number;
  /** The page on which the link was found first; `null` for a seed. */
  readonly referrer: string | null;
  /** Links from a seed on the way on which it was found; 0 for a seed. */
  readonly depth: number;
  /** True for an injected URL: a seed is never an orphan. */
  readonly seed: boolean;
  readonly score: number;
  /** Last visit that was answered, be it by a redirect or "gone", ms since the epoch. Failures are in `lastError`. */
  readonly lastFetchAt: number | null;
  /** When the page is due; `null`: never selected any more. */
  readonly nextFetchAt: number | null;
  /** When a visit last found the page changed (or first saw it). */
  readonly changedAt: number | null;
  readonly schedule: ScheduleMemory;
  /** Operator's fixed interval, ms; wins over every schedule. */
  readonly fixedIntervalMs: number | null;
  /** Failed visits in a row. */
  readonly failures: number;
  readonly lastError: LastError | null;
  readonly httpStatus: number | null;
  readonly contentType: string | null;
  /** `X-Robots-Tag` of the last full answer, as in {@link HeaderClaims}. */
  readonly robotsTag: string | null;
  readonly validators: Validators;
  /** First 128 bits of the SHA-256 of the decoded body, 32 hex digits. */
  readonly digest: string | null;
  /** 64-bit signature, 16 hex digits; `null` for a page without words. */
  readonly signature: string | null;
  /** Name and version of what made the signature: only equal names compare. */
  readonly signatureName: string | null;
  readonly title: string | null;
  /**
   * Length of the text that counts as the page's content, characters; `null` when it was not parsed (or by an older
   * version).
   */
  readonly textChars: number | null;
  /** What its blocks said, and which of them change; `null` for a page without blocks. */
  readonly blocks: BlockMemory | null;
  /** Target of the last redirect, or the representative of a duplicate. */
  readonly target: string | null;
  /** Newest last, at most {@link VISIT_RING_SIZE}. */
  readonly visits: readonly Visit[];
  readonly metadata: Readonly<Record<string, MetadataValue>>;
}

export interface NewDatum {
  readonly url: string;
  readonly now: number;
  readonly intervalMs: number;
  readonly referrer?: string | null;
  readonly depth?: number;
  readonly seed?: boolean;
  readonly score?: number;
  readonly fixedIntervalMs?: number | null;
  readonly metadata?: Readonly<Record<string, MetadataValue>>;
}

/** A record for a URL that was never visited, due at once. */
export function newDatum(init: NewDatum): CrawlDatum {
  return {
    url: init.url,
    state: 'unfetched',
    discoveredAt: init.now,
    referrer: init.referrer ?? null,
    depth: init.depth ?? 0,
    seed: init.seed ?? false,
    score: init.score ?? 1,
    lastFetchAt: null,
    nextFetchAt: init.now,
    changedAt: null,
    schedule: { intervalMs: init.fixedIntervalMs ?? init.intervalMs, belief: null },
    fixedIntervalMs: init.fixedIntervalMs ?? null,
    failures: 0,
    lastError: null,
    httpStatus: null,
    contentType: null,
    robotsTag: null,
    validators: NO_VALIDATORS,
    digest: null,
    signature: null,
    signatureName: null,
    title: null,
    textChars: null,
    blocks: null,
    target: null,
    visits: [],
    metadata: init.metadata ?? {},
  };
}
