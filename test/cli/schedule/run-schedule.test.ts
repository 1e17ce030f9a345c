import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { everyTimetable, runSchedule, type ScheduleDeps } from '../../../src/cli/schedule/run-schedule.ts';
import { CrawlError } from '../../../src/core/domain/errors.ts';
import type { CrawlProgress, CrawlSummary } from '../../../src/crawler/index.ts';
import type { Health } from '../../../src/remote/schedule/health.ts';

const MINUTE = 60_000;
const iso = (at: number): string => new Date(at).toISOString();
const summary = {
  rounds: [],
  totals: { requests: 3, failures: [] },
  stoppedBy: 'nothing-due',
} as unknown as CrawlSummary;
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/**
 * A scheduler on a clock that jumps; `runs[i]` is what the i-th run does, `setBacks[i]` by how much the clock is set
 * back in the i-th wait.
 */
function simulated(
  runs: readonly { readonly takesMs: number; readonly error?: Error }[],
  setBacks: readonly number[] = [],
) {
  let now = 0;
  const stop = new AbortController();
  const starts: number[] = [];
  const health: Health[] = [];
  let waits = 0;
  const deps: ScheduleDeps = {
    scheduler: { pid: 7, timetable: everyTimetable(MINUTE, 0, '1m'), startedAt: 0 },
    now: () => now,
    sleepUntil: async (at) => {
      const setBackMs = setBacks[waits++] ?? 0;
      if (starts.length === runs.length) stop.abort();
      else now = Math.max(now, at) - setBackMs;
    },
    random: () => 0.5,
    jitterMs: 0,
    log: silent,
    crawl: async () => {
      const run = runs[starts.length];
      starts.push(now);
      now += run?.takesMs ?? 0;
      if (run?.error !== undefined) throw run.error;
      return summary;
    },
    health: {
      report: async (next) => {
        health.push(next);
      },
      progress: (next) => void health.push(next),
    },
  };
  return { deps, starts, health, stop };
}

describe('the scheduler', () => {
  it('runs on time, one run after the other, and skips starts that fall into a run', async () => {
    const { deps, starts, health, stop } = simulated([{ takesMs: 10 }, { takesMs: 2.5 * MINUTE }, { takesMs: 10 }]);
    expect(await runSchedule(deps, stop.signal)).toMatchObject({ stoppedIn: 'wait' });
    expect(starts).toEqual([0, MINUTE, 4 * MINUTE]);
    expect(health.at(-1)).toMatchObject({
      state: 'stopped',
      runs: 3,
      failedRuns: 0,
      skippedStarts: 2,
      nextRunAt: null,
    });
    expect(health.filter(({ state }) => state === 'running')).toHaveLength(3);
  });

  it('separates starts missed in a sleep of the machine from starts that fell into a run', async () => {
    const { deps, health, stop } = simulated([{ takesMs: 10 }, { takesMs: 2.5 * MINUTE }], [0, -3.5 * MINUTE]);
    const warned: unknown[] = [];
    const log = { ...silent, warn: (text: string, fields?: object) => void warned.push([text, fields]) };
    await runSchedule({ ...deps, log }, stop.signal);
    expect(warned).toEqual([
      ['starts were skipped: their time had passed', { skipped: 3 }],
      ['starts were skipped: the run was not finished', { skipped: 3 }],
    ]);
    expect(health.at(-1)?.skippedStarts).toBe(6);
  });

  it('goes on after a failed run, and reports its error', async () => {
    const { deps, starts, health, stop } = simulated([{ takesMs: 5, error: new Error('no route') }, { takesMs: 5 }]);
    await runSchedule(deps, stop.signal);
    expect(starts).toHaveLength(2);
    expect(health.map(({ lastRun }) => lastRun?.error)).toContain('no route');
    expect(health.at(-1)).toMatchObject({ runs: 2, failedRuns: 1, lastRun: { ok: true, requests: 3 } });
  });

  it('logs why pages were not fetched', async () => {
    const { deps, stop } = simulated([{ takesMs: 0 }]);
    const logged: unknown[] = [];
    const failure = { code: 'connect-failed', status: null, visits: 2, url: 'http://a.test/', message: 'refused' };
    const log = { ...silent, info: (text: string, fields?: object) => void logged.push([text, fields]) };
    const crawl = async (): Promise<CrawlSummary> => {
      stop.abort();
      return { ...summary, totals: { ...summary.totals, failures: [failure] } };
    };
    await runSchedule({ ...deps, log, crawl }, stop.signal);
    expect(logged).toContainEqual(['not fetched', failure]);
  });

  it('ends with an error that would fail every run, and is not reported as running', async () => {
    const { deps, health, stop } = simulated([{ takesMs: 0, error: new CrawlError('config-invalid', 'fatal') }]);
    await expect(runSchedule(deps, stop.signal)).rejects.toThrow('fatal');
    expect(health.at(-1)).toMatchObject({ state: 'stopped', run: null, failedRuns: 1, lastRun: { error: 'fatal' } });
  });

  it('reports the progress of the run', async () => {
    const { deps, health, stop } = simulated([{ takesMs: 0 }]);
    const crawl: ScheduleDeps['crawl'] = async (signal, onProgress) => {
      onProgress({ round: 2, urls: 10, done: 4 } as CrawlProgress);
      return deps.crawl(signal, onProgress);
    };
    await runSchedule({ ...deps, crawl }, stop.signal);
    expect(health.map(({ run }) => run)).toContainEqual({ at: iso(0), round: 2, urls: 10, done: 4 });
    expect(health.at(-1)?.run).toBeNull();
  });

  it('leaves no listener of a run on the signal of the process', async () => {
    const { deps, stop } = simulated(Array.from({ length: 20 }, () => ({ takesMs: 1 })));
    const crawl: ScheduleDeps['crawl'] = (signal, onProgress) => {
      signal.addEventListener('abort', () => {});
      return deps.crawl(signal, onProgress);
    };
    await runSchedule({ ...deps, crawl }, stop.signal);
    expect(getEventListeners(stop.signal, 'abort')).toHaveLength(0);
  });

  it('computes the next run again when the clock was set back, even by years', async () => {
    const year = 365 * 24 * 60 * MINUTE;
    const waited = simulated([{ takesMs: 10 }, { takesMs: 10 }], [0, year]);
    await runSchedule(waited.deps, waited.stop.signal);
    expect(waited.starts).toEqual([0, 2 * MINUTE - year]);
    const ran = simulated([{ takesMs: 10 - year }, { takesMs: 10 }]);
    await runSchedule(ran.deps, ran.stop.signal);
    expect(ran.starts).toEqual([0, MINUTE - year]);
  });

  it('gives no start twice when the clock is corrected a little', async () => {
    const { deps, starts, stop } = simulated([{ takesMs: -20 }, { takesMs: 10 }]);
    await runSchedule(deps, stop.signal);
    expect(starts).toEqual([0, MINUTE]);
  });

  it('begins later by the jitter', async () => {
    const { deps, starts, stop } = simulated([{ takesMs: 0 }]);
    await runSchedule({ ...deps, jitterMs: 20_000 }, stop.signal);
    expect(starts).toEqual([10_000]);
  });

  it('says that it was stopped in a run', async () => {
    const { deps, stop } = simulated([{ takesMs: 0 }]);
    const crawl = async (): Promise<CrawlSummary> => {
      stop.abort();
      return summary;
    };
    expect((await runSchedule({ ...deps, crawl }, stop.signal)).stoppedIn).toBe('run');
  });
});
