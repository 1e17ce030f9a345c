import { readdirSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { newDatum } from '../../../src/core/domain/crawl/states/datum.ts';
import type { SettlePolicy } from '../../../src/core/domain/crawl/states/settle.ts';
import { hostOf, urlKey } from '../../../src/core/domain/url/canonical/url-key.ts';
import { type LinkedUrls, PURGED_KEY, type SeenUrls } from '../../../src/core/ports/seen-filter.ts';
import { sweepOrphans } from '../../../src/core/steps/update/orphans.ts';
import { openFileLinkedUrls } from '../../../src/store/files/sorting/linked-urls.ts';
import { A, HOST_PLAN, signed } from '../../contracts/fingerprint-tables.contract.ts';
import { createMemoryCrawlDb } from '../../memory/crawl-db.ts';
import { createMemoryFingerprintTables } from '../../memory/fingerprint-tables.ts';
import { temporaryFolders } from '../../store/files/temporary-folder.ts';

const HOME = 'https://a.org/';
const FIRST = 'https://a.org/first';
const REPEAT = 'https://a.org/repeat';
const OTHER = '027ae506f43db69d';

const newFolder = temporaryFolders();
const openInMemory = (): Promise<LinkedUrls> => openFileLinkedUrls({ dir: 'unused', bounds: [] });

/** A home page, and a page that repeats another, to which nothing links yet. */
async function swept() {
  const db = createMemoryCrawlDb();
  const tables = createMemoryFingerprintTables({ db, ...HOST_PLAN });
  const repeat = signed(REPEAT, A, { seed: false, state: 'duplicate', target: FIRST, referrer: HOME });
  const puts = [signed(HOME, OTHER, { seed: true }), signed(FIRST, A, { seed: true }), repeat];
  await db.write({ puts: puts.map((datum) => ({ datum, previous: null })) });
  // "orphaned" and "linked" ask the policy nothing.
  const seen = { remove: () => {} } as unknown as SeenUrls;
  const deps = { db, seen, policy: {} as SettlePolicy, openLinkedUrls: openInMemory, forwarding: null };
  const options = { mode: 'mark', repeats: { distance: 3, minOverlap: 0 }, now: 50 } as const;
  const sweep = async (links: readonly string[], near: Parameters<typeof sweepOrphans>[0]['near']) => {
    await db.write({ links: [{ url: HOME, targets: links }] });
    return sweepOrphans({ ...deps, near }, options);
  };
  const reported = async () => {
    const kinds: string[] = [];
    for await (const { kind, url } of db.changes({})) kinds.push(`${kind} ${url}`);
    return kinds;
  };
  return { db, tables: { tables, scopeOf: hostOf }, sweep, reported };
}

describe('the sweep for orphans', () => {
  it('a revived orphan that still repeats its page is a duplicate again, and no change', async () => {
    const { db, tables, sweep, reported } = await swept();
    expect(await sweep([], tables)).toEqual({ orphaned: 1, revived: 0, purged: 0 });
    expect(await db.get(REPEAT)).toMatchObject({ state: 'orphan', nextFetchAt: null });
    expect(await sweep([REPEAT], tables)).toEqual({ orphaned: 0, revived: 1, purged: 0 });
    expect(await db.get(REPEAT)).toMatchObject({ state: 'duplicate', target: FIRST, nextFetchAt: 50 });
    expect(await reported()).toEqual([]);
  });

  it('a revived orphan that repeats no page any more is a change', async () => {
    const { db, sweep, reported } = await swept();
    await sweep([], null);
    await sweep([REPEAT], null);
    expect(await db.get(REPEAT)).toMatchObject({ state: 'fetched', target: null, nextFetchAt: 50 });
    expect(await reported()).toEqual([`back ${REPEAT}`]);
  });

  it('in parts finds the orphans of one part, whatever the sizes of the hosts, and reads the links once', async () => {
    const site = fc.record({ pages: fc.integer({ min: 1, max: 12 }), linked: fc.array(fc.nat(11)) });
    await fc.assert(
      fc.asyncProperty(fc.array(site, { minLength: 1, maxLength: 6 }), fc.integer({ min: 1, max: 8 }), sweptInParts),
      { numRuns: 60 },
    );
  });
});

async function sweptInParts(
  sites: readonly { readonly pages: number; readonly linked: readonly number[] }[],
  urlsPerPart: number,
): Promise<void> {
  const folder = newFolder();
  const urlOf = (site: number, page: number): string => `https://s${site}.org/${page}`;
  const db = createMemoryCrawlDb();
  const all = sites.flatMap(({ pages }, site) => Array.from({ length: pages }, (_, page) => urlOf(site, page)));
  const targets = sites.flatMap(({ linked }, site) => linked.map((page) => urlOf(site, page)));
  const home = newDatum({ url: HOME, now: 1, intervalMs: 1, seed: true });
  const datums = [home, ...all.map((url) => newDatum({ url, now: 1, intervalMs: 1, referrer: HOME }))];
  await db.write({
    puts: datums.map((datum) => ({ datum, previous: null })),
    links: [{ url: HOME, targets }],
  });
  const scanLinks = vi.spyOn(db, 'scanLinks');
  let largest = 0;
  const openLinkedUrls = (bounds: readonly string[]): Promise<LinkedUrls> => {
    expect(bounds).toEqual([...bounds].sort());
    const keys = datums.map(({ url }) => urlKey(url)).sort();
    for (const [i, from] of ['', ...bounds].entries()) {
      largest = Math.max(
        largest,
        keys.filter((key) => key >= from && (bounds[i] === undefined || key < bounds[i])).length,
      );
    }
    return openFileLinkedUrls({ dir: folder, bounds, remembered: 3 });
  };
  const seen = { remove: () => {} } as unknown as SeenUrls;
  const summary = await sweepOrphans(
    { db, seen, policy: {} as SettlePolicy, near: null, openLinkedUrls, forwarding: null },
    { mode: 'mark', repeats: { distance: 3, minOverlap: 0 }, now: 50, urlsPerPart },
  );
  const orphans: string[] = [];
  for await (const { url } of db.scan({ state: 'orphan' })) orphans.push(url);
  expect(orphans.sort()).toEqual(all.filter((url) => !targets.includes(url)).sort());
  expect(summary).toEqual({ orphaned: orphans.length, revived: 0, purged: 0 });
  expect(scanLinks).toHaveBeenCalledTimes(1);
  expect(largest).toBeLessThanOrEqual(urlsPerPart);
  expect(readdirSync(folder)).toEqual([]);
}

it('a purge leaves its mark in the crawl db, by which other processes forget the URLs that they know', async () => {
  const db = createMemoryCrawlDb();
  const page = newDatum({ url: 'https://a.org/', now: 1, intervalMs: 1, seed: true });
  const lost = { ...newDatum({ url: 'https://a.org/lost', now: 1, intervalMs: 1, depth: 1 }), referrer: page.url };
  await db.write({ puts: [page, lost].map((datum) => ({ datum, previous: null })) });
  const seen = { remove: () => {} } as unknown as SeenUrls;
  await sweepOrphans(
    { db, seen, policy: {} as SettlePolicy, near: null, openLinkedUrls: openInMemory, forwarding: null },
    { mode: 'purge', repeats: { distance: 3, minOverlap: 0 }, now: 50 },
  );
  expect(await db.get(lost.url)).toBeUndefined();
  expect(await db.meta(PURGED_KEY)).toBe('50');
});

it.each(['mark', 'purge'] as const)(
  '%s: pages that no page was known to link to stay, and orphans among them are found',
  async (mode) => {
    const db = createMemoryCrawlDb();
    const from = (name: string, more: object = {}) => ({
      ...newDatum({ url: `https://a.org/${name}`, now: 1, intervalMs: 1 }),
      ...more,
    });
    const home = newDatum({ url: HOME, now: 1, intervalMs: 1, seed: true });
    const orphans = [
      from('lost', { state: 'orphan', nextFetchAt: null }),
      from('back', { state: 'orphan', nextFetchAt: null }),
    ];
    const puts = [home, from('listed'), from('taken-over', { state: 'fetched' }), ...orphans];
    await db.write({
      puts: puts.map((datum) => ({ datum, previous: null })),
      links: [{ url: HOME, targets: ['https://a.org/back'] }],
    });
    const seen = { remove: () => {} } as unknown as SeenUrls;
    const deps = { db, seen, policy: {} as SettlePolicy, near: null, openLinkedUrls: openInMemory, forwarding: null };
    const summary = await sweepOrphans(deps, { mode, repeats: { distance: 3, minOverlap: 0 }, now: 50 });
    expect(summary).toEqual({ orphaned: 0, revived: 1, purged: mode === 'purge' ? 1 : 0 });
    const states: string[] = [];
    for await (const { url, state } of db.scan()) states.push(`${url.slice(HOME.length)} ${state}`);
    const lost = mode === 'purge' ? [] : ['lost orphan'];
    expect(states.sort()).toEqual(
      [' unfetched', 'back unfetched', 'listed unfetched', ...lost, 'taken-over fetched'].sort(),
    );
  },
);
