import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type ForwardedLink,
  LINKED_ELSEWHERE_KEY,
  senderOf,
} from '../../../src/core/domain/crawl/discovery/forwarded-link.ts';
import { type CrawlDatum, newDatum } from '../../../src/core/domain/crawl/states/datum.ts';
import { DepthCache } from '../../../src/core/domain/url/cache/depth-cache.ts';
import { partitionAmong } from '../../../src/core/domain/url/hash/partition.ts';
import type { CrawlDb } from '../../../src/core/ports/crawl-db.ts';
import { NO_SKIP_SINK } from '../../../src/core/steps/counters/outcome-counts.ts';
import { UrlAdmission } from '../../../src/core/steps/update/admission.ts';
import type { Found, LinkDeps } from '../../../src/core/steps/update/found-links.ts';
import { LinkFamilies, QueryVariants } from '../../../src/core/steps/update/link-treatment.ts';
import { additions } from '../../../src/core/steps/update/links/additions.ts';
import { applyForwarded } from '../../../src/core/steps/update/links/apply-forwarded.ts';
import { LinkForwarding } from '../../../src/core/steps/update/links/link-forwarding.ts';
import { listOf } from '../../contracts/crawl-db-exam.ts';
import { createMemoryCrawlDb } from '../../memory/crawl-db.ts';
import { createMemorySeenUrls } from '../../memory/seen-urls.ts';

const PARTITIONS = 4;
const NOW = 1_700_000_000_000;
const clock = { now: () => NOW, sleep: async () => {} };
const options = {
  beyondVariants: 'follow',
  noise: 'demote',
  maxOutlinksPerPage: 100,
  maxLayers: Number.POSITIVE_INFINITY,
  followNofollow: false,
  followVariants: false,
  additions: true,
  initialIntervalMs: 1_000,
} as const;
const siteOf = (host: string): string => host;
const placeOf = (host: string): number => partitionAmong(host, PARTITIONS);
const homeOf = (url: string): number => partitionAmong(new URL(url).host, PARTITIONS);

/** @param partition `null`: a crawl of one */
function crawlOf(partition: number | null, db: CrawlDb = createMemoryCrawlDb()) {
  const recent = new DepthCache(8);
  const place = { placeOf, rows: db.forwarding, recent };
  const forwarding = partition === null ? null : new LinkForwarding({ ...place, partition });
  const links: LinkDeps = {
    seen: createMemorySeenUrls({ hasMany: (urls) => db.hasMany(urls) }),
    urls: { apply: (url: string) => ({ url, reason: null }) },
    scores: {
      seedScore: () => 1,
      outlinkScore: (parent, { noise }, depth) => (parent.score / depth) * (noise === undefined ? 1 : 0.1),
    },
    seedHosts: new Set(),
    variants: new QueryVariants(db, 0),
    admission: new UrlAdmission(db, [], null, forwarding),
    families: new LinkFamilies({ db, domainOf: siteOf, treatment: 'demote' }),
    skips: NO_SKIP_SINK,
  };
  return { db, links: { ...links, filteredBy: {}, demotedBy: {} }, clock };
}

const foundBy = (parent: CrawlDatum, url: string, change: Partial<Found> = {}): Found => ({
  parent,
  outlink: { url, anchor: 'text', rel: 'link', nofollow: false, ...(change.noise != null && { noise: 'menu' }) },
  depth: parent.depth + 1,
  at: NOW - 7,
  noise: null,
  ...change,
});

const PAGE: CrawlDatum = { ...newDatum({ url: 'https://a.example/', now: 1, intervalMs: 1, depth: 2 }), score: 3 };
const HERE = homeOf(PAGE.url);
/** A URL of another partition. */
const AWAY = Array.from({ length: 99 }, (_, i) => `https://b${i}.example/x`).find(
  (url) => homeOf(url) !== HERE,
) as string;

/** A forwarded link to {@link AWAY}, one link from a seed. */
const linkAway = (score: number): ForwardedLink => ({
  ...{ url: AWAY, from: PAGE.url, depth: 1, at: 1, score, plainScore: score },
  ...{ noise: null, redirects: 0, layers: null },
});

/** Hands over all that waits in the outbox, as the next rows of the inbox of its partition. */
async function handOver(from: CrawlDb, sender: number, to: CrawlDb): Promise<void> {
  const rows = await listOf(from.forwarding.outbox());
  const inbox = rows.map(({ number, links }) => ({ from: senderOf(sender), number, item: { links } }));
  await to.write({ forwarding: { restore: { inbox } } });
}

describe('a link to a URL of another partition', () => {
  const link = fc.record({
    depth: fc.integer({ min: 1, max: 9 }),
    noise: fc.constantFrom(null, 'outlinks: noise (menu)'),
    redirects: fc.constantFrom(undefined, 1, 3),
    factor: fc.constantFrom(undefined, 0.5),
  });

  it('enters there as it would enter a crawl of one', async () => {
    await fc.assert(
      fc.asyncProperty(link, async ({ depth, noise, redirects, factor }) => {
        const marks = { ...(redirects !== undefined && { redirects }), ...(factor !== undefined && { factor }) };
        const found = new Map([[AWAY, foundBy(PAGE, AWAY, { depth, noise, ...marks })]]);
        const whole = await additions(crawlOf(null).links, found, options, 1_000);
        const here = crawlOf(HERE);
        const { added, forward } = await additions(here.links, found, options, 1_000);
        expect(added).toEqual([]);
        expect(forward.map(({ to }) => to)).toEqual([homeOf(AWAY)]);
        await here.db.write({ forwarding: { forward } });
        const there = crawlOf(homeOf(AWAY));
        await handOver(here.db, HERE, there.db);
        const entered = await applyForwarded(there, await listOf(there.db.forwarding.inbox()), options);
        expect(entered).toEqual(whole.added);
        expect(await there.db.get(AWAY)).toEqual(whole.added[0]);
        expect(await listOf(there.db.forwarding.inbox())).toEqual([]);
      }),
    );
  });

  it('is noise only where all links to it are, from whatever partition, and has the least depth', async () => {
    const pages = [5, 2, 9].map((depth, i) => ({ ...PAGE, depth, url: `https://a.example/${i}` }));
    const found = pages.map((page, i) => foundBy(page, AWAY, { noise: i === 2 ? null : 'outlinks: noise (menu)' }));
    const here = crawlOf(HERE);
    for (const each of found) {
      const { forward } = await additions(here.links, new Map([[AWAY, each]]), options, 1_000);
      await here.db.write({ forwarding: { forward } });
    }
    const there = crawlOf(homeOf(AWAY));
    await handOver(here.db, HERE, there.db);
    const [entered] = await applyForwarded(there, await listOf(there.db.forwarding.inbox()), options);
    expect(entered).toMatchObject({ depth: 3, referrer: 'https://a.example/1', score: 1, metadata: {} });
  });

  it('is not sent again as long as it is remembered, and is sent again when it is not', async () => {
    const here = crawlOf(HERE);
    const found = new Map([[AWAY, foundBy(PAGE, AWAY)]]);
    const { forward } = await additions(here.links, found, options, 1_000);
    expect((await additions(here.links, found, options, 1_000)).forward).toHaveLength(1);
    here.links.admission.forwarding?.note(forward);
    expect((await additions(here.links, found, options, 1_000)).forward).toEqual([]);
    expect((await additions(crawlOf(HERE, here.db).links, found, options, 1_000)).forward).toHaveLength(1);
  });

  it('that comes again changes nothing', async () => {
    const there = crawlOf(homeOf(AWAY));
    const item = { links: [linkAway(1)] };
    const put = (number: number): Promise<void> =>
      there.db.write({ forwarding: { restore: { inbox: [{ from: senderOf(HERE), number, item }] } } });
    const apply = async () => applyForwarded(there, await listOf(there.db.forwarding.inbox()), options);
    await put(1);
    expect(await apply()).toHaveLength(1);
    const before = await there.db.get(AWAY);
    for (const number of [1, 2, 1]) {
      await put(number);
      expect(await apply()).toEqual([]);
      expect(await there.db.get(AWAY)).toEqual(before);
    }
  });

  it('marks a URL that is known by links of its own partition alone, so that it never is an orphan', async () => {
    const there = crawlOf(homeOf(AWAY));
    const own = { ...newDatum({ url: AWAY, now: 1, intervalMs: 1, depth: 1 }), referrer: `${AWAY}/linking` };
    await there.db.write({ puts: [{ datum: own, previous: null }] });
    const item = { links: [linkAway(9)] };
    const inbox = [{ from: senderOf(HERE), number: 1, item }];
    await there.db.write({ forwarding: { restore: { inbox } } });
    await applyForwarded(there, await listOf(there.db.forwarding.inbox()), options);
    expect(await there.db.get(AWAY)).toEqual({ ...own, metadata: { [LINKED_ELSEWHERE_KEY]: true } });
  });

  it('stays out where no URL is to enter', async () => {
    const there = crawlOf(homeOf(AWAY));
    const item = { links: [linkAway(1)] };
    await there.db.write({ forwarding: { restore: { inbox: [{ from: '003', number: 1, item }] } } });
    await applyForwarded(there, await listOf(there.db.forwarding.inbox()), { ...options, additions: false });
    expect(await there.db.get(AWAY)).toBeUndefined();
    expect(await listOf(there.db.forwarding.inbox())).toEqual([]);
  });
});
