import { expect, it } from 'vitest';
import { dueFacts } from '../../../src/core/domain/crawl/revisit/next-visit.ts';
import { createFreshnessSchedule, FRESHNESS_DEFAULTS } from '../../../src/core/domain/crawl/schedules/freshness.ts';
import { type CrawlDatum, newDatum } from '../../../src/core/domain/crawl/states/datum.ts';
import type { SettlePolicy } from '../../../src/core/domain/crawl/states/settle.ts';
import { missingPageUrl } from '../../../src/core/domain/crawl/states/soft-404.ts';
import { hostOf } from '../../../src/core/domain/url/canonical/url-key.ts';
import { NO_HOST_FACTS } from '../../../src/core/ports/crawl-db.ts';
import type { FetchedRecord, RoundBounds } from '../../../src/core/ports/segment-store.ts';
import { NO_SKIP_SINK } from '../../../src/core/steps/counters/outcome-counts.ts';
import { type FollowOptions, followRedirects } from '../../../src/core/steps/fetch/follow-redirects.ts';
import { UrlAdmission } from '../../../src/core/steps/update/admission.ts';
import type { UpdateOptions } from '../../../src/core/steps/update/apply-chunk.ts';
import { LinkFamilies, QueryVariants } from '../../../src/core/steps/update/link-treatment.ts';
import { updateFromSegment } from '../../../src/core/steps/update/updatedb.ts';
import { fetchItem } from '../../contracts/segment-records.ts';
import { createMemoryCrawlDb } from '../../memory/crawl-db.ts';
import { createMemorySeenUrls } from '../../memory/seen-urls.ts';
import { createMemorySegmentStore } from '../../memory/segment-store.ts';

const NOW = Date.UTC(2026, 5, 1);
const BOUNDS: RoundBounds = {
  ...{ free: 100, isCharged: false, maxPerHost: 0, maxPerDomain: 0, minScore: 0, minIntervalMs: 0 },
};
const OPTIONS: FollowOptions = {
  maxRedirects: 20,
  additions: true,
  beyondVariants: 'follow',
  initialIntervalMs: 1,
  auditShare: 0,
};

const POLICY = { schedule: createFreshnessSchedule(FRESHNESS_DEFAULTS) } as SettlePolicy;
const UPDATE: UpdateOptions = {
  ...{ additions: true, purgeGone: false, chunk: 500, maxOutlinksPerPage: 100, followNofollow: false },
  ...{ followVariants: false, beyondVariants: 'demote', noise: 'demote', maxLayers: 9, soft404: false, distrustMs: 1 },
  repeats: { distance: 3, minOverlap: 0, keep: 'first', skipOutlinks: false },
};

const redirect = (from: string, target: string): FetchedRecord => ({
  ...{ index: 0, url: from, host: hostOf(from), warc: null, observation: null },
  outcome: {
    ...{ kind: 'redirect', status: 302, permanent: false, target, at: NOW - 5 },
    ...{ requests: 1, bodyBytes: 0, receivedBytes: 0, ms: 1 },
  },
});

/** A round in which `http://a.org/<n>` were selected, each a seed. */
async function round(bounds: RoundBounds = BOUNDS, seeds = 3) {
  const db = createMemoryCrawlDb();
  const segments = createMemorySegmentStore();
  const data = Array.from({ length: seeds }, (_, i) =>
    newDatum({ url: `http://a.org/${i}`, now: 0, intervalMs: 1, seed: true }),
  );
  const items = data.map(({ url }, index) => ({ ...fetchItem(index), url, host: 'a.org' }));
  const info = { id: 's1', createdAt: 0, hosts: { 'a.org': NO_HOST_FACTS }, bounds };
  const list = { info, items };
  await segments.create(info, items);
  const entries = data.map((datum) => ({ ...dueFacts(datum), dueAt: 0 }));
  await db.write({ puts: data.map((datum) => ({ datum, previous: null })), lease: { segment: 's1', entries } });
  const segment = await segments.open('s1', 'write');
  const deps = {
    db,
    clock: { now: () => NOW, sleep: async () => {} },
    links: {
      seen: createMemorySeenUrls({ hasMany: (urls) => db.hasMany(urls) }),
      urls: { apply: (url: string) => ({ url, reason: null }) },
      scores: { seedScore: () => 1, outlinkScore: () => 0.5 },
      seedHosts: new Set(['a.org']),
      variants: new QueryVariants(db, 0),
      admission: new UrlAdmission(db, []),
      families: new LinkFamilies({ db, domainOf: (host: string) => host, treatment: 'demote' as const }),
      skips: NO_SKIP_SINK,
    },
    domainOf: (host: string) => host.split('.').slice(-2).join('.'),
    partition: () => 7,
    mayRequest: (host: string) => host !== 'public.org',
    random: () => 0.5,
  };
  const open = () => followRedirects(deps, segment, OPTIONS);
  const follow = await open();
  return { db, deps, list, segment, segments, open, follow };
}

const urlsOf = (items: readonly { readonly url: string }[] | undefined): string[] =>
  (items ?? []).map(({ url }) => url);

it('gives a target its place in the list, a record and a lease', async () => {
  const { db, segment, follow } = await round();
  await db.write({ hostFacts: [{ host: 'b.org', facts: { ...NO_HOST_FACTS, restUntil: 5 } }] });
  const [item, ...more] = (await follow?.([redirect('http://a.org/1', 'http://b.org/x')])) ?? [];
  expect(more).toEqual([]);
  expect(item).toMatchObject({
    ...{ index: 3, url: 'http://b.org/x', host: 'b.org', partition: 7, depth: 1, score: 0.5 },
    joined: { from: 'http://a.org/1', isNew: true, isOfSeed: false },
  });
  expect(segment.info).toMatchObject({ urls: 4, followed: 1, hosts: { 'b.org': { restUntil: 5 } } });
  expect(await db.get('http://b.org/x')).toMatchObject({
    ...{ referrer: 'http://a.org/1', discoveredAt: NOW - 5, metadata: { redirects: 1 } },
  });
  expect(await db.leases(['http://b.org/x'])).toMatchObject([{ segment: 's1' }]);
});

it('takes each target once, whoever asks', async () => {
  const { follow } = await round();
  const all = [0, 1, 2].map((n) => redirect(`http://a.org/${n}`, 'http://a.org/new'));
  expect(urlsOf(await follow?.(all))).toEqual(['http://a.org/new']);
  expect(await follow?.([redirect('http://a.org/0', 'http://a.org/new')])).toEqual([]);
  // In the list that generate made.
  expect(await follow?.([redirect('http://a.org/0', 'http://a.org/2')])).toEqual([]);
});

it('leaves a URL that another segment has leased', async () => {
  const { db, follow } = await round();
  const datum = newDatum({ url: 'http://a.org/elsewhere', now: 0, intervalMs: 1 });
  const lease = { segment: 's2', entries: [{ ...dueFacts(datum), dueAt: 0 }] };
  await db.write({ puts: [{ datum, previous: null }], lease });
  expect(await follow?.([redirect('http://a.org/0', datum.url)])).toEqual([]);
  expect(await db.leases([datum.url])).toMatchObject([{ segment: 's2' }]);
});

it.each([
  ['due', NOW, 1],
  ['due later', NOW + 1, 0],
  ['not selected any more', null, 0],
])('a known URL that is %s', async (_, nextFetchAt, taken) => {
  const { db, follow } = await round();
  const datum = { ...newDatum({ url: 'http://a.org/known', now: 0, intervalMs: 1 }), nextFetchAt };
  await db.write({ puts: [{ datum, previous: null }] });
  const items = await follow?.([redirect('http://a.org/0', datum.url)]);
  expect(items).toMatchObject(Array.from({ length: taken }, () => ({ joined: { isNew: false } })));
});

it.each<[string, Partial<RoundBounds>, string[]]>([
  ['the round', { free: 2 }, ['http://b.org/0', 'http://b.org/1']],
  ['a full round', { free: 0 }, []],
  ['a host', { maxPerHost: 1 }, ['http://b.org/0']],
  ['a domain', { maxPerDomain: 2 }, ['http://b.org/0', 'http://b.org/1']],
  ['a score', { minScore: 0.6 }, []],
  ['an interval', { minIntervalMs: 2 }, []],
  ['a state', { status: ['gone'] }, []],
  ['layers', { maxLayers: 1 }, []],
  ['an expression', { where: 'url ~ /1' }, ['http://b.org/1']],
  ['more layers', { maxLayers: 2 }, [0, 1, 2].map((n) => `http://b.org/${n}`)],
])('the bounds of %s hold within one look-up', async (_, bounds, taken) => {
  const { db, follow } = await round({ ...BOUNDS, ...bounds });
  const redirects = [0, 1, 2].map((n) => redirect(`http://a.org/${n}`, `http://b.org/${n}`));
  expect(urlsOf(await follow?.(redirects))).toEqual(taken);
  // What stays out is left to updatedb, which judges the same redirects.
  expect(await db.get('http://b.org/2')).toEqual(taken.length === 3 ? expect.anything() : undefined);
});

it('the bounds of a round that goes on count what had joined it before', async () => {
  const { open, follow } = await round({ ...BOUNDS, free: 2, maxPerHost: 4 });
  expect(await follow?.([redirect('http://a.org/0', 'http://a.org/x')])).toHaveLength(1);
  const again = await open();
  expect(await again?.([redirect('http://a.org/1', 'http://a.org/y')])).toEqual([]);
  expect(await again?.([redirect('http://a.org/1', 'http://b.org/y')])).toHaveLength(1);
  expect(await (await open())?.([redirect('http://a.org/1', 'http://c.org/y')])).toEqual([]);
});

it('an item that a crash left without its lease gets it, and no second place in the list', async () => {
  const { db, segment, open, follow } = await round({ ...BOUNDS, free: 1 });
  const again = redirect('http://a.org/0', 'http://b.org/x');
  const [item] = (await follow?.([again])) ?? [];
  const stored = (await db.get('http://b.org/x'))!;
  await db.write({ deletes: [stored] });
  expect(await (await open())?.([again])).toEqual([]);
  expect(await db.leases(['http://b.org/x'])).toMatchObject([{ segment: 's1' }]);
  expect(await db.get('http://b.org/x')).toEqual(stored);
  expect(segment.info).toMatchObject({ urls: 4, followed: 1 });
  expect(item?.index).toBe(3);
});

it('a target whose item was lost with its process is due again once the segment is applied', async () => {
  const { db, deps, list, follow } = await round();
  await follow?.([redirect('http://a.org/0', 'http://b.org/x')]);
  const other = newDatum({ url: 'http://a.org/elsewhere', now: 0, intervalMs: 1 });
  await db.write({
    puts: [{ datum: other, previous: null }],
    lease: { segment: 's2', entries: [{ ...dueFacts(other), dueAt: 0 }] },
    segments: [{ id: 's1', state: 'generated', createdAt: 0, urls: 3, applied: 0 }],
  });
  // What another process finds: the list as generate has stored it.
  const segments = createMemorySegmentStore();
  await segments.create(list.info, list.items);
  const segment = await segments.open('s1', 'write');
  const again = await followRedirects(deps, segment, OPTIONS);
  expect(await again?.([redirect('http://a.org/0', 'http://b.org/x')])).toEqual([]);
  const summary = await updateFromSegment({ ...deps, policy: POLICY, near: null }, segment, UPDATE);
  expect(summary).toMatchObject({ released: 4 });
  expect(await db.leases(['http://b.org/x', other.url])).toMatchObject([undefined, { segment: 's2' }]);
  const due: string[] = [];
  for await (const entry of db.due({ until: NOW })) due.push(entry.url);
  expect(due.sort()).toEqual([...[0, 1, 2].map((n) => `http://a.org/${n}`), 'http://b.org/x']);
});

it.each([1, 500])('a target visited before its redirect, its record lost, is known by that visit', async (chunk) => {
  const { db, deps, segment, follow } = await round();
  const [item] = (await follow?.([redirect('http://a.org/1', 'http://b.org/x')])) ?? [];
  const stored = (await db.get('http://b.org/x')) as CrawlDatum;
  // What a power cut leaves: the item on disk, and none of the batch after it.
  await db.write({
    deletes: [stored],
    release: { segment: 's1', urls: ['http://b.org/x'] },
    segments: [{ id: 's1', state: 'generated', createdAt: 0, urls: 4, applied: 0 }],
  });
  await segment.addFetched({ ...redirect('http://b.org/x', 'http://b.org/y'), index: item?.index ?? 0 }, null);
  await segment.addFetched({ ...redirect('http://a.org/1', 'http://b.org/x'), index: 1 }, null);
  const summary = await updateFromSegment({ ...deps, policy: POLICY, near: null }, segment, { ...UPDATE, chunk });
  expect(summary).toMatchObject({ applied: 2, newUrls: 2 });
  expect(await db.get('http://b.org/x')).toMatchObject({
    ...{ state: 'redir_temp', target: 'http://b.org/y', visits: [{ at: NOW - 5 }] },
    ...{ referrer: 'http://a.org/1', depth: 1, score: 0.5, metadata: { redirects: 1 }, discoveredAt: 0 },
  });
  expect(await db.get('http://b.org/y')).toMatchObject({ state: 'unfetched', metadata: { redirects: 2 } });
  expect((await db.counters()).urls).toBe(5);
});

it('the address that cannot exist leads nowhere, and neither does a host that may not be asked', async () => {
  const { follow } = await round();
  expect(await follow?.([redirect(missingPageUrl('http://a.org/', 0.5), '/x')])).toEqual([]);
  expect(await follow?.([redirect('http://a.org/0', 'http://public.org/')])).toEqual([]);
});

it('follows nothing in a part of a shared round, which has no bounds', async () => {
  const { segments } = await round();
  await segments.create({ id: 's2', createdAt: 0, hosts: {} }, [fetchItem(0)]);
  const part = await segments.open('s2', 'write');
  expect(await followRedirects({} as never, part, OPTIONS)).toBeNull();
});
