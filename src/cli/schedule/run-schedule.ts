import type { CrawlProgress, CrawlSummary } from '../../crawler.ts';
import { unchangedVisits } from '../../domain/crawl/change/unchanged-visits.ts';
import type { Log } from '../log.ts';
import { lackOf } from '../render/text/failures-text.ts';
import type { Health, RunReport } from './health.ts';
import { SET_BACK_MS } from './sleep-until.ts';
import { missedStarts, type Timetable } from './timetable.ts';

export interface ScheduleDeps {
  readonly timetable: Timetable;
  /** From then on starts count, ms since the epoch. */
  readonly startedAt: number;
  readonly now: () => number;
  /** Resolves at `at`, or before where the clock was set back, or when the signal comes. */
  readonly sleepUntil: (at: number, signal: AbortSignal) => Promise<void>;
  /** 0 to 1, for the jitter. */
  readonly random: () => number;
  readonly jitterMs: number;
  readonly log: Log;
  /** Opens the state directory, crawls, closes it again: between runs it is free for other commands. */
  readonly crawl: (signal: AbortSignal, onProgress: (progress: CrawlProgress) => void) => Promise<CrawlSummary>;
  /** What no later run would mend: the configuration is wrong. It ends the schedule. */
  readonly isFatal: (error: unknown) => boolean;
  readonly onHealth: (health: Health) => Promise<void>;
  /** As often as a run makes progress: many times a second. */
  readonly onProgress: (health: Health) => void;
  readonly pid: number;
}

export type ScheduleEnd = { readonly stoppedIn: 'wait' | 'run'; readonly lastRun: RunReport | null };

/**
 * One run after the other, never two at once: a start that falls into a run that is still going is skipped and said. A
 * run that fails is reported, and the next one happens all the same. The signal ends a wait at once and a run after the
 * pages in flight.
 */
export async function runSchedule(deps: ScheduleDeps, signal: AbortSignal): Promise<ScheduleEnd> {
  const { timetable, now, log } = deps;
  let health = firstHealth(deps);
  const tell = async (change: Partial<Health>): Promise<void> => {
    health = { ...health, ...change, at: iso(now()) };
    await deps.onHealth(health);
  };
  let after = deps.startedAt - 1;
  for (;;) {
    const start = timetable.next(after);
    if (start === null) {
      log.info('the timetable has no further runs');
      await tell({ state: 'stopped', nextRunAt: null });
      return { stoppedIn: 'wait', lastRun: health.lastRun };
    }
    const at = start + Math.floor(deps.random() * deps.jitterMs);
    await tell({ state: 'waiting', nextRunAt: iso(at) });
    log.info('next run', { at: iso(at) });
    await deps.sleepUntil(at, signal);
    if (signal.aborted) {
      await tell({ state: 'stopped', nextRunAt: null });
      return { stoppedIn: 'wait', lastRun: health.lastRun };
    }
    if (at - now() > SET_BACK_MS) {
      after = now();
      log.warn('the clock was set back; the next run is found anew', { missed: iso(at), now: iso(after) });
      continue;
    }
    const run = { at: iso(now()), round: 0, urls: 0, done: 0 };
    const asleep = missedStarts(timetable, start, now());
    if (asleep > 0) log.warn('starts were skipped, since their time had passed', { skipped: asleep });
    await tell({ state: 'running', nextRunAt: null, run });
    const onProgress = ({ round, urls, done }: CrawlProgress): void => {
      health = { ...health, at: iso(now()), run: { at: run.at, round, urls, done } };
      deps.onProgress(health);
    };
    const { report, fault } = await oneRun(deps, signal, onProgress);
    const skipped = missedStarts(timetable, start, now());
    const during = skipped - asleep;
    if (during > 0) log.warn('starts were skipped, since the run was still going', { skipped: during });
    log[report.ok ? 'info' : 'error']('run done', { ...report });
    await tell({
      state: fault === undefined ? 'waiting' : 'stopped',
      run: null,
      runs: health.runs + 1,
      failedRuns: health.failedRuns + (report.ok ? 0 : 1),
      skippedStarts: health.skippedStarts + skipped,
      lastRun: report,
    });
    if (fault !== undefined) throw fault;
    if (signal.aborted) {
      await tell({ state: 'stopped' });
      return { stoppedIn: 'run', lastRun: report };
    }
    // A clock that is corrected a little must not give the same start twice.
    after = start - now() > SET_BACK_MS ? now() : Math.max(start, now());
  }
}

/** Never rejects: `fault` is what no later run would mend. */
async function oneRun(
  deps: ScheduleDeps,
  signal: AbortSignal,
  onProgress: (progress: CrawlProgress) => void,
): Promise<{ report: RunReport; fault?: unknown }> {
  const startedAt = deps.now();
  // Of its own, so that nothing of a run stays with the signal of a process that lives for a year.
  const own = new AbortController();
  const stop = (): void => own.abort(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  try {
    const summary = await deps.crawl(own.signal, onProgress);
    for (const failure of summary.totals.failures) deps.log.info(lackOf(failure.code), { ...failure });
    return { report: reportOf(summary, startedAt, deps.now()) };
  } catch (error) {
    const nothing = { rounds: 0, requests: 0, new: 0, modified: 0, unchanged: 0, gone: 0, failed: 0, bodyBytes: 0 };
    const message = error instanceof Error ? error.message : String(error);
    const times = { at: iso(startedAt), ms: deps.now() - startedAt };
    const report = { ...times, ok: false, stoppedBy: null, error: message, ...nothing };
    return deps.isFatal(error) ? { report, fault: error } : { report };
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** Before the first run. */
export function firstHealth({
  pid,
  timetable,
  startedAt,
}: Pick<ScheduleDeps, 'pid' | 'timetable' | 'startedAt'>): Health {
  return {
    pid,
    state: 'waiting',
    at: iso(startedAt),
    startedAt: iso(startedAt),
    timetable: timetable.text,
    runs: 0,
    failedRuns: 0,
    skippedStarts: 0,
    nextRunAt: null,
    run: null,
    lastRun: null,
  };
}

export function reportOf({ totals, rounds, stoppedBy }: CrawlSummary, startedAt: number, endedAt: number): RunReport {
  return {
    at: iso(startedAt),
    ms: endedAt - startedAt,
    ok: stoppedBy !== 'failure-limit' && stoppedBy !== 'disk-full',
    stoppedBy,
    error: null,
    rounds: rounds.length,
    requests: totals.requests,
    new: rounds.reduce((sum, round) => sum + round.new, 0),
    modified: totals.modified,
    unchanged: unchangedVisits(totals),
    gone: totals.gone,
    failed: totals.failed,
    bodyBytes: totals.bodyBytes,
  };
}

const iso = (at: number): string => new Date(at).toISOString();
