import { loginsMet } from '../core/domain/crawl/states/outcome.ts';
import type { CrawlSummary } from '../crawler/index.ts';

/** Exit codes. Scripts rely on them, so they are never renumbered. */
export const EXIT = {
  done: 0,
  error: 1,
  usage: 2,
  diskFull: 3,
  nothingDue: 4,
  locked: 5,
  stopped: 11,
  failureLimit: 12,
  forced: 13,
} as const;

const EXIT_BY_ERROR: ReadonlyMap<string, number> = new Map([
  ['config-invalid', EXIT.usage],
  ['usage-invalid', EXIT.usage],
  ['contact-missing', EXIT.usage],
  ['crawl-missing', EXIT.usage],
  ['plugin-broken', EXIT.usage],
  ['package-missing', EXIT.usage],
  ['disk-full', EXIT.diskFull],
  ['ENOSPC', EXIT.diskFull],
  ['EDQUOT', EXIT.diskFull],
  ['db-locked', EXIT.locked],
  ['failure-limit', EXIT.failureLimit],
]);

/** An error that is not a defect of the program: its message is for people, and needs no stack. */
export interface ForeseenError extends Error {
  readonly code: string;
}

/**
 * A `CrawlError` (recognised by shape, not by class: errors also come from worker threads and plugins), or an error of
 * a system call.
 */
export function isForeseen(error: unknown): error is ForeseenError {
  if (!(error instanceof Error) || !('code' in error)) return false;
  return error.name === 'CrawlError' ? error.code !== 'internal' : 'syscall' in error;
}

export function exitCodeOf(error: unknown): number {
  return isForeseen(error) ? exitCodeOfCode(error.code) : EXIT.error;
}

export const exitCodeOfCode = (code: string): number => EXIT_BY_ERROR.get(code) ?? EXIT.error;

const EXIT_BY_STOP: ReadonlyMap<string, number> = new Map([
  ['signal', EXIT.stopped],
  ['failure-limit', EXIT.failureLimit],
  ['disk-full', EXIT.diskFull],
]);

/** Exit code of a crawl by the reason it ended. */
export function exitCodeOfStop(stoppedBy: string): number {
  return EXIT_BY_STOP.get(stoppedBy) ?? EXIT.done;
}

/** Exit code of a crawl by the reason it ended and by whether any visit found something. */
export function exitCodeOfCrawl({ stoppedBy, totals }: Pick<CrawlSummary, 'stoppedBy' | 'totals'>): number {
  const code = exitCodeOfStop(stoppedBy);
  return code === EXIT.done && (loginsMet(totals.failures) > 0 || isUnanswered(totals)) ? EXIT.error : code;
}

/** Whether all visits have failed. */
function isUnanswered(totals: CrawlSummary['totals']): boolean {
  const { fetched, notModified, skippedByHeaders, unchanged, gone, redirected, failed } = totals;
  return failed > 0 && fetched + notModified + skippedByHeaders + unchanged + gone + redirected === 0;
}
