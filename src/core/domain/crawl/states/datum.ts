/** The crawl datum: all that the crawl db knows of one URL. */

import type { StatedFacts } from '../../../../page/metadata/page-metadata.ts';
import type { BlockMemory } from '../change/block-memory.ts';
import type { ChangeBelief } from '../change/change-belief.ts';
import type { RenderedCopy } from '../rendering/render-trials.ts';
import type { Truncation } from './truncation.ts';

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
 * State of the last *good* visit. A page that fails temporarily keeps its state; `failures`, `lastError` and
 * `httpStatus` describe the failure.
 */
export type CrawlState = (typeof CRAWL_STATES)[number];

/** Outcome of one visit, as kept in the ring of visits. */
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
  /** As `changeDistance`, 0..64; `null` without signatures to compare. */
  readonly distance: number | null;
  /** Time since the previous visit, ms; `null` on the first. */
  readonly elapsedMs: number | null;
  /** Body bytes received, as transferred. */
  readonly bytes: number;
  /**
   * Revisit interval after this visit, ms. With the interval of the previous visit, the arithmetic of the schedule can
   * be replayed.
   */
  readonly intervalMs: number;
}

/** Whether the server answered a visit, be it by a redirect or "gone". */
export const isAnswered = ({ outcome }: Visit): boolean => outcome !== 'failed' && outcome !== 'denied';

/**
 * What has set the time of the next visit: `due touch`, `due retry`, a date in a sitemap or feed, a seed, or the
 * schedule after the last visit, the pauses after failures among it. Numbers on disk are their places: append only.
 */
export const DUE_CAUSES = ['touch', 'retry', 'sitemap', 'seed', 'schedule'] as const;
export type DueCause = (typeof DUE_CAUSES)[number];

/** Visits that a record keeps; older ones are dropped. */
export const VISIT_RING_SIZE = 16;

/** Validators and header fields of the last full response, compared by the ladder of change. */
export interface Validators {
  readonly etag: string | null;
  /** `Last-Modified` verbatim, as it is sent back. */
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

/**
 * Memory of the fetch schedule for a page. It survives a change of schedule: each one reads the fields that it knows.
 */
export interface ScheduleMemory {
  /** Current revisit interval, ms. */
  readonly intervalMs: number;
  /** Estimate of the change rate; `null` before a schedule with a belief has seen a visit. */
  readonly belief: ChangeBelief | null;
}

export type MetadataValue = string | number | boolean;

export interface CrawlDatum {
  /** Canonical URL; also the identity of the record. */
  readonly url: string;
  readonly state: CrawlState;
  readonly discoveredAt: number;
  /** Page with the first link to it; `null` for a seed. */
  readonly referrer: string | null;
  /** Number of links from a seed on the path by which it was found; 0 for a seed. */
  readonly depth: number;
  /** True for an injected URL: a seed is never an orphan. */
  readonly seed: boolean;
  readonly score: number;
  /** Last answered visit, redirects and "gone" included, ms since the epoch. Failures are in `lastError`. */
  readonly lastFetchAt: number | null;
  /** Time when the page is due, ms since the epoch; `null`: not selected any more. */
  readonly nextFetchAt: number | null;
  /** What has set `nextFetchAt`; `null`: a link to it, or not known. */
  readonly dueBy: DueCause | null;
  /** Time of the last visit that found the page changed (or new). */
  readonly changedAt: number | null;
  readonly schedule: ScheduleMemory;
  /** Fixed interval of the operator, ms; overrides every schedule. */
  readonly fixedIntervalMs: number | null;
  /** Failed visits in a row. */
  readonly failures: number;
  readonly lastError: LastError | null;
  readonly httpStatus: number | null;
  readonly contentType: string | null;
  /** `X-Robots-Tag` of the last full answer, as in {@link HeaderClaims}. */
  readonly robotsTag: string | null;
  readonly validators: Validators;
  /** First 128 bits of the SHA-256 of the decoded body, 32 hex digits; of a rendered page, of what it shows. */
  readonly digest: string | null;
  /** Why the stored copy is not the whole page; `null`: it is, or no reason is known. */
  readonly truncated: Truncation | null;
  /** 64-bit signature by which pages are compared with each other, 16 hex digits; `null` for a page without text. */
  readonly signature: string | null;
  /** 64-bit signature by which the visits of a page are compared; `null`: `signature` serves for that, too. */
  readonly changeSignature: string | null;
  /**
   * 32-bit digest of the text that `changeSignature` is made from, 8 hex digits: what differs in it is a change, even
   * if no bit of the signature moves. `null`: none, as from signatures without one.
   */
  readonly changeDigest: string | null;
  /**
   * Sketch of the text, 70 hex digits, by which pages with near signatures are compared; `null` for a page that counts
   * as no copy (a list of links, no text).
   */
  readonly sketch: string | null;
  /** Name and version of the signature algorithm: signatures compare only under the same name. */
  readonly signatureName: string | null;
  readonly title: string | null;
  /** Length of the content text, characters; `null` for a page that was not parsed. */
  readonly textChars: number | null;
  /** Authors, times and language that the page states; `null` as for `textChars`, and where it states none. */
  readonly stated: StatedFacts | null;
  /** Fingerprints of its blocks and how often each changes; `null` for a page that was not parsed. */
  readonly blocks: BlockMemory | null;
  /** What the rendered copy was made from; `null`: the stored copy is the static page. */
  readonly rendered: RenderedCopy | null;
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

/** A record for a URL that was never visited; due at once. */
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
    dueBy: init.seed ? 'seed' : null,
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
    truncated: null,
    signature: null,
    changeSignature: null,
    changeDigest: null,
    sketch: null,
    signatureName: null,
    title: null,
    textChars: null,
    stated: null,
    blocks: null,
    rendered: null,
    target: null,
    visits: [],
    metadata: init.metadata ?? {},
  };
}
