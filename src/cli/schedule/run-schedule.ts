// cli/schedule/: crawls by the clock in one process.

import { Cron } from 'croner';
import { unchangedVisits } from '../../core/domain/crawl/change/change-belief.ts';
import type { CrawlProgress, CrawlSummary } from '../../crawler/index.ts';
import type { Health, HealthFile, RunReport } from '../../remote/schedule/health.ts';
import { SET_BACK_MS } from '../../remote/schedule/sleep-until.ts';
import { EXIT, exitCodeOf, exitCodeOfCrawl } from '../../render/exit.ts';
import type { Log } from '../../render/log.ts';
import { failedStep } from '../../render/text/seeds-text.ts';

/** The start times of runs. Pure. */
export interface Timetable {
  /** The first start after `after`, ms since the epoch; `null`: never again. */
  next(after: number): number | null;
  readonly text: string;
}

/** Throws an `Error` that says why the expression or the zone is invalid. */
export function cronTimetable(expression: string, zone: string | undefined): Timetable {
  if (zone !== undefined && !isTimeZone(zone)) {
    throw new Error(`"${zone}" is no time zone; expected a name of the IANA database, such as Europe/Stockholm or UTC`);
  }
  const cron = new Cron(expression, { paused: true, ...(zone === undefined ? {} : { timezone: zone }) });
  cron.nextRun(new Date(0));
  return {
    next: (after) => cron.nextRun(new Date(after))?.getTime() ?? null,
    text: `${expression}${zone === undefined ? '' : ` (${zone})`}`,
  };
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** The first start is immediate, further ones at a fixed distance from it. */
export function everyTimetable(everyMs: number, startedAt: number, text: string): Timetable {
  return {
    // `after` is before the first start if the clock was set back.
    next: (after) => startedAt + (Math.floor((after - startedAt) / everyMs) + 1) * everyMs,
    text: `every ${text}`,
  };
}

/** Number of starts after `from` and up to `until`. */
export function missedStarts(timetable: Timetable, from: number, until: number): number {
  let missed = 0;
  for (let at = timetable.next(from); at !== null && at <= until && missed < 10_000; at = timetable.next(at)) missed++;
  return missed;
}

/** The process that schedules. */
export interface Scheduler {
  readonly pid: number;
  readonly timetable: Timetable;
  /** Ms since the epoch; earlier starts of the timetable do not count. */
  readonly startedAt: number;
}

export interface ScheduleDeps {
  readonly scheduler: Scheduler;
  /** A run begins up to this much after its start, at random. */
  readonly jitterMs: number;
  readonly now: () => number;
  /** Resolves at `at`, when the signal aborts, or as soon as the clock has been set back. */
  readonly sleepUntil: (at: number, signal: AbortSignal) => Promise<void>;
  /** Uniform in [0, 1), for the jitter. */
  readonly random: () => number;
  readonly log: Log;
  /** Opens the state directory, crawls and closes it again: between runs other commands can open it. */
  readonly crawl: (signal: AbortSignal, onProgress: (progress: CrawlProgress) => void) => Promise<CrawlSummary>;
  readonly health: Pick<HealthFile, 'report' | 'progress'>;
}

type ScheduleEnd = { readonly stoppedIn: 'wait' | 'run'; readonly lastRun: RunReport | null };

/**
 * Runs one after the other, never two at once: a start during an unfinished run is skipped and logged. A failed run is
 * reported, and the next one still happens. Only an error of usage or configuration, which would fail every run,
 * rejects. The signal ends a wait at once, and ends a run after the pages in flight.
 */
export async function runSchedule(deps: ScheduleDeps, signal: AbortSignal): Promise<ScheduleEnd> {
  const { scheduler, now, log } = deps;
  const { timetable } = scheduler;
  let health = firstHealth(scheduler);
  const report = async (change: Partial<Health>): Promise<void> => {
    health = { ...health, ...change, at: iso(now()) };
    await deps.health.report(health);
  };
  let after = scheduler.startedAt - 1;
  for (;;) {
    const start = timetable.next(after);
    if (start === null) {
      log.info('the timetable has no further runs');
      await report({ state: 'stopped', nextRunAt: null });
      return { stoppedIn: 'wait', lastRun: health.lastRun };
    }
    const at = start + Math.floor(deps.random() * deps.jitterMs);
    await report({ state: 'waiting', nextRunAt: iso(at) });
    log.info('next run', { at: iso(at) });
    await deps.sleepUntil(at, signal);
    if (signal.aborted) {
      await report({ state: 'stopped', nextRunAt: null });
      return { stoppedIn: 'wait', lastRun: health.lastRun };
    }
    if (at - now() > SET_BACK_MS) {
      after = now();
      log.warn('the clock was set back; the next run is computed again', { missed: iso(at), now: iso(after) });
      continue;
    }
    const run = { at: iso(now()), round: 0, urls: 0, done: 0 };
    const asleep = missedStarts(timetable, start, now());
    if (asleep > 0) log.warn('starts were skipped: their time had passed', { skipped: asleep });
    await report({ state: 'running', nextRunAt: null, run });
    const onProgress = ({ round, urls, done }: CrawlProgress): void => {
      health = { ...health, at: iso(now()), run: { at: run.at, round, urls, done } };
      deps.health.progress(health);
    };
    const { report: lastRun, fault } = await oneRun(deps, signal, onProgress);
    const skipped = missedStarts(timetable, start, now());
    const during = skipped - asleep;
    if (during > 0) log.warn('starts were skipped: the run was not finished', { skipped: during });
    const { failures, ...counts } = lastRun;
    log[lastRun.ok ? 'info' : 'error']('run done', counts);
    for (const failure of failures) log[lastRun.ok ? 'info' : 'warn'](failedStep(failure.code), { ...failure });
    await report({
      state: fault === undefined ? 'waiting' : 'stopped',
      run: null,
      runs: health.runs + 1,
      failedRuns: health.failedRuns + (lastRun.ok ? 0 : 1),
      skippedStarts: health.skippedStarts + skipped,
      lastRun,
    });
    if (fault !== undefined) throw fault;
    if (signal.aborted) {
      await report({ state: 'stopped' });
      return { stoppedIn: 'run', lastRun };
    }
    // A small correction of the clock must not give the same start twice.
    after = start - now() > SET_BACK_MS ? now() : Math.max(start, now());
  }
}

/** Never rejects: `fault` is an error that would fail every later run too. */
async function oneRun(
  deps: ScheduleDeps,
  signal: AbortSignal,
  onProgress: (progress: CrawlProgress) => void,
): Promise<{ report: RunReport; fault?: unknown }> {
  const startedAt = deps.now();
  // One controller per run, so that no listener of a run stays on the signal of a long-lived process.
  const own = new AbortController();
  const stop = (): void => own.abort(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  try {
    const summary = await deps.crawl(own.signal, onProgress);
    return { report: reportOf(summary, startedAt, deps.now()) };
  } catch (error) {
    const counts = { rounds: 0, requests: 0, new: 0, modified: 0, unchanged: 0, gone: 0, failed: 0, bodyBytes: 0 };
    const nothing = { ...counts, failures: [] };
    const message = error instanceof Error ? error.message : String(error);
    const times = { at: iso(startedAt), ms: deps.now() - startedAt };
    const report = { ...times, ok: false, stoppedBy: null, error: message, ...nothing };
    return exitCodeOf(error) === EXIT.usage ? { report, fault: error } : { report };
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** The health before the first run. */
export function firstHealth({ pid, timetable, startedAt }: Scheduler): Health {
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
    ok: OK.has(exitCodeOfCrawl({ stoppedBy, totals })),
    stoppedBy,
    error: null,
    rounds: rounds.at(-1)?.round ?? 0,
    requests: totals.requests,
    new: totals.new,
    modified: totals.modified,
    unchanged: unchangedVisits(totals),
    gone: totals.gone,
    failed: totals.failed,
    bodyBytes: totals.bodyBytes,
    failures: totals.failures,
  };
}

const OK: ReadonlySet<number> = new Set([EXIT.done, EXIT.stopped]);

const iso = (at: number): string => new Date(at).toISOString();
