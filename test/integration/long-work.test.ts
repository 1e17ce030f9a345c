import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { defaultConfig } from '../../src/core/config/load.ts';
import {
  backupState,
  checkBackup,
  openCrawler,
  openReader,
  openSnapshot,
  type Reader,
  repairState,
  verifyState,
  type WorkProgress,
} from '../../src/crawler/index.ts';
import { PAGE, seed, visiting } from './visiting.ts';

const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const root = mkdtempSync(join(tmpdir(), 'incrawl-work-'));
const dir = join(root, 'crawldb');
const config = defaultConfig(['agent.contact=me@example.org']);
const URLS = 2_500;
const seeds = { name: 'test', lines: Array.from({ length: URLS }, (_, i) => `https://h${i % 7}.example.org/${i}`) };

const own: WorkProgress[] = [];
let seen = own;
const onWork = (progress: WorkProgress): void => void own.push(progress);
const options = { config, dir, log, onWork };

/** The last report of each phrase. No count exceeds its total. */
function reports(): Record<string, readonly [number, number | null]> {
  const last: Record<string, readonly [number, number | null]> = {};
  for (const { work, done, total } of seen) {
    expect(done).toBeLessThanOrEqual(total ?? done);
    last[work] = [done, total];
  }
  seen.length = 0;
  return last;
}

const asking = async (ask: (reader: Reader) => Promise<unknown>): Promise<ReturnType<typeof reports>> => {
  const reader = openReader({ dir, log, configured: async () => ({ config, baseDir: root }), onWork });
  await ask(reader).finally(reader.close);
  return reports();
};
const all = async (rows: AsyncIterable<unknown>): Promise<void> => {
  for await (const _ of rows);
};

beforeAll(async () => {
  const crawler = await openCrawler(options);
  await crawler.inject([seeds]);
  await crawler.close();
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

it('inject', () => expect(reports()).toEqual({ 'adding seeds': [URLS, null] }));

it.each<[string, (reader: Reader) => Promise<unknown>, string, number | null]>([
  ['readdb --where', (reader) => all(reader.records({ where: 'url ~ 24' })), 'reading records', URLS],
  ['readdb --host', (reader) => all(reader.records({ host: 'h1.example.org' })), 'reading records', null],
  ['readdb --due', (reader) => all(reader.due()), 'reading the due index', null],
  ['readdb --stats --full', (reader) => reader.stats({ full: true }), 'reading the due index', null],
  ['simulate', (reader) => reader.simulate({ schedules: ['fixed'] }), 'replaying visits of records', null],
])('%s', async (_command, ask, work, total) => {
  const reported = await asking(ask);
  expect(reported).toEqual({ [work]: [expect.any(Number), total] });
  expect(reported[work]?.[0]).toBeGreaterThan(0);
});

it('a dry run of generate, and generate', async () => {
  const copy = await openSnapshot({ ...options, dir }, { written: [] });
  await copy.generate({ dryRun: true }).finally(copy.close);
  expect(reports()).toEqual({ 'reading the due index': [URLS, null] });
  const other = await openSnapshot({ ...options, dir }, { written: [] });
  await other.generate().finally(other.close);
  expect(reports()).toMatchObject({ 'writing the fetch list': [2_000, URLS] });
});

it('dedup, retry, db export', async () => {
  const crawler = await openSnapshot({ ...options, dir }, { written: [] });
  await crawler.dedup({ prefer: [], dryRun: true });
  expect(reports()).toEqual({ 'reading signatures': [URLS, URLS], 'comparing signatures': [0, null] });
  await crawler.retry({ dryRun: true });
  expect(reports()).toEqual({ 'reading records': [URLS, null] });
  await all(crawler.exportDb());
  expect(reports()).toEqual({ 'exporting rows': [expect.any(Number), null] });
  await crawler.close();
});

it('verify, backup, repair', async () => {
  await verifyState(options);
  expect(reports()).toMatchObject({ 'checking records': [URLS, URLS] });
  await backupState(dir, join(root, 'backup'), { log, onWork });
  expect(reports()).toMatchObject({ 'copying rows of the crawl db': [expect.any(Number), null] });
  await checkBackup(join(root, 'backup'), { log, onWork });
  expect(reports()).toMatchObject({ 'checking rows of the crawl db': [expect.any(Number), null] });
  await repairState(options);
  expect(reports()).toMatchObject({ 'checking records': [URLS, URLS] });
});

it('updatedb, parse, export, links of stored pages', async () => {
  const { crawler, origin, work } = await visiting((_request, response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE),
  );
  seen = work;
  await crawler.crawl({ ...seed(`${origin}/`), rounds: 1 });
  expect(reports()).toMatchObject({ 'adding seeds': [1, null], 'applying the segment': [1, 1] });
  await crawler.readmitLinks();
  expect(reports()).toEqual({ 'filtering links of stored pages': [1, null] });
  await crawler.reparse({ dryRun: true });
  expect(reports()).toMatchObject({ 'parsing stored pages': [1, 1] });
  await crawler.export({ format: 'jsonl' }, { place: null, write: async () => {} });
  expect(reports()).toEqual({ 'exporting pages': [1, null] });
  await all(crawler.linkClusters());
  expect(reports()).toEqual({ 'reading outlinks': [1, null] });
  await crawler.pruneSegments({ keepMs: 0, compact: false, dryRun: true });
  expect(reports()).toEqual({ 'reading segments': [0, 1] });
});
