import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RecordView } from '../../../src/crawler/index.ts';
import type { RetrySummary, SkippedSummary, SkippedUrl } from '../../../src/crawler/views.ts';
import { json, run } from '../../support/program.ts';
import { workDir } from '../../support/work-dir.ts';
import { type LocalSite, startSite } from '../support/local-site.ts';

let site: LocalSite;
let cwd = '';
beforeAll(async () => {
  site = await startSite({ pages: 4 });
  cwd = workDir();
  const words = ['crawl', `${site.origin}/`, '--allow', '127.0.0.1', '--delay', '0', '--top-n', '3', '--rounds', '4'];
  await run([...words, '-D', 'reports.skippedPerReason=2'], { cwd });
});
afterAll(() => site.close());

describe('skipped', () => {
  it('lists URLs by reason, newest last, and counts what it does not list', async () => {
    const denied = await json<SkippedUrl[]>(['skipped', '--reason', 'robots-denied,gone'], { cwd });
    expect(denied.map(({ reason, url }) => [reason, url.slice(site.origin.length)]).sort()).toEqual([
      ['gone', '/missing'],
      ['robots-denied', '/private/x'],
    ]);
    expect(denied.find(({ reason }) => reason === 'robots-denied')).toEqual({
      version: 1,
      at: expect.stringMatching(/Z$/),
      step: 'updatedb',
      segment: expect.any(String),
      url: `${site.origin}/private/x`,
      reason: 'robots-denied',
      by: null,
      detail: expect.any(String),
      from: `${site.origin}/`,
    });
    const ofUrl = await json<SkippedUrl[]>(['skipped', '--url', `${site.origin}/private/x`], { cwd });
    expect(ofUrl).toContainEqual(denied.find(({ reason }) => reason === 'robots-denied'));
    expect(new Set(ofUrl.map(({ url }) => url))).toEqual(new Set([`${site.origin}/private/x`]));
    const summary = await json<SkippedSummary>(['skipped', '--counts'], { cwd });
    expect(summary.counts).toMatchObject({ 'robots-denied': 1, gone: 1 });
    expect(summary.counts['over-top-n']).toBeGreaterThan(2);
    expect(summary.cut).toBeGreaterThan(0);
    const text = await run(['skipped', '--counts'], { cwd });
    expect(text.stdout).toMatch(/over-top-n .*The round is full.*\n/);
    expect(text.stdout).toContain('are counted but not listed');
  });

  it('reads on behind a line that a crash has torn, and whatever characters a URL has', async () => {
    const file = join(cwd, 'crawldb', 'reports', 'skipped.jsonl');
    const [line = ''] = readFileSync(file, 'utf8').split('\n');
    const odd = { ...(JSON.parse(line) as SkippedUrl), url: 'https://a.example/\u2028\u001b[31m', reason: 'nofollow' };
    appendFileSync(file, `{"version":1,"reason":"nofol\n${JSON.stringify(odd)}\n`);
    const listed = await run(['skipped', '--reason', 'nofollow', '--since', '1d'], { cwd });
    expect(listed.stdout).toContain('https://a.example/\\u2028\\x1b[31m');
    expect(listed.stdout.trim().split('\n')).toHaveLength(2);
  });
});

describe('retry', () => {
  it('makes what is gone due again', async () => {
    const dry = await json<RetrySummary & { urls: unknown[] }>(['due', 'retry', '--status', 'gone', '--dry-run'], {
      cwd,
    });
    expect(dry).toMatchObject({
      matched: 1,
      broughtForward: 1,
      urls: [{ url: `${site.origin}/missing`, reason: 'gone' }],
    });
    const before = Date.now();
    expect((await run(['due', 'retry', '--status', 'gone'], { cwd })).stdout).toContain('1 made due');
    const record = await json<RecordView>(['readdb', '--url', `${site.origin}/missing`], { cwd });
    expect(Date.parse(record.nextFetchAt ?? '')).toBeGreaterThanOrEqual(before);
    expect(Date.parse(record.nextFetchAt ?? '')).toBeLessThanOrEqual(Date.now());
  });

  it.each([
    [[], 2, 'expected what to retry: --status STATE, --reason REASONS or --host HOST'],
    [[], 2, '"incrawl due touch --all" all pages'],
    [['--reason', 'url-filtered'], 2, 'incrawl skipped --reason url-filtered'],
    [['--reason', 'robots-deny'], 2, 'Did you mean robots-denied?'],
    [['--reason', 'tls-failed'], 1, ''],
  ])('%j', async (words, code, message) => {
    expect(await run(['due', 'retry', ...words], { cwd })).toMatchObject({
      code,
      stderr: expect.stringContaining(message),
    });
  });
});
