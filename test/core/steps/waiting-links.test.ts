import { describe, expect, it, vi } from 'vitest';
import { type CrawlDatum, newDatum } from '../../../src/core/domain/crawl/states/datum.ts';
import { DAY_MS } from '../../../src/core/domain/time.ts';
import type { CrawlDb } from '../../../src/core/ports/crawl-db.ts';
import { NO_SKIP_SINK } from '../../../src/core/steps/counters/outcome-counts.ts';
import { UrlAdmission } from '../../../src/core/steps/update/admission.ts';
import { type FamilySharing, WAITING_KEY } from '../../../src/core/steps/update/like-urls/host-book.ts';
import { admitWaitingDaily, type WaitingOptions } from '../../../src/core/steps/update/like-urls/waiting-links.ts';
import { LinkFamilies, QueryVariants } from '../../../src/core/steps/update/link-treatment.ts';
import { createMemoryCrawlDb } from '../../memory/crawl-db.ts';
import { createMemorySeenUrls } from '../../memory/seen-urls.ts';

const HOST = 'a.org';
/** More than twice as many as a book of a host remembers. */
const PAGES = 12_000;
const OPTIONS: WaitingOptions = {
  beyondVariants: 'follow',
  noise: 'demote',
  maxLayers: Number.POSITIVE_INFINITY,
  initialIntervalMs: 1_000,
};

const hub = (n: number): string => `https://${HOST}/hub/${n}`;
const target = (n: number): string => `https://${HOST}/like/${n}`;

/** Pages of one link each, which waits for the share of the family of all these links. */
async function waitingDb(): Promise<CrawlDb> {
  const db = createMemoryCrawlDb();
  const pages = Array.from({ length: PAGES }, (_, n): CrawlDatum => {
    const page = newDatum({ url: hub(n), now: 1, intervalMs: 1_000 });
    return { ...page, state: 'fetched', lastFetchAt: 1, metadata: { [WAITING_KEY]: 1 } };
  });
  await db.write({
    puts: pages.map((datum) => ({ datum, previous: null })),
    links: pages.map(({ url }, n) => ({ url, targets: [target(n)] })),
    meta: { 'likeUrls.waiting': JSON.stringify({ [HOST]: 1 }) },
  });
  return db;
}

interface Chance {
  readonly quota: number;
  readonly days: number;
  /** Pages whose first visit brings something new: each makes room for a hundred more. */
  readonly visited?: readonly string[];
}

/** Judges what waits, as a process that knows nothing but the crawl db, days later than the last. */
async function admitted(db: CrawlDb, { quota, days, visited = [] }: Chance) {
  const now = days * DAY_MS;
  const sharing: FamilySharing = {
    ...{ growth: 100, trial: 0, maxFamilies: 1_000, free: 0, demote: 1 },
    familiesOf: (url) => [{ name: url.slice(0, url.lastIndexOf('/')), quota }],
  };
  const scan = vi.spyOn(db, 'scan');
  const links = {
    seen: createMemorySeenUrls({ hasMany: (urls) => db.hasMany(urls) }),
    urls: { apply: (url: string) => ({ url, reason: null }) },
    scores: { seedScore: () => 1, outlinkScore: () => 1 },
    seedHosts: new Set<string>(),
    variants: new QueryVariants(db, 0),
    admission: new UrlAdmission(db, [], { name: 'like', sharing, now: () => now }),
    families: new LinkFamilies({ db, domainOf: (host) => host, treatment: 'demote' }),
    skips: NO_SKIP_SINK,
    ...{ filteredBy: {}, demotedBy: {} },
  };
  const texts = visited.map((url, n) => ({
    ...newDatum({ url, now, intervalMs: 1 }),
    ...{ state: 'fetched' as const, lastFetchAt: now, signature: `${n + 1}`.repeat(16).slice(0, 16) },
  }));
  await links.admission.judge([], texts);
  const clock = { now: () => now, sleep: () => Promise.resolve() };
  const entered: string[] = [];
  const onAdded = (added: readonly CrawlDatum[]) => void entered.push(...added.map(({ url }) => url));
  await admitWaitingDaily({ db, clock, links }, { ...OPTIONS, onAdded });
  const scans = scan.mock.calls.length;
  scan.mockRestore();
  return { scans, entered };
}

describe('links that wait on more pages than are remembered', () => {
  it('all enter where there is room, and the records of the host are read twice', async () => {
    const db = await waitingDb();
    const { scans, entered } = await admitted(db, { quota: 2 * PAGES, days: 2 });
    expect(new Set(entered).size).toBe(PAGES);
    expect(scans).toBe(2);
    expect((await admitted(db, { quota: 2 * PAGES, days: 4 })).scans).toBe(0);
    const [page] = await db.getMany([hub(PAGES - 1)]);
    expect(page?.metadata).toEqual({});
  });

  it('enter as far as there is room, and the others when there is more', async () => {
    const db = await waitingDb();
    const some = await admitted(db, { quota: 7_000, days: 2 });
    expect(some.entered).toHaveLength(7_000);
    expect(await admitted(db, { quota: 7_000, days: 4 })).toEqual({ scans: 0, entered: [] });
    const rest = await admitted(db, { quota: 7_000, days: 6, visited: some.entered.slice(0, 60) });
    expect(new Set([...some.entered, ...rest.entered]).size).toBe(PAGES);
    expect(rest.scans).toBe(1);
    expect((await db.metas())['likeUrls.waiting']).toBe('{}');
  });
});
