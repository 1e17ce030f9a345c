import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { DbStats } from '../../../src/core/steps/records/stats.ts';
import type { CrawlSummary } from '../../../src/core/steps/round-summary.ts';
import { json, run, start } from '../../support/program.ts';
import { workDir } from '../../support/work-dir.ts';
import { startChangingSite } from '../support/changing-site.ts';
import { createGate } from '../support/gate.ts';
import { type LocalSite, startSite } from '../support/local-site.ts';

let site: LocalSite | null = null;
afterEach(async () => {
  await site?.close();
  site = null;
});

const NETWORK = ['--allow', '127.0.0.1', '--delay', '0'];
const ROUND_FIELDS = [
  // biome-ignore format: one list
  'generated',
  'fetched',
  'notModified',
  'skippedByHeaders',
  'unchanged',
  'modified',
  'new',
  'gone',
  'redirected',
  'failed',
  'robotsDenied',
  'requests',
  'bytesReceived',
  'bodyBytes',
  'outlinks',
  'newUrls',
  'ms',
  'cpuMs',
];

describe('crawl', () => {
  it('goes on until nothing is due, and answers with the fields that are a contract', async () => {
    site = await startSite({ pages: 5 });
    const cwd = workDir();
    const summary = await json<CrawlSummary>(['crawl', `${site.origin}/`, ...NETWORK], { cwd });
    expect(summary.stoppedBy).toBe('nothing-due');
    for (const part of [...summary.rounds, summary.totals]) {
      for (const field of ROUND_FIELDS) expect(part, field).toHaveProperty(field, expect.any(Number));
    }
    expect(summary.totals).toMatchObject({ new: 6, gone: 1, redirected: 1, robotsDenied: 1, failed: 0 });
    expect([...site.log].sort()).toEqual([
      '/',
      '/missing',
      '/old',
      '/page/1',
      '/page/2',
      '/page/3',
      '/page/4',
      '/page/5',
    ]);
    const again = await json<CrawlSummary>(['crawl', `${site.origin}/`, ...NETWORK], { cwd });
    expect(again).toMatchObject({ rounds: [], stoppedBy: 'nothing-due' });
  });

  it('stops after the rounds asked for, and prints a line for each', async () => {
    site = await startSite({ pages: 3 });
    const cwd = workDir();
    const first = await run(['crawl', '-', '--rounds', '1', ...NETWORK], { cwd, input: `${site.origin}/\n` });
    expect(first.code).toBe(0);
    expect(first.stdout.split('\n').slice(0, 2)).toEqual([
      expect.stringMatching(/^round +urls +new/),
      expect.stringMatching(/^ +1 +1 +1 /),
    ]);
    expect(first.stdout).not.toContain('\u001b');
    expect(first.stderr).not.toContain('\u001b');
    expect(site.log).toEqual(['/']);
    expect(await json<DbStats>(['readdb', '--stats'], { cwd })).toMatchObject({ due: 6 });
    expect(await run(['crawl', '--quiet', ...NETWORK], { cwd })).toMatchObject({ stdout: '', stderr: '' });
    for (const step of [['inject', `${site.origin}/new`], ['generate'], ['fetch', ...NETWORK], ['parse'], ['updatedb']])
      expect(await run([...step, '--quiet'], { cwd })).toMatchObject({ code: 0, stdout: '', stderr: '' });
    const asked = await run(['generate', '--dry-run', '--add-days', '400', '--quiet'], { cwd });
    expect(asked.stdout).toContain('Would select 8 URLs');
  });

  it('says why pages were not fetched, with one of them for each reason', async () => {
    site = await startSite({ pages: 1 });
    const cwd = workDir();
    const closed = 'http://127.0.0.1:9/';
    const seeds = `${site.origin}/\n${closed}\nhttp://127.0.0.1:9/more\nhttp://10.0.0.1/\n`;
    const allowed = new URL(site.origin).host;
    const options = ['--allow', allowed, '--allow', '127.0.0.1:9', '--delay', '0'];
    const { code, stdout } = await run(['crawl', '-', '--rounds', '1', ...options], { cwd, input: seeds });
    expect(code).toBe(0);
    const lines = stdout.split('\n').filter((line) => line.startsWith('not fetched: '));
    expect(lines).toEqual([
      expect.stringMatching(
        /^not fetched: 2 connect-failed, such as http:\/\/127\.0\.0\.1:9\/(more)? \(.*ECONNREFUSED/,
      ),
      'not fetched: 1 address-blocked, such as http://10.0.0.1/ (10.0.0.1 is a private or reserved address)',
    ]);
    await run(['due', 'touch', closed], { cwd });
    const { rounds, totals } = await json<CrawlSummary>(['crawl', '--rounds', '1', ...options], { cwd });
    for (const { failures } of [totals, ...rounds]) {
      expect(failures).toContainEqual(
        expect.objectContaining({ code: 'connect-failed', status: null, visits: 1, url: closed }),
      );
      expect(failures).toContainEqual(expect.objectContaining({ code: 'robots-denied', visits: 1 }));
    }
    const explained = (await run(['explain', closed], { cwd })).stdout;
    expect(explained).toMatch(/Last error at .*: connect-failed, connect ECONNREFUSED/);
    expect(explained).not.toContain('robots.txt disallows');
    expect((await run(['skipped', '--counts'], { cwd })).stdout).toMatch(/connect-failed +\d/);
  });

  it('obeys robots.txt of an address that was blocked before', async () => {
    site = await startSite({ pages: 1 });
    const cwd = workDir();
    // A state directory that was made by a crawl of nothing but this address would be removed.
    mkdirSync(join(cwd, 'crawldb'));
    const url = `${site.origin}/private/x`;
    const denied = (code: string) => ({ failures: [expect.objectContaining({ code, visits: 1, url })] });
    const blocked = await json<CrawlSummary>(['crawl', url, '--delay', '0'], { cwd, code: 1 });
    expect(blocked.totals).toMatchObject({ ...denied('address-blocked'), robotsDenied: 0 });
    expect((await run(['explain', url], { cwd })).stdout).toMatch(/robots\.txt\n +not fetched yet/);
    await run(['due', 'touch', url], { cwd });
    const allowed = await json<CrawlSummary>(['crawl', ...NETWORK], { cwd });
    expect(allowed.totals).toMatchObject({ ...denied('robots-denied'), robotsDenied: 1 });
    expect(site.log).toEqual([]);
  });

  it('gives the page of a seed that redirects in one round, as the seeds alone', async () => {
    const moved = await startChangingSite({ '/': '/en/', '/en/': '<title>Welcome</title><p><a href="/en/more">more' });
    const cwd = workDir();
    const limits = ['--rounds', '1', '--depth', '1'];
    const { rounds, stoppedBy } = await json<CrawlSummary>(['crawl', `${moved.origin}/`, ...NETWORK, ...limits], {
      cwd,
    });
    expect(rounds).toMatchObject([{ generated: 1, redirected: 1, followed: 1, fetched: 1, new: 1, newUrls: 1 }]);
    expect(stoppedBy).toBe('rounds');
    const { stdout } = await run(['crawl', ...NETWORK, ...limits], { cwd });
    expect(stdout).toContain('Nothing is due');
    expect((await run(['explain', `${moved.origin}/en/`], { cwd })).stdout).toContain(
      `redirected from ${moved.origin}/\n`,
    );
    expect((await run(['readseg', '--list'], { cwd })).stdout).toMatch(/ updated .* 2 +2 +1\b/);
    await moved.close();
  });

  it('says where a chain of redirects was cut', async () => {
    const chain = await startChangingSite({ '/a': '/b', '/b': '/c', '/c': '/d', '/d': '<p>page' });
    const cwd = workDir();
    const limit = ['-D', 'fetch.maxRedirects=2'];
    await run(['crawl', `${chain.origin}/a`, ...NETWORK, ...limit], { cwd });
    expect(chain.requests.filter((each) => !/robots|sitemap/.test(each))).toEqual(['GET /a', 'GET /b', 'GET /c']);
    const { stdout } = await run(['explain', `${chain.origin}/c`], { cwd });
    expect(stdout).toContain('2 redirects in a row led to it.');
    expect(stdout).toMatch(/redirect-limit, redirect to .*\/d not followed after 2 redirects in a row/);
    const [skipped, ...more] = await json<readonly object[]>(['skipped', '--reason', 'redirect-limit'], { cwd });
    expect([skipped, more]).toEqual([expect.objectContaining({ url: `${chain.origin}/c` }), []]);
    await chain.close();
  });

  it('says why pages could not be read, with one of them for each reason', async () => {
    const pages = {
      '/': '<a href="/broken">b</a> <a href="/scan">s</a>',
      '/broken': '<p>page that breaks a plugin',
      '/scan': '%PDF-1.7 ..',
    };
    const changing = await startChangingSite(pages);
    const cwd = workDir();
    mkdirSync(join(cwd, 'conf/plugins/parsefilter-breaks'), { recursive: true });
    writeFileSync(
      join(cwd, 'conf/plugins/parsefilter-breaks/plugin.js'),
      `export default { name: 'parsefilter-breaks', api: 1, setup: () => ({ filter: (page) => { if (page.result.text.includes('breaks')) throw new Error('boom'); } }) };`,
    );
    const list = ['protocol-http', 'parse-html', 'parsefilter-breaks', 'signature-simhash', 'schedule-freshness'];
    writeFileSync(join(cwd, 'conf/plugins.yaml'), `plugins:\n${list.map((name) => `  - ${name}\n`).join('')}`);
    const { code, stdout } = await run(['crawl', `${changing.origin}/`, ...NETWORK], { cwd });
    await changing.close();
    expect(code).toBe(0);
    expect(stdout.split('\n').filter((line) => line.startsWith('not '))).toEqual([
      `not parsed: 1 parse-failed, such as ${changing.origin}/broken (parsefilter-breaks: boom)`,
      `not parsed: 1 parse-unsupported, such as ${changing.origin}/scan (no parser for application/pdf)`,
    ]);
  });

  it('refuses the open web without a contact, before anything is sent or written', async () => {
    const cwd = workDir();
    const { code, stderr } = await run(['crawl', 'http://open-web.invalid/'], { cwd });
    expect(code).toBe(2);
    expect(stderr).toContain('agent.contact');
    expect(stderr).toContain('--contact');
  });

  it('says who holds the crawl db: exit code 5', async () => {
    const gate = createGate();
    site = await startSite({ pages: 3, gate });
    gate.closeAfter(0);
    const cwd = workDir();
    const holder = start(['crawl', `${site.origin}/`, ...NETWORK], { cwd });
    await site.seen(1);
    const { code, stdout, stderr } = await run(['generate'], { cwd });
    expect({ code, stdout }).toEqual({ code: 5, stdout: '' });
    expect(stderr).toMatch(/^incrawl: /);
    expect(stderr).toContain(`process ${process.pid} on `);
    holder.stop();
    gate.open();
    expect((await holder.finished).code).toBe(11);
  });

  it('that is stopped finishes the pages in flight, prints how to resume, and resumes', async () => {
    const gate = createGate();
    site = await startSite({ pages: 12, gate });
    gate.closeAfter(3);
    const cwd = workDir();
    const dir = join(cwd, 'state');
    const crawl = start(['crawl', `${site.origin}/`, '--dir', dir, ...NETWORK], { cwd });
    await site.seen(4);
    crawl.stop();
    gate.open();
    const { code, stdout, stderr } = await crawl.finished;
    expect(code).toBe(11);
    expect(stdout).toMatch(/^Round \d+ \(segment [\d-]+\) was interrupted: \d+ of \d+ URLs are fetched\.$/m);
    expect(stderr).toContain(`incrawl crawl --dir ${dir} --allow 127.0.0.1 --delay 0`);
    expect(site.log.length).toBeLessThan(15);
    const summary = await json<CrawlSummary>(['crawl', '--dir', dir, ...NETWORK], { cwd });
    expect(summary.stoppedBy).toBe('nothing-due');
    // 12 pages, the start, /old and /missing: each asked for once, be it before or after the stop.
    expect([...site.log].sort()).toEqual([...new Set(site.log)].sort());
    expect(site.log).toHaveLength(15);
  });

  it('draws nothing on a dumb terminal', async () => {
    site = await startSite({ pages: 3 });
    const crawl = ['crawl', `${site.origin}/`, ...NETWORK];
    const { output } = await run(crawl, { cwd: workDir(), columns: 80, env: { TERM: 'dumb' } });
    expect(output).toMatch(/^Nothing is due any more\. Next: \d{4}-\d\d-\d\d \d\d:\d\d UTC, \d+ URLs? by the end/m);
    expect(output).not.toContain('\u001b');
  });
});
