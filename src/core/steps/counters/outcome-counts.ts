// core/steps/counters/: counters of rounds, and notes of what was skipped.

import { ownText } from '../../../page/text/cut-text.ts';
import type { CrawlDatum } from '../../domain/crawl/states/datum.ts';
import type { FetchOutcome } from '../../domain/crawl/states/outcome.ts';
import { reasonOfCode, type SkipReason } from '../../domain/crawl/states/skip-reasons.ts';
import { isPartial } from '../../domain/crawl/states/truncation.ts';
import type { FetchSummary } from '../summaries.ts';
import { addFailure, type FailureKind, failureOf } from './round-counts.ts';

export interface SkipNote {
  readonly url: string;
  readonly reason: SkipReason;
  /** The plugin that decided; `null` where none did. */
  readonly by: string | null;
  readonly detail: string | null;
  /** The page with the link, or the one that redirects here. */
  readonly from: string | null;
}

/** Receives the URLs that a step skips. */
export interface SkipSink {
  note(note: SkipNote): void;
  /** Further cases of a reason, whose URLs were not read. */
  noteMore(reason: SkipReason, cases: number): void;
}

/** Bounds for texts of plugins and servers, characters. */
const MAX_DETAIL = 300;
const MAX_URL = 2_048;

/**
 * The URLs that a step skipped, in bounded memory: every case is counted by its reason, and the first URLs of each
 * reason are listed once.
 */
export class SkipNotes implements SkipSink {
  readonly counts: Partial<Record<SkipReason, number>> = {};
  readonly listed: SkipNote[] = [];
  /** Cases beyond the first {@link perReason} URLs of their reason. */
  cut = 0;
  readonly #perReason: number;
  readonly #urls = new Map<SkipReason, Set<string>>();

  constructor(perReason: number) {
    this.#perReason = perReason;
  }

  noteMore(reason: SkipReason, cases: number): void {
    if (cases === 0) return;
    this.counts[reason] = (this.counts[reason] ?? 0) + cases;
    this.cut += cases;
  }

  note(note: SkipNote): void {
    const { reason } = note;
    this.counts[reason] = (this.counts[reason] ?? 0) + 1;
    let urls = this.#urls.get(reason);
    if (urls === undefined) {
      urls = new Set();
      this.#urls.set(reason, urls);
    }
    const url = ownText(note.url.slice(0, MAX_URL));
    if (urls.has(url)) return;
    if (urls.size >= this.#perReason) {
      this.cut++;
      return;
    }
    urls.add(url);
    const detail = note.detail === null ? null : ownText(note.detail.slice(0, MAX_DETAIL));
    this.listed.push({ ...note, url, detail, from: note.from === null ? null : ownText(note.from) });
  }
}

export const NO_SKIP_SINK: SkipSink = Object.freeze({ note: () => {}, noteMore: () => {} });

/** Notes a visit that brought no page: a failure, a refusal, "gone", a page that could not be parsed. */
export function noteVisit(
  sink: SkipSink,
  { url, referrer, lastError, state }: CrawlDatum,
  httpStatus: number | null,
): void {
  const where = { url, by: null, from: referrer };
  if (lastError !== null) sink.note({ ...where, reason: reasonOfCode(lastError.code), detail: lastError.message });
  else if (state === 'gone')
    sink.note({ ...where, reason: 'gone', detail: httpStatus === null ? null : `status ${httpStatus}` });
}

type OutcomeCounts = {
  -readonly [Key in Exclude<keyof FetchSummary, 'segment' | 'left' | 'failures'>]: FetchSummary[Key];
} & { readonly failures: FailureKind[] };

export function noOutcomes(): OutcomeCounts {
  return {
    attempted: 0,
    fetched: 0,
    notModified: 0,
    skippedByHeaders: 0,
    unchanged: 0,
    gone: 0,
    redirected: 0,
    followed: 0,
    failed: 0,
    partial: 0,
    robotsDenied: 0,
    requests: 0,
    bytesReceived: 0,
    bodyBytes: 0,
    failures: [],
  };
}

export function countOutcome(counts: OutcomeCounts, url: string, outcome: FetchOutcome): void {
  counts.attempted++;
  counts.requests += outcome.requests;
  counts.bytesReceived += outcome.receivedBytes;
  counts.bodyBytes += outcome.bodyBytes;
  const failure = failureOf(url, outcome);
  if (failure !== null) addFailure(counts.failures, failure);
  switch (outcome.kind) {
    case 'success':
      counts.fetched++;
      if (isPartial(outcome.truncated)) counts.partial++;
      break;
    case 'unchanged':
      if (outcome.rung === 'conditional') counts.notModified++;
      else if (outcome.rung === 'headers') counts.skippedByHeaders++;
      else counts.unchanged++;
      break;
    case 'redirect':
      counts.redirected++;
      break;
    case 'gone':
      counts.gone++;
      break;
    case 'failed':
      counts.failed++;
      break;
    case 'denied':
      if (outcome.code.startsWith('robots') || outcome.code === 'crawl-delay-too-long') counts.robotsDenied++;
      else counts.failed++;
      break;
  }
}
