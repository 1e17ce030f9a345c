/** Summaries of the steps, as they appear under `--json` (a fixed contract). */

import type { Rejections } from '../domain/crawl/discovery/link-rules.ts';
import type { FailureKind, LayerSummary, RoundHosts } from './counters/round-counts.ts';

/** Counters of the reasons for which generate skips a due URL. */
export interface GenerateRejections {
  urlFilter: number;
  where: number;
  status: number;
  depth: number;
  minScore: number;
  minInterval: number;
  hostWaits: number;
  hostDay: number;
  hostCap: number;
  domainCap: number;
  topN: number;
}

export const NO_REJECTIONS: Readonly<GenerateRejections> = Object.freeze({
  urlFilter: 0,
  where: 0,
  status: 0,
  depth: 0,
  minScore: 0,
  minInterval: 0,
  hostWaits: 0,
  hostDay: 0,
  hostCap: 0,
  domainCap: 0,
  topN: 0,
});

export interface InjectSummary {
  /** Lines that named a URL. */
  readonly urls: number;
  readonly injected: number;
  readonly updated: number;
  readonly overwritten: number;
  readonly kept: number;
  readonly filtered: number;
  /** Lines that were refused, by the reason: `urlfilter-traps: path repeats itself`. */
  readonly filteredBy: Rejections;
  readonly errors: readonly SeedError[];
  /** Of a spread crawl: partitions that they were sent to, whose holders tell the new ones from the others. */
  readonly partitions?: number;
}

/** What became of the seeds that a crawl was given. */
export interface SeedsSummary {
  /** Lines that named a URL. */
  readonly urls: number;
  /** Lines that did not, or that a URL plugin refused. */
  readonly refused: number;
  /** Seeds that were fetched, in this run or before. */
  readonly fetched: number;
  /** Seeds that were never fetched, and whose last visit failed or was refused. */
  readonly failed: number;
  /** Seeds that were not visited so far. */
  readonly waiting: number;
  /** New seeds beyond those that a run keeps in mind: they are in none of the three numbers before. */
  readonly unchecked: number;
  /** Why seeds failed, most frequent reason first. */
  readonly failures: readonly FailureKind[];
}

export interface SeedError {
  readonly source: string;
  /** From 1. */
  readonly line: number;
  readonly text: string;
  readonly message: string;
}

/**
 * Hosts with due URLs that must not be requested yet: their Crawl-delay is long, they asked for a pause, or they have
 * had their visits of the day.
 */
export interface WaitingHosts {
  readonly hosts: number;
  /** Due URLs of them all. */
  readonly urls: number;
  /** Those whose turn comes first, a few. */
  readonly next: readonly WaitingHost[];
}

export interface WaitingHost {
  readonly host: string;
  /** Earliest time of its next request, ISO 8601. */
  readonly notBefore: string;
  readonly urls: number;
  /** `hosts[0].fetchesPerDay: 50 of 50 asked today`; absent: by its own delay or pause. */
  readonly reason?: string;
}

/** When a page is due that is not yet. */
export interface NextDue {
  /** ISO 8601. */
  readonly at: string;
  /** Known URLs that fall due until the end of that day, UTC. */
  readonly urls: number;
}

export interface GenerateSummary {
  /** `null`: nothing was due, or a dry run. */
  readonly segment: string | null;
  readonly due: number;
  readonly selected: number;
  readonly hosts: number;
  readonly rejected: GenerateRejections;
  /** Fetches that the budget allowed the round, where there is one. */
  readonly budget?: number;
  /** In a dry run: the URLs in the order of the fetch list. */
  readonly urls?: readonly string[];
  /** Absent: none waits. */
  readonly waiting?: WaitingHosts;
  /** Where nothing was selected; absent: nothing will be due, either. */
  readonly next?: NextDue;
  /** Of a segment that was made from a list; `due` then counts the URLs of the list. */
  readonly list?: {
    /** Lines that named a URL that was let in, repetitions included. */
    readonly urls: number;
    /** URLs left out since another segment has them. */
    readonly underWay: number;
    /** URLs that the filters refused, by the reason. */
    readonly filteredBy: Rejections;
    readonly errors: readonly SeedError[];
  };
}

export interface FetchSummary {
  readonly segment: string;
  /** URLs of the fetch list that this run visited, or refused to visit. */
  readonly attempted: number;
  /** Answers with a body that is new or differs. */
  readonly fetched: number;
  /** 304 answers. */
  readonly notModified: number;
  /** Content-Length and Last-Modified as stored; the body was not transferred. */
  readonly skippedByHeaders: number;
  /** Body transferred, with the digest of the stored one. */
  readonly unchanged: number;
  readonly gone: number;
  readonly redirected: number;
  /** Targets of redirects that joined the list in this run, to be fetched in the same round. */
  readonly followed: number;
  readonly failed: number;
  /** Of those fetched: bodies cut off in transfer at several visits, so that they were taken as they were. */
  readonly partial: number;
  readonly robotsDenied: number;
  readonly requests: number;
  readonly bytesReceived: number;
  readonly bodyBytes: number;
  /** Visits that failed or were refused, by the reason, most frequent first. */
  readonly failures: readonly FailureKind[];
  /** URLs of the list that were not visited (stop signal, time limit, paused hosts). */
  readonly left: number;
}

export interface ParseSummary {
  readonly segment: string;
  readonly parsed: number;
  readonly failed: number;
  readonly outlinks: number;
}

export interface UpdateSummary {
  readonly segment: string;
  readonly applied: number;
  /** Pages seen for the first time. */
  readonly new: number;
  readonly modified: number;
  /** Mean Hamming distance of the modified pages, bits; `null` without any. */
  readonly meanDistance: number | null;
  readonly unchanged: number;
  readonly gone: number;
  readonly redirected: number;
  readonly failed: number;
  readonly outlinks: number;
  readonly newUrls: number;
  readonly filteredUrls: number;
  /** The same, by the reason. */
  readonly filteredBy: Rejections;
  /** New URLs that entered with a lower score, by the reason. */
  readonly demotedBy: Rejections;
  readonly purged: number;
  /** Pages that repeat another and did not before; pages that did and represent themselves again. */
  readonly duplicates: number;
  readonly restored: number;
  readonly orphans: number;
  readonly released: number;
  /** `true`: a signal came before the whole segment was applied, and the next run goes on; absent otherwise. */
  readonly isCutShort?: true;
  /** Pages that could not be parsed, by the reason, most frequent first. */
  readonly failures: readonly FailureKind[];
  /** The same by distance from the seeds. */
  readonly layers: readonly LayerSummary[];
  /** The busiest and the failing hosts. */
  readonly hosts: RoundHosts;
  /** As in `CrawlSummary`; absent in the rounds of a crawl. */
  readonly readmitted?: ReadmitSummary;
}

/** The links of the stored pages, judged again by the URL rules in force, without a request. */
export interface ReadmitSummary {
  readonly pages: number;
  readonly outlinks: number;
  readonly filteredUrls: number;
  readonly newUrls: number;
  readonly filteredBy: Rejections;
  readonly demotedBy: Rejections;
  /** Whether a signal came before all pages were judged; the next run starts again. */
  readonly isCutShort: boolean;
}

export type StoppedBy =
  | 'nothing-due'
  | 'hosts-waiting'
  | 'rounds'
  /** `stopAfterRound`. */
  | 'asked'
  | 'signal'
  | 'failure-limit'
  | 'disk-full';

/** Given to the live view several times a second. */
export interface CrawlProgress {
  readonly round: number;
  readonly stage: 'resume' | 'generate' | 'fetch' | 'update';
  readonly segment: string | null;
  /** URLs in the fetch list, and those done. */
  readonly urls: number;
  readonly done: number;
  readonly inFlight: number;
  readonly waiting: number;
  readonly parsing: number;
  readonly pagesPerSecond: number;
  readonly bytesReceived: number;
  /** Body bytes that were not transferred because the page had not changed. */
  readonly bytesSaved: number;
  readonly busiest: readonly { readonly host: string; readonly waiting: number; readonly running: number }[];
}
