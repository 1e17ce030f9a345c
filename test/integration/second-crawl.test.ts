import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defaultConfig } from '../../src/core/config/load.ts';
import { type Crawler, openCrawler } from '../../src/crawler/index.ts';
import { startTestSite, type TestSite } from './site.ts';

const DAY = 86_400_000;
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** Crawls of a local server, checked against the server's log. */
describe('a second crawl', () => {
  let site: TestSite;
  let crawler: Crawler;
  let dir: string;
  let now = Date.UTC(2026, 5, 1);
  const changed = [5, 17, 50, 101, 202];
  const removed = [77, 150];

  beforeAll(async () => {
    site = await startTestSite(300);
    dir = await mkdtemp(join(tmpdir(), 'incrawl-second-'));
    const config = defaultConfig(['fetch.delay=0', 'http.allowAddresses=["127.0.0.1"]', 'fetch.auditShare=0']);
    crawler = await openCrawler({ config, dir, log: silent, clock: { now: () => now, sleep: async () => {} } });
  });
  afterAll(async () => {
    await crawler?.close();
    await site?.close();
    await rm(dir, { recursive: true, force: true });
  });

  it('the first one fetches every reachable page, none twice', async () => {
    const summary = await crawler.crawl({ seeds: [{ name: 'test', lines: [`${site.origin}/p/0`] }] });
    expect(summary.stoppedBy).toBe('nothing-due');
    const pages = site.log.filter((request) => request.path.startsWith('/p/'));
    expect(pages).toHaveLength(site.pages);
    expect(new Set(pages.map((request) => request.path)).size).toBe(site.pages);
    expect((await crawler.stats()).byStatus).toEqual({ fetched: site.pages });
    expect(site.log.filter((request) => request.path === '/robots.txt')).toHaveLength(1);
  });

  it('finds every changed and removed page, and transfers no body of an unchanged page with validators', async () => {
    for (const page of changed) site.versions[page]!++;
    for (const page of removed) site.removed.add(page);
    site.log.length = 0;
    now += 40 * DAY;
    const { totals } = await crawler.crawl();
    expect(totals.modified).toBe(changed.length);
    expect(totals.gone).toBe(removed.length);
    expect(totals.new).toBe(0);
    // Pages of kind 3 have no validators: a change shows in the body alone.
    const silentPages = (path: string): boolean => Number(path.slice(3)) % 4 === 3;
    const unchanged = site.log.filter(
      (request) =>
        request.method === 'GET' &&
        request.status === 200 &&
        request.path.startsWith('/p/') &&
        !silentPages(request.path) &&
        !changed.includes(Number(request.path.slice(3))),
    );
    // Pages of kind 1 are known by their headers; how much of a dropped body arrives depends on the sockets.
    const isDropped = ({ path }: { readonly path: string }): boolean => Number(path.slice(3)) % 4 === 1;
    expect(unchanged.filter((request) => !isDropped(request))).toEqual([]);
    expect(totals.skippedByHeaders).toBeGreaterThan(60);
    expect(totals.notModified).toBeGreaterThan(130);
    const mustTransfer = [...Array(site.pages).keys()]
      .filter((page) => !site.removed.has(page) && (changed.includes(page) || page % 4 === 3))
      .reduce((sum, page) => sum + site.bodyBytesOf(page), 0);
    const dropped = unchanged
      .filter(isDropped)
      .reduce((sum, { path }) => sum + site.bodyBytesOf(Number(path.slice(3))), 0);
    expect(totals.bodyBytes).toBeLessThanOrEqual(1.05 * mustTransfer + dropped);
  });

  it('keeps the links of unchanged pages: a sweep finds only what a removed page alone linked to', async () => {
    now += 30 * DAY;
    await crawler.crawl();
    const states = (await crawler.stats()).byStatus;
    expect(states.gone).toBe(removed.length);
    expect(states.orphan ?? 0).toBe(0);
  });

  it('explains each visit', async () => {
    const explanation = await crawler.explain(`${site.origin}/p/5`);
    expect(explanation.record?.visits.some((visit) => visit.outcome === 'modified')).toBe(true);
    expect(explanation.robots).toMatchObject({ allowed: true });
    expect(explanation.schedule?.terms.map((term) => term.label)).toContain('a visit pays at a chance of a change of');
    const denied = await crawler.explain(`${site.origin}/never`);
    expect(denied.robots).toMatchObject({ allowed: false, rule: { line: 2 } });
    expect(denied.record).toBeNull();
  });
});
