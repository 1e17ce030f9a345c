import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import { reportOf } from '../../../src/cli/schedule/run-schedule.ts';
import type { CrawlSummary } from '../../../src/crawler/index.ts';
import type { FailureKind } from '../../../src/crawler/views.ts';
import { type Health, statusText } from '../../../src/remote/schedule/health.ts';
import { EXIT, exitCodeOfCrawl } from '../../../src/render/exit.ts';
import { createMetrics, type MetricsInput } from '../../../src/serve/metrics.ts';
import { run } from '../../support/program.ts';
import { workDir } from '../../support/work-dir.ts';
import { served } from '../support/served.ts';

let isOpen = true;
const site = served(
  createServer((request, response) => {
    const { url = '/' } = request;
    if (url === '/robots.txt') return response.writeHead(404).end();
    if (!isOpen || url === '/closed') return response.writeHead(401).end();
    return response.setHeader('content-type', 'text/html').end('<p>open</p><a href="/closed">closed</a>');
  }),
);
const own = ['--allow', '127.0.0.1', '--delay', '0'];

describe('a run whose visits fail', () => {
  it('ends with the reasons, and with exit code 1 where no visit was answered', async () => {
    const cwd = workDir();
    isOpen = true;
    const partly = await run(['crawl', `${site.origin}/`, ...own], { cwd });
    const reason = `not fetched: 1 http-client-error 401, such as ${site.origin}/closed (status 401)\n`;
    expect(partly.stdout).toContain(`${reason}Nothing is due any more.`);
    expect(partly.code).toBe(0);
    isOpen = false;
    const none = await run(['crawl', '--all', ...own], { cwd });
    expect(none.stdout).toContain(`not fetched: 2 http-client-error 401, such as ${site.origin}/`);
    expect(none.code).toBe(1);
    await run(['due', 'touch', '--all'], { cwd });
    const scheduled = await run(['schedule', '--once', ...own], { cwd });
    expect(scheduled.stdout).toMatch(/2 failed \(nothing-due\)\nnot fetched: 2 http-client-error 401, such as /);
    expect(scheduled.code).toBe(1);
    expect((await run(['crawl', ...own], { cwd })).code).toBe(0);
  });
});

const NOTHING = { fetched: 0, notModified: 0, skippedByHeaders: 0, unchanged: 0, gone: 0, redirected: 0, failed: 0 };
const kind = (code: string): FailureKind => ({ code, status: 200, visits: 3, url: 'http://a.test/', message: 'm' });
const SINCE = {
  pid: 1,
  state: 'waiting',
  timetable: 'every 1m',
  startedAt: '',
  runs: 1,
  failedRuns: 1,
  skippedStarts: 0,
};
const summaryOf = (
  counts: Partial<CrawlSummary['totals']>,
  stoppedBy: CrawlSummary['stoppedBy'] = 'nothing-due',
): CrawlSummary =>
  ({ totals: { ...NOTHING, failures: [], ...counts }, rounds: [], stoppedBy }) as unknown as CrawlSummary;

describe('the exit code of a crawl', () => {
  it.each<[string, CrawlSummary, number]>([
    ['nothing was due', summaryOf({}), EXIT.done],
    ['all visits failed', summaryOf({ failed: 3, failures: [kind('fetch-timeout')] }), EXIT.error],
    ['one of several was answered', summaryOf({ failed: 3, gone: 1, failures: [kind('fetch-timeout')] }), EXIT.done],
    ['a login page was met', summaryOf({ failed: 3, fetched: 9, failures: [kind('login-required')] }), EXIT.error],
    ['a signal came', summaryOf({ failed: 3 }, 'signal'), EXIT.stopped],
    ['the network is down', summaryOf({ failed: 3 }, 'failure-limit'), EXIT.failureLimit],
  ])('where %s', (_, summary, code) => {
    expect(exitCodeOfCrawl(summary)).toBe(code);
    expect(reportOf(summary, 0, 1).ok).toBe(code === EXIT.done || code === EXIT.stopped);
  });

  it('agrees with the status of a scheduler and with its metrics', async () => {
    const summary = summaryOf({ failed: 3, fetched: 9, failures: [kind('login-required')] });
    const schedule = { lastRun: reportOf(summary, 0, 1), nextRunAt: null, run: null, ...SINCE } as unknown as Health;
    expect(statusText(schedule)).toContain('not fetched: 3 login-required 200, such as http://a.test/ (m)');
    const input = {
      activity: { state: 'waiting', run: null, schedule, workers: null },
      snapshot: null,
      rounds: [],
    } as MetricsInput;
    const text = await createMetrics().text(input);
    expect(text).toContain('incrawl_schedule_last_run_ok 0');
    expect(text).toContain('incrawl_schedule_last_run_failures{reason="login-required",status="200"} 3');
  });
});
