import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DbStats } from '../../../src/core/steps/records/stats.ts';
import type {
  FetchSummary,
  GenerateSummary,
  InjectSummary,
  ParseSummary,
  UpdateSummary,
} from '../../../src/core/steps/summaries.ts';
import type { SegmentRecordView, SegmentView } from '../../../src/crawler/index.ts';
import type { SeenView } from '../../../src/crawler/views.ts';
import type { Explanation } from '../../../src/query/records/explain.ts';
import type { DueView, HostView, RecordView } from '../../../src/query/records/views.ts';
import { json, run } from '../../support/program.ts';
import { workDir } from '../../support/work-dir.ts';
import { type LocalSite, startSite } from '../support/local-site.ts';

const PAGES = 4;
let site: LocalSite;
let cwd = '';
let segment = '';
beforeAll(async () => {
  site = await startSite({ pages: PAGES });
  cwd = workDir();
});
afterAll(() => site.close());

const network = (): string[] => ['--allow', '127.0.0.1', '--delay', '0'];

/** The steps by hand, in their order: each test stands on the one before. */
describe('the steps, one command each', { sequential: true }, () => {
  it('inject takes the good lines and names the bad ones', async () => {
    writeFileSync(join(cwd, 'seeds.txt'), `# seeds\n\n${site.origin}/\tscore=2\tsection=start\nht!tp:/nothing\n`);
    const { code, stdout, stderr } = await run(['inject', 'seeds.txt', '--json'], { cwd });
    expect(code).toBe(0);
    const summary = JSON.parse(stdout) as InjectSummary;
    expect(summary).toMatchObject({ urls: 1, injected: 1, kept: 0 });
    expect(summary.errors).toMatchObject([{ source: 'seeds.txt', line: 4, text: 'ht!tp:/nothing' }]);
    expect(stderr).toContain('seeds.txt:4: ');
  });

  it('inject keeps, updates, overwrites known URLs, from stdin too', async () => {
    const input = `${site.origin}/\tscore=3\n`;
    expect(await json<InjectSummary>(['inject', '-'], { cwd, input })).toMatchObject({ injected: 0, kept: 1 });
    expect(await json<InjectSummary>(['inject', '-', '--update'], { cwd, input })).toMatchObject({ updated: 1 });
    expect(await json<InjectSummary>(['inject', '-', '--mode', 'overwrite'], { cwd, input })).toMatchObject({
      overwritten: 1,
    });
  });

  it('inject without one good line ends with 1', async () => {
    expect((await run(['inject', '-'], { cwd, input: 'nonsense\n' })).code).toBe(1);
  });

  it('generate shows in a dry run what it would select, and changes nothing', async () => {
    const summary = await json<GenerateSummary>(['generate', '--dry-run'], { cwd });
    expect(summary).toMatchObject({ segment: null, due: 1, selected: 1, urls: [`${site.origin}/`] });
    const picky = await json<GenerateSummary>(['generate', '--dry-run', '--min-score', '100'], { cwd, code: 4 });
    expect(picky).toMatchObject({ selected: 0, rejected: { minScore: 1 } });
    const deep = ['generate', '--dry-run', '--where', 'depth > 2'];
    expect(await json<GenerateSummary>(deep, { cwd, code: 4 })).toMatchObject({ rejected: { where: 1 } });
    const asked = ['generate', '--dry-run', '-D', 'generate.where=seed and depth = 0'];
    expect(await json<GenerateSummary>(asked, { cwd })).toMatchObject({ selected: 1 });
    for (const mistaken of [
      ['--where', 'dpth > 2'],
      ['-D', 'generate.where=dpth > 2'],
    ]) {
      const { code, stderr } = await run(['generate', ...mistaken], { cwd });
      expect([code, stderr]).toEqual([2, expect.stringContaining('depth')]);
    }
  });

  it('generate makes a segment, and then has nothing left: exit code 4', async () => {
    const summary = await json<GenerateSummary>(['generate', '--top-n', '10'], { cwd });
    expect(summary).toMatchObject({ selected: 1, hosts: 1 });
    segment = summary.segment ?? '';
    expect(segment).not.toBe('');
    expect(await json<GenerateSummary>(['generate'], { cwd, code: 4 })).toMatchObject({
      segment: null,
      selected: 0,
    });
  });

  it('fetch fetches the segment', async () => {
    const summary = await json<FetchSummary>(['fetch', ...network()], { cwd });
    expect(summary).toMatchObject({ segment, fetched: 1, left: 0, failed: 0 });
    expect(site.log).toEqual(['/']);
  });

  it('parse parses it, and again with --force', async () => {
    expect(await json<ParseSummary>(['parse'], { cwd })).toMatchObject({ segment, parsed: 1, failed: 0 });
    const again = await json<ParseSummary>(['parse', segment, '--force'], { cwd });
    expect(again).toMatchObject({ parsed: 1, outlinks: PAGES + 3 });
  });

  it('updatedb applies it', async () => {
    expect(await json<UpdateSummary>(['updatedb'], { cwd })).toMatchObject({ segment, new: 1, newUrls: PAGES + 3 });
  });

  it('fetch --parse does both for the next segment', async () => {
    await json(['generate'], { cwd });
    const summary = await json<FetchSummary & { parse: ParseSummary }>(['fetch', '--parse', ...network()], {
      cwd,
    });
    expect(summary).toMatchObject({ fetched: PAGES, gone: 1, redirected: 1, robotsDenied: 1 });
    expect(summary.parse).toMatchObject({ parsed: PAGES, failed: 0 });
    expect(await json<UpdateSummary>(['updatedb', '--no-additions'], { cwd })).toMatchObject({ new: PAGES });
  });

  it('a step without a segment in the state it expects says so', async () => {
    const { code, stderr } = await run(['fetch', ...network()], { cwd });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^incrawl: .*segment/);
  });
});

describe('questions to the crawl db', { sequential: true }, () => {
  it('readdb --stats', async () => {
    const stats = await json<DbStats>(['readdb', '--stats'], { cwd });
    expect(stats).toMatchObject({
      urls: PAGES + 4,
      hosts: 1,
      byStatus: { fetched: PAGES + 1, gone: 1, redir_perm: 1, unfetched: 1 },
    });
    expect(stats.interval).toMatchObject({ min: expect.any(Number), p50: expect.any(Number), p95: expect.any(Number) });
    expect((await run(['readdb'], { cwd })).stdout).toMatch(/^urls +8$/m);
  });

  it('readdb --seen', async () => {
    const seen = await json<SeenView>(['readdb', '--seen'], { cwd });
    expect(seen).toMatchObject({
      trust: 'exact',
      cache: { kind: 'weighted', urls: 65_536 },
      mayLose: 0,
      filter: { kind: 'leveldb', urls: PAGES + 4, hashes: 10, rootLeaves: 2, splits: 0, falsePositiveRate: 0.001 },
    });
    expect(seen.asked.probes).toBeGreaterThan(0);
    expect(seen.asked.cacheHits + seen.asked.filterNew + seen.asked.reads).toBe(seen.asked.probes);
    const { stdout } = await run(['readdb', '--seen'], { cwd });
    expect(stdout).toMatch(/^trust +exact: no new URL is lost$/m);
    expect(stdout).toMatch(/^leaf +urls +of +bits +set$/m);
    const trusting = ['readdb', '--seen', '-D', 'seen.trust=bloom'];
    expect((await run(trusting, { cwd })).stdout).toMatch(/^trust +bloom: up to .* % of new URLs are lost$/m);
    expect(await json(['readdb', '--seen', '-D', 'seen.filter=off'], { cwd })).toMatchObject({ filter: null });
  });

  it('readdb --url', async () => {
    const record = await json<RecordView>(['readdb', '--url', `${site.origin}/page/2`], { cwd });
    expect(record).toMatchObject({ state: 'fetched', title: '=Page 2', httpStatus: 200, failures: 0, seed: false });
    expect(record.signature).toMatch(/^[0-9a-f]{16}$/);
    expect(new Date(record.nextFetchAt ?? '').getTime() - new Date(record.lastFetchAt ?? '').getTime()).toBeGreaterThan(
      0,
    );
    expect(record.interval).toBeGreaterThanOrEqual(3600);
    expect((await run(['readdb', '--url', `${site.origin}/page/2`], { cwd })).stdout).toContain('=Page 2');
    expect(await json(['readdb', '--url', `${site.origin}/absent`], { cwd, code: 1 })).toBeNull();
  });

  it('readdb --dump, by host, by state, as table, JSON, JSON lines and CSV', async () => {
    const host = site.origin.slice('http://'.length);
    expect(await json<RecordView[]>(['readdb', '--dump'], { cwd })).toHaveLength(PAGES + 4);
    expect(await json<RecordView[]>(['readdb', '--host', host, '--status', 'gone'], { cwd })).toMatchObject([
      { url: `${site.origin}/missing` },
    ]);
    expect(await json<RecordView[]>(['readdb', '--host', 'elsewhere.test'], { cwd })).toEqual([]);
    expect(await json<RecordView[]>(['readdb', '--dump', '--limit', '2'], { cwd })).toHaveLength(2);
    expect(await json<RecordView[]>(['readdb', '--prefix', `${site.origin}/page/`], { cwd })).toHaveLength(PAGES);
    const lines = (await run(['readdb', '--dump', '--format', 'jsonl'], { cwd })).stdout.trimEnd().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as RecordView).url)).toHaveLength(PAGES + 4);
    const csv = (await run(['readdb', '--dump', '--status', 'fetched', '--format', 'csv'], { cwd })).stdout;
    expect(csv).toMatch(/^url,state,/);
    expect(csv).toContain(",'=Page 1,");
    expect((await run(['readdb', '--dump'], { cwd })).stdout.trimEnd().split('\n')).toHaveLength(PAGES + 5);
  });

  it('readdb --top-n, --due, --hosts', async () => {
    const top = await json<RecordView[]>(['readdb', '--top-n', '3'], { cwd });
    expect(top).toHaveLength(3);
    expect(top.map((each) => each.score)).toEqual(top.map((each) => each.score).sort((a, b) => b - a));
    const due = await json<DueView[]>(['readdb', '--due', '--limit', '5'], { cwd });
    for (const entry of due) expect(new Date(entry.dueAt).getTime()).toBeLessThanOrEqual(Date.now());
    const hosts = await json<HostView[]>(['readdb', '--hosts'], { cwd });
    expect(hosts).toMatchObject([{ urls: PAGES + 4, headersTrusted: true }]);
  });

  it('readseg --list, --get, --dump', async () => {
    const list = await json<SegmentView[]>(['readseg', '--list'], { cwd });
    expect(list).toMatchObject([{ id: segment, state: 'updated', urls: 1, fetched: 1 }, { urls: PAGES + 3 }]);
    const page = await json<SegmentRecordView>(['readseg', '--get', `${site.origin}/page/1`], { cwd });
    expect(page).toMatchObject({ fetched: { outcome: { kind: 'success' } }, response: { status: 200 } });
    expect(page.response?.body).toContain('<title>=Page 1</title>');
    expect((await run(['readseg', '--get', `${site.origin}/page/1`], { cwd })).stdout).toContain('success 200');
    expect(await json(['readseg', '--get', `${site.origin}/absent`], { cwd, code: 1 })).toBeNull();
    expect(await json<SegmentRecordView[]>(['readseg', '--dump', segment], { cwd })).toHaveLength(1);
    expect((await run(['readseg', '--dump'], { cwd })).stdout).toContain('redirect 301');
  });

  it('explain says why', async () => {
    const page = await json<Explanation>(['explain', `${site.origin}/page/1`], { cwd });
    expect(page).toMatchObject({ admitted: true, record: { state: 'fetched' }, schedule: { name: 'freshness' } });
    expect(page.why.join(' ')).toContain('next due');
    const denied = await json<Explanation>(['explain', `${site.origin}/private/x`], { cwd });
    expect(denied.why.join(' ')).toContain('robots.txt');
    const unknown = await run(['explain', `${site.origin}/never-seen`], { cwd });
    expect(unknown).toMatchObject({ code: 0, stdout: expect.stringContaining('not in the crawl db') });
  });

  it('export writes JSON lines to stdout or into a file', async () => {
    const { code, stdout } = await run(['export', '--format', 'jsonl', '--status', 'fetched'], { cwd });
    expect(code).toBe(0);
    const documents = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { url: string; text: string });
    expect(documents.map((each) => each.url).sort()).toHaveLength(PAGES + 1);
    expect(documents.find((each) => each.url === `${site.origin}/`)?.text).toContain('Welcome to the start.');
    expect(await json(['export', '-o', 'pages.jsonl', '--status', 'fetched'], { cwd })).toMatchObject({
      format: 'jsonl',
    });
    expect(readFileSync(join(cwd, 'pages.jsonl'), 'utf8')).toBe(stdout);
    expect((await run(['export', '--format', 'nonsense', '-o', 'x'], { cwd })).code).not.toBe(0);
    expect(existsSync(join(cwd, 'x.partial'))).toBe(false);
    expect(readdirSync(cwd).filter((name) => name.includes('partial'))).toEqual([]);
  });
});
