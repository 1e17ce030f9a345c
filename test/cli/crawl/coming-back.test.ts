import { once } from 'node:events';
import { cpSync, existsSync, readFileSync, renameSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { CrawlSummary } from '../../../src/crawler/index.ts';
import type { Health } from '../../../src/remote/schedule/health.ts';
import { askStatus, statusPath } from '../../../src/remote/schedule/status-socket.ts';
import { clockByHand } from '../../support/clock-by-hand.ts';
import { json, type Running, run, start } from '../../support/program.ts';
import { workDir } from '../../support/work-dir.ts';
import { createGate } from '../support/gate.ts';
import { type LocalSite, startSite } from '../support/local-site.ts';

let site: LocalSite;
beforeAll(async () => {
  site = await startSite({ pages: 6 });
});
afterAll(() => site.close());
const own = ['--allow', '127.0.0.1', '--delay', '0'];

const healthIn = (dir: string): Health => JSON.parse(readFileSync(join(dir, 'health.json'), 'utf8'));

describe('everything now', () => {
  it('crawl --all visits all pages at once, and explain says what had made them due', async () => {
    const dir = workDir();
    await run(['crawl', `${site.origin}/`, '--dir', dir, ...own]);
    const { urls: pages } = await json<{ urls: number }>(['readdb', '--stats', '--dir', dir]);
    expect(pages).toBeGreaterThan(6);
    expect((await run(['crawl', '--dir', dir, ...own])).stdout).toContain('Nothing is due');
    const dry = await run(['crawl', '--all', '--dry-run', '--dir', dir, ...own]);
    expect(dry.stdout).toContain(`${pages} made due, 0 due already or in a segment.`);
    const again = await json<CrawlSummary>(['crawl', '--all', '--dir', dir, ...own]);
    expect(again).toMatchObject({ touched: { touched: pages, unmoved: 0 }, rounds: [{ generated: pages }] });

    const page = `${site.origin}/page/1`;
    const csv = (await run(['readdb', '--dump', '--format', 'csv', '--dir', dir])).stdout;
    const byCsv = await run(['due', 'touch', '--stdin', '--dir', dir], { input: csv });
    expect(byCsv.stdout).toBe(`${pages} made due, 0 due by then already, 0 unknown.\n`);
    const said = (await run(['explain', page, '--dir', dir])).stdout;
    expect(said).toMatch(/^It has been due since \S+, by "incrawl due touch"; the next generate may select it\.\n/);
    expect(said).toContain('Its next visit was brought forward by "incrawl due touch"; the schedule had chosen ');
    expect((await run(['due', 'touch', '--all', '--dir', dir])).stdout).toBe(
      `0 made due, ${pages} due already or in a segment.\n`,
    );
    await run(['crawl', '--dir', dir, ...own]);
    expect((await run(['explain', page, '--dir', dir])).stdout).toMatch(
      /^It is next due at \S+, by the schedule after its last visit\.\n/,
    );
    const where = await run(['due', 'touch', '--where', "url ~ '/page/1'", '--dir', dir]);
    expect(where.stdout).toBe('1 made due, 0 due already or in a segment.\n');
    expect(await json(['readdb', '--where', "dueBy = 'touch'", '--dir', dir])).toMatchObject([{ url: page }]);
    const none = await run(['due', 'touch', '--host', 'nowhere.example', '--dir', dir]);
    expect([none.code, none.stdout]).toEqual([
      1,
      'No URL matches: the crawl has no host nowhere.example. "incrawl readdb --hosts" lists its hosts.\n',
    ]);
    const withoutPort = await run(['due', 'touch', '--host', '127.0.0.1', '--dir', dir]);
    expect([withoutPort.code, withoutPort.stdout]).toEqual([
      1,
      `No URL matches: the crawl has no host 127.0.0.1. Did you mean ${new URL(site.origin).host}?\n`,
    ]);
    expect((await run(['due', 'retry', '--host', '127.0.0.1', '--dir', dir])).stdout).toContain(
      'Did you mean 127.0.0.1:',
    );
    expect((await run(['due', 'touch', '--where', "url ~ 'none'", '--dir', dir])).stdout).toBe('No URL matches.\n');
    for (const wrong of [
      ['--all', page],
      ['--all', '--stdin'],
      ['--all', '--add'],
    ]) {
      expect((await run(['due', 'touch', ...wrong, '--dir', dir])).code).toBe(2);
    }
  });
});

describe('touch, plan, simulate', () => {
  it('bring visits forward, look ahead, and replay', async () => {
    const dir = workDir();
    const page = `${site.origin}/page/1`;
    await run(['crawl', `${site.origin}/`, '--dir', dir, ...own]);

    const stats = await json<{ freshness: unknown; dueByDay: number[]; waiting: unknown }>([
      'readdb',
      '--stats',
      '--dir',
      dir,
    ]);
    expect(stats.dueByDay).toHaveLength(14);
    expect(stats.freshness).toMatchObject({ fresh: expect.any(Number) });
    const plan = await json<{
      days: { due: number; newUrls: number; fetches: number }[];
      hosts: unknown[];
      needPerDay: number;
    }>(['forecast', 'plan', '--days', '40', '--budget-per-day', '2', '--dir', dir]);
    expect(plan.days).toHaveLength(40);
    expect(plan.days.every(({ fetches }) => fetches <= 2)).toBe(true);
    expect(plan.days.reduce((sum, { due }) => sum + due, 0)).toBeGreaterThan(5);
    expect(plan.hosts).toHaveLength(1);
    expect((await run(['forecast', 'plan', '--dir', dir])).stdout).toContain('there is no budget');

    // By its plain name: tracking parameters are taken off as from a link.
    expect(
      await json(['due', 'touch', `${page}?utm_source=mail`, 'ht!tp:/x', `${site.origin}/nowhere`, '--dir', dir]),
    ).toEqual({
      touched: 1,
      unmoved: 0,
      unknown: [`${site.origin}/nowhere`],
      invalid: [{ url: 'ht!tp:/x', error: expect.stringContaining('not an absolute URL') }],
      added: 0,
    });
    expect(await json(['readdb', '--due', '--dir', dir])).toMatchObject([{ url: page }]);
    const again = await run(['due', 'touch', '--stdin', '--add', '--dir', dir], {
      input: `${page}\n${site.origin}/page/77\n`,
    });
    expect([again.code, again.stdout]).toEqual([0, '0 made due, 1 due by then already, 1 added.\n']);
    expect((await run(['due', 'touch', `${site.origin}/never-heard-of`, '--dir', dir])).code).toBe(1);
    expect((await run(['due', 'touch', '--dir', dir])).code).toBe(2);

    const nothing = await run(['forecast', 'simulate', '--dir', dir]);
    expect([nothing.code, nothing.stdout]).toEqual([1, expect.stringContaining('nothing to replay')]);
    await run(['crawl', '--dir', dir, ...own]);
    const replay = await json<{ pages: number; stored: object; replayed: { schedule: string }[] }>([
      'forecast',
      'simulate',
      '--schedule',
      'fixed',
      '--schedule',
      'adaptive',
      '--dir',
      dir,
    ]);
    expect(replay).toMatchObject({ pages: 1, stored: { fetches: 1, changes: 0 } });
    expect(replay.replayed.map(({ schedule }) => schedule)).toEqual(['fixed', 'adaptive']);
    const unknown = await run(['forecast', 'simulate', '--schedule', 'fixd', '--dir', dir]);
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('fixed')]);
  });
});

describe('sitemap', () => {
  it('asks the hosts of the seeds, or those named, and prints the result', async () => {
    const dir = workDir();
    expect((await run(['due', 'sitemap', '--dir', dir, ...own])).code).toBe(2);
    const [read] = await json<{ origin: string; sitemaps: { sitemap: string; error: string }[] }[]>(
      ['due', 'sitemap', site.origin, '--dir', dir, ...own],
      { code: 1 },
    );
    expect(read).toMatchObject({
      origin: site.origin,
      sitemaps: [{ sitemap: `${site.origin}/sitemap.xml`, error: 'status 404' }],
    });
    expect((await run(['due', 'sitemap', 'example.org', '--dir', dir])).code).toBe(2);
  });
});

describe('sitemaps of which none can be used', () => {
  const XMLNS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"';
  let body = '';
  const server = createServer((request, response) => {
    if (request.url === '/sitemap.xml') response.end(body);
    else response.writeHead(404).end();
  });
  let origin = '';
  beforeAll(async () => {
    await once(server.listen(0, '127.0.0.1'), 'listening');
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => server.close());

  it.each([
    ['a page', 1, () => '<html><body>Nothing here.</body></html>', 'no sitemap, 1 error'],
    ['nothing', 1, () => '', 'no sitemap, 1 error'],
    ['a urlset that is cut off', 1, () => `<urlset ${XMLNS}><url><loc>${origin}/a</lo`, 'urlset, 1 error'],
    [
      'an index of what is not there',
      1,
      () => `<sitemapindex ${XMLNS}><sitemap><loc>${origin}/b.xml</loc></sitemap></sitemapindex>`,
      'status 404',
    ],
    ['an empty urlset', 0, () => `<urlset ${XMLNS}></urlset>`, 'urlset'],
  ])('%s: exit code %i', async (_, code, text, remark) => {
    body = text();
    const done = await run(['due', 'sitemap', origin, '--dir', workDir(), ...own]);
    expect([done.code, done.stdout]).toEqual([code, expect.stringContaining(remark)]);
  });
});

describe('a budget', () => {
  it('of a run limits its fetches; generate reports its share', async () => {
    const dir = workDir();
    const crawl = await json<{ totals: { generated: number }; stoppedBy: string }>([
      'crawl',
      `${site.origin}/`,
      '--budget',
      '3',
      '--dir',
      dir,
      ...own,
    ]);
    expect([crawl.totals.generated, crawl.stoppedBy]).toEqual([3, 'nothing-due']);
    expect(await json(['generate', '--budget', '2', '--dry-run', '--dir', dir])).toMatchObject({
      selected: 2,
      budget: 2,
    });
    const perDay = await json<{ totals: { generated: number } }>([
      'crawl',
      '--dir',
      dir,
      '-D',
      'generate.budgetPerDay=1',
      ...own,
    ]);
    expect(perDay.totals.generated).toBe(1);
  });
});

/** Resolves when the scheduler says for the n-th time when its next run is. */
const nextRun = (scheduler: Running, n: number): Promise<string> =>
  scheduler.saying(new RegExp(`(?:"next run"[\\s\\S]*){${n}}`));
const HOUR = 3_600_000;

describe('schedule', () => {
  it('runs repeatedly, answers --status, refuses a second scheduler, and stops cleanly', async () => {
    const dir = workDir();
    const before = site.log.length;
    const clock = clockByHand();
    const scheduler = start(['schedule', `${site.origin}/`, '--every', '1h', '--dir', dir, ...own], { clock });
    await nextRun(scheduler, 2);
    expect(site.log.length).toBeGreaterThanOrEqual(before + 7);
    clock.pass(HOUR);
    await nextRun(scheduler, 3);
    expect(await json(['schedule', '--status', '--dir', dir])).toMatchObject({
      pid: process.pid,
      runs: 2,
      failedRuns: 0,
      lastRun: { ok: true },
    });
    expect(healthIn(dir)).toMatchObject({ pid: process.pid, runs: 2 });
    if (process.platform !== 'win32') expect(statSync(join(dir, 'schedule.sock')).mode & 0o077).toBe(0);
    const second = await run(['schedule', '--every', '1h', '--dir', dir, ...own]);
    expect([second.code, second.stderr]).toEqual([5, expect.stringContaining(`process ${process.pid}`)]);
    scheduler.stop();
    const { code, stderr } = await scheduler.finished;
    expect(code).toBe(0);
    expect(stderr).toContain('run done');
    expect(healthIn(dir)).toMatchObject({ state: 'stopped' });
    expect((await run(['schedule', '--status', '--dir', dir])).code).toBe(1);
  });

  it('starts no new crawl where its state directory is gone, and goes on when it is back', async () => {
    const dir = join(workDir(), 'state');
    const clock = clockByHand();
    const scheduler = start(['schedule', `${site.origin}/`, '--every', '1h', '--dir', dir, ...own], { clock });
    await nextRun(scheduler, 2);
    expect(healthIn(dir)).toMatchObject({ failedRuns: 0, lastRun: { ok: true } });
    renameSync(dir, `${dir}-away`);
    clock.pass(HOUR);
    await scheduler.saying(/is gone: was it moved/);
    await nextRun(scheduler, 3);
    expect(existsSync(dir)).toBe(false);
    // A copy has no socket of its own.
    cpSync(`${dir}-away`, `${dir}-copy`, { recursive: true, filter: (path) => !path.endsWith('.sock') });
    renameSync(`${dir}-copy`, dir);
    clock.pass(HOUR);
    await nextRun(scheduler, 4);
    expect(healthIn(dir)).toMatchObject({ failedRuns: 1, lastRun: { ok: true } });
    expect(await askStatus(statusPath(dir))).toMatchObject({ pid: process.pid });
    scheduler.stop();
    expect((await scheduler.finished).code).toBe(0);
  });

  it('--once runs once; wrong usage starts nothing', async () => {
    const dir = workDir();
    const once = await json<{ ok: boolean; requests: number }>([
      'schedule',
      `${site.origin}/`,
      '--once',
      '--dir',
      dir,
      ...own,
    ]);
    expect(once).toMatchObject({ ok: true });
    expect(once.requests).toBeGreaterThan(6);
    for (const wrong of [
      [],
      ['--once', '--every', '1h'],
      ['--every', '1h', '--tz', 'UTC'],
      ['--once', '--jitter', '1m'],
    ])
      expect((await run(['schedule', ...wrong, '--dir', dir])).code).toBe(2);
    const cron = await run(['schedule', '--cron', '99 * * * *', '--dir', dir]);
    expect([cron.code, cron.stderr]).toEqual([2, expect.stringContaining('99 * * * *')]);
    const zone = await run(['schedule', '--cron', '* * * * *', '--tz', 'Mars/Olympus', '--dir', dir]);
    expect(zone.code).toBe(2);
    expect((await run(['schedule', '--every', '10ms', '--dir', dir])).code).toBe(2);
    // Without a contact the open web is not crawled, and no later run would change that.
    expect((await run(['schedule', 'https://example.org/', '--every', '1h', '--dir', workDir()])).code).toBe(2);
    // Not in the night, when the first run begins.
    const later = await run(['schedule', 'https://example.org/', '--cron', '0 0 1 1 *', '--dir', workDir()]);
    expect([later.code, later.stderr]).toEqual([2, expect.stringContaining('agent.contact')]);
  });

  it('ends with 5 when the state directory is held at its start; reports the progress of a run; stops in a run', async () => {
    const dir = workDir();
    const gate = createGate();
    const slow = await startSite({ pages: 30, gate });
    gate.closeAfter(0);
    const crawl = start(['crawl', `${slow.origin}/`, '--dir', dir, ...own]);
    await slow.seen(1);
    const second = await run(['schedule', '--every', '1h', '--dir', dir, ...own]);
    expect([second.code, second.stderr]).toEqual([5, expect.stringContaining(`process ${process.pid}`)]);
    crawl.stop();
    await crawl.saying(/second signal/);
    gate.open();
    expect((await crawl.finished).code).toBe(11);

    gate.closeAfter(1);
    const scheduler = start(['schedule', '--every', '1h', '--dir', dir, ...own]);
    const status = (): Promise<Health> => json<Health>(['schedule', '--status', '--dir', dir]);
    await vi.waitFor(async () => expect((await status()).run?.urls).toBeGreaterThan(0), {
      timeout: 60_000,
      interval: 20,
    });
    expect((await run(['schedule', '--status', '--dir', dir])).stdout).toMatch(/this run .* of \d+ URLs/);
    scheduler.stop();
    await scheduler.saying(/second signal/);
    gate.open();
    expect((await scheduler.finished).code).toBe(11);
    expect(healthIn(dir)).toMatchObject({
      state: 'stopped',
      lastRun: { ok: true, stoppedBy: 'signal' },
    });
    await slow.close();
  });
});
