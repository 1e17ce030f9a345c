import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { senderOf } from '../../../src/core/domain/crawl/discovery/forwarded-link.ts';
import { SEED_LAYERS_KEY } from '../../../src/core/domain/crawl/discovery/seed.ts';
import { type CrawlDatum, newDatum } from '../../../src/core/domain/crawl/states/datum.ts';
import { DepthCache } from '../../../src/core/domain/url/cache/depth-cache.ts';
import { partitionAmong } from '../../../src/core/domain/url/hash/partition.ts';
import type { CrawlDb } from '../../../src/core/ports/crawl-db.ts';
import { NO_SKIP_SINK } from '../../../src/core/steps/counters/outcome-counts.ts';
import { inject } from '../../../src/core/steps/inject.ts';
import { UrlAdmission } from '../../../src/core/steps/update/admission.ts';
import { type Found, type LinkDeps, outlinkTargets } from '../../../src/core/steps/update/found-links.ts';
import { LinkFamilies, QueryVariants } from '../../../src/core/steps/update/link-treatment.ts';
import { additions } from '../../../src/core/steps/update/links/additions.ts';
import { applyForwarded, type ForwardedOptions } from '../../../src/core/steps/update/links/apply-forwarded.ts';
import { followShorterWays } from '../../../src/core/steps/update/links/follow-shorter-ways.ts';
import { forwardingPart, LinkForwarding } from '../../../src/core/steps/update/links/link-forwarding.ts';
import { shorterWayFacts, waysLeft } from '../../../src/core/steps/update/links/shorter-ways.ts';
import type { UrlChain } from '../../../src/core/steps/url-chain.ts';
import { listOf } from '../../contracts/crawl-db-exam.ts';
import { createMemoryCrawlDb } from '../../memory/crawl-db.ts';
import { createMemorySeenUrls } from '../../memory/seen-urls.ts';

const NODES = 14;
const clock = { now: () => 1_700_000_000_000, sleep: async () => {} };
const urlOf = (node: number): string => `https://h${node}.example/`;
const nodeOf = (url: string): number => Number(/h(\d+)/.exec(url)?.[1]);

/** How a depth limit is set: by the crawl, by the host, by a URL filter, or by the seed. */
const LIMITS = ['crawl', 'host', 'filter', 'seed'] as const;
type Limit = (typeof LIMITS)[number];

interface World {
  readonly limit: Limit;
  readonly layers: number;
  /** Links of each page. */
  readonly links: readonly (readonly number[])[];
  readonly partitions: number;
  /** Decides which of the pages that are known is visited next. */
  readonly order: readonly number[];
  /** Write of the following of shorter ways at which the process dies; it is started again. */
  readonly dies: number;
}

const world = fc.record<World>({
  limit: fc.constantFrom(...LIMITS),
  layers: fc.integer({ min: 1, max: 6 }),
  links: fc.array(fc.uniqueArray(fc.nat(NODES - 1), { maxLength: 4 }), { minLength: NODES, maxLength: NODES }),
  partitions: fc.constantFrom(1, 2, 3),
  order: fc.array(fc.nat(1_000), { minLength: 40, maxLength: 40 }),
  dies: fc.nat(8),
});

/** Pages by their links from page 0, the seed; those beyond the limit are left out. */
function distances({ links, layers }: World): Map<number, number> {
  const depths = new Map([[0, 0]]);
  for (const [node, depth] of depths) {
    for (const next of links[node] ?? []) if (depth + 1 < layers && !depths.has(next)) depths.set(next, depth + 1);
  }
  return depths;
}

class Killed extends Error {}

function optionsOf({ limit, layers }: World): ForwardedOptions {
  return {
    ...{ beyondVariants: 'follow', noise: 'demote', maxOutlinksPerPage: 100 },
    ...{ followNofollow: false, followVariants: false, additions: true, initialIntervalMs: 1_000 },
    maxLayers: limit === 'crawl' ? layers : Number.POSITIVE_INFINITY,
    ...(limit === 'host' && { layersOf: () => layers }),
  };
}

function chainOf({ limit, layers }: World): UrlChain {
  if (limit !== 'filter') return { apply: (url) => ({ url, reason: null }) };
  return {
    judgesDepth: true,
    apply: (url, { depth }) => (depth < layers ? { url, reason: null } : { url: null, reason: 'too deep' }),
  };
}

/** A process on the crawl db of a partition: nothing is in its memory. */
function processOn(of: World, db: CrawlDb, partition: number) {
  const place = { partition, rows: db.forwarding, recent: new DepthCache(4) };
  const placeOf = (host: string): number => partitionAmong(host.replace(/^h/, ''), of.partitions);
  const forwarding = of.partitions === 1 ? null : new LinkForwarding({ ...place, placeOf });
  const links: LinkDeps = {
    seen: createMemorySeenUrls({ hasMany: (urls) => db.hasMany(urls) }),
    urls: chainOf(of),
    scores: { seedScore: () => 1, outlinkScore: () => 1 },
    seedHosts: new Set(),
    variants: new QueryVariants(db, 0),
    admission: new UrlAdmission(db, [], null, forwarding, new DepthCache(4)),
    families: new LinkFamilies({ db, domainOf: (host) => host, treatment: 'demote' }),
    skips: NO_SKIP_SINK,
  };
  return { db, clock, links: { ...links, filteredBy: {}, demotedBy: {} } };
}

type Process = ReturnType<typeof processOn>;

/** A crawl db whose process dies at a write of shorter ways, once. */
function mortal(db: CrawlDb, life: { left: number }): CrawlDb {
  const write: CrawlDb['write'] = (batch, options) => {
    const isFollowing = (batch.puts ?? []).some(({ previous, datum }) => previous && datum.depth < previous.depth);
    if (isFollowing && life.left-- === 0) throw new Killed();
    return db.write(batch, options);
  };
  return new Proxy(db, {
    get: (of, name) => {
      const value: unknown = name === 'write' ? write : Reflect.get(of, name);
      return typeof value === 'function' ? value.bind(of) : value;
    },
  });
}

/** A visit as `applyChunk` applies it: records, links and named facts in one batch, then what follows from them. */
async function visit({ db, links }: Process, url: string, of: World): Promise<void> {
  const [previous] = (await db.getMany([url])) as [CrawlDatum];
  const found = new Map<string, Found>();
  const outlinks = (of.links[nodeOf(url)] ?? []).map((node) => {
    return { url: urlOf(node), anchor: '', rel: 'link', nofollow: false } as const;
  });
  const source = { page: previous, at: clock.now() };
  const options = optionsOf(of);
  const targets = outlinkTargets(links, { outlinks }, source, options, found, { outlinks: 0, filteredUrls: 0 });
  const { added, forward, shorter } = await additions(links, found, options, 1_000);
  const fetched: CrawlDatum = { ...previous, state: 'fetched', lastFetchAt: clock.now() };
  await db.write({
    puts: [{ datum: fetched, previous }, ...added.map((datum) => ({ datum, previous: null }))],
    links: [{ url, targets }],
    meta: await shorterWayFacts(db, shorter),
    ...forwardingPart({ forward }),
  });
  links.admission.forwarding?.note(forward);
  links.seen.add(added.map((datum) => datum.url));
  await followShorterWays({ db, clock, links }, options);
}

async function handOver(dbs: readonly CrawlDb[], from: number): Promise<void> {
  const rows = await listOf((dbs[from] as CrawlDb).forwarding.outbox());
  for (const { to, number, links } of rows) {
    await (dbs[to] as CrawlDb).write({
      forwarding: { restore: { inbox: [{ from: senderOf(from), number, item: { links } }] } },
    });
    await (dbs[from] as CrawlDb).write({ forwarding: { handedOver: [{ to, number }] } });
  }
}

/** Crawls to its end; resolves with the depth of each record. */
async function crawled(of: World): Promise<Map<number, number>> {
  const dbs = Array.from({ length: of.partitions }, () => createMemoryCrawlDb());
  const life = { left: of.dies };
  const start = (partition: number): Process => processOn(of, mortal(dbs[partition] as CrawlDb, life), partition);
  const processes = dbs.map((_, partition) => start(partition));
  const options = optionsOf(of);
  const home = processes.findIndex(({ links }) => !links.admission.forwarding?.isElsewhere(urlOf(0)));
  const metadata = of.limit === 'seed' ? { [SEED_LAYERS_KEY]: of.layers } : {};
  const seed = newDatum({ url: urlOf(0), now: 1, intervalMs: 1, seed: true, metadata });
  await (dbs[home] as CrawlDb).write({ puts: [{ datum: seed, previous: null }] });
  for (let turn = 0; ; turn++) {
    const due = (await Promise.all(dbs.map((db) => listOf(db.scan())))).flatMap((records, partition) =>
      records.filter(({ lastFetchAt }) => lastFetchAt === null).map(({ url }) => ({ url, partition })),
    );
    const mail = (await Promise.all(dbs.map((db) => listOf(db.forwarding.inbox(10))))).some(({ length }) => length > 0);
    const choice = of.order[turn % of.order.length] as number;
    const partition = due.length > 0 ? (due[choice % due.length]?.partition as number) : choice % of.partitions;
    if (due.length === 0 && !mail) return depthsIn(dbs);
    for (const [at, { db, links }] of mail ? processes.entries() : []) {
      const received = await listOf(db.forwarding.inbox(10));
      try {
        if (received.length > 0) await applyForwarded({ db, clock, links }, received, options);
      } catch (error) {
        if (!(error instanceof Killed)) throw error;
        processes[at] = start(at);
        await followShorterWays(processes[at] as Process, options);
      }
      await handOver(dbs, at);
    }
    if (due.length === 0) continue;
    try {
      await visit(processes[partition] as Process, due[choice % due.length]?.url as string, of);
    } catch (error) {
      if (!(error instanceof Killed)) throw error;
      processes[partition] = start(partition);
      await followShorterWays(processes[partition] as Process, options);
    }
    await handOver(dbs, partition);
  }
}

async function depthsIn(dbs: readonly CrawlDb[]): Promise<Map<number, number>> {
  const records = (await Promise.all(dbs.map((db) => listOf(db.scan())))).flat();
  for (const db of dbs) expect((await waysLeft(db)).ways).toEqual([]);
  return new Map(records.map(({ url, depth }) => [nodeOf(url), depth]));
}

const sorted = (depths: ReadonlyMap<number, number>) => [...depths].sort(([a], [b]) => a - b);

describe('a crawl with a depth limit', () => {
  it.each(LIMITS)('set by the %s has all pages within it, and their distances, whatever the order of visits', (limit) =>
    fc.assert(
      fc.asyncProperty(world, async (drawn) => {
        const of = { ...drawn, limit };
        expect(sorted(await crawled(of))).toEqual(sorted(distances(of)));
      }),
      { numRuns: 150 },
    ),
  );

  it('begins anew at a known page that becomes a seed', async () => {
    const of: World = { limit: 'crawl', layers: 2, links: [[1], [2], [3]], partitions: 1, order: [0], dies: -1 };
    const crawl = processOn(of, createMemoryCrawlDb(), 0);
    const { db, links } = crawl;
    const deps = {
      ...{ db, clock },
      seen: links.seen,
      urls: links.urls,
      seedScore: () => 1,
      seedHosts: new Set<string>(),
    };
    const add = (url: string) =>
      inject(deps, [{ name: 'seeds', lines: [url] }], { mode: 'keep', initialIntervalMs: 1 });
    await add(urlOf(0));
    await visit(crawl, urlOf(0), of);
    await visit(crawl, urlOf(1), of);
    await add(urlOf(1));
    expect(sorted(await depthsOf(db))).toEqual([
      [0, 0],
      [1, 0],
    ]);
    await followShorterWays(crawl, optionsOf(of));
    expect(sorted(await depthsOf(db))).toEqual([
      [0, 0],
      [1, 0],
      [2, 1],
    ]);
    expect((await db.getMany([urlOf(2)]))[0]).toMatchObject({ referrer: urlOf(1) });
  });
});

const depthsOf = async (db: CrawlDb) =>
  new Map((await listOf(db.scan())).map(({ url, depth }) => [nodeOf(url), depth]));
