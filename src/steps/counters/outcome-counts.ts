import type { FetchOutcome } from '../../domain/crawl/states/outcome.ts';
import { isPartial } from '../../domain/crawl/states/truncation.ts';
import type { FetchSummary } from '../summaries.ts';
import { addFailure, type FailureKind, failureOf } from './failures.ts';

export type OutcomeCounts = {
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
