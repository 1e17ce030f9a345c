import { pageChange, pageDropped } from '../../domain/crawl/change/page-change.ts';
import type { CrawlDatum } from '../../domain/crawl/states/datum.ts';
import { type SettlePolicy, settle } from '../../domain/crawl/states/settle.ts';
import { urlKey } from '../../domain/url/canonical/url-key.ts';
import type { CrawlDb, CrawlDbPut, StoredLinks } from '../../ports/crawl-db.ts';
import { type LinkedUrls, type OpenLinkedUrls, PURGED_KEY, type SeenUrls } from '../../ports/seen-filter.ts';
import { noted } from '../facts/change-feed.ts';
import { isLinkedElsewhere } from './links/apply-forwarded.ts';
import type { LinkForwarding } from './links/link-forwarding.ts';
import { judgeRepeats, type RepeatDeps, type RepeatOptions, type VisitedPage } from './repeats.ts';

export interface SweepDeps {
  readonly db: CrawlDb;
  readonly seen: SeenUrls;
  readonly policy: SettlePolicy;
  /** The tables of signatures; `null` where none are kept. */
  readonly near: Pick<RepeatDeps, 'tables' | 'scopeOf'> | null;
  readonly openLinkedUrls: OpenLinkedUrls;
  /** Tells pages of other partitions, whose links are not here; `null`: a crawl of one. */
  readonly forwarding: LinkForwarding | null;
}

export interface OrphanSummary {
  readonly orphaned: number;
  readonly revived: number;
  readonly purged: number;
}

/** URLs whose links are held in memory at a time, at 12 to 23 bytes each. */
const URLS_PER_PART = 2_000_000;
const WRITE_WINDOW = 1_000;

/**
 * Marks the URLs to which no live page links any more, and revives orphans that are linked again. The outlinks of every
 * page are stored, so the pages it links to stay, however seldom it is visited. No linked URL is ever taken for an
 * orphan, and one orphan in some 10^12 is overlooked. A page to which no page was known to link is no orphan: it came
 * by a list, or by a dump of Nutch, which has no links. It costs one pass over links and one over records, in memory
 * that does not grow with them, so it runs at intervals, not with every update.
 */
export async function sweepOrphans(
  deps: SweepDeps,
  options: {
    readonly mode: 'mark' | 'purge';
    readonly repeats: Omit<RepeatOptions, 'keep'>;
    readonly now: number;
    /** Default: two million. */
    readonly urlsPerPart?: number;
  },
): Promise<OrphanSummary> {
  const { db } = deps;
  const linked = await deps.openLinkedUrls(await partBounds(db, options.urlsPerPart ?? URLS_PER_PART));
  try {
    await addTargets(db, linked);
    return await sweepRecords(deps, linked, options);
  } finally {
    await linked.close();
  }
}

/** URL keys that cut the records into parts of about the same size, at hosts or within a large one. */
async function partBounds(db: CrawlDb, urlsPerPart: number): Promise<string[]> {
  const bounds: string[] = [];
  if ((await db.counters()).urls <= urlsPerPart) return bounds;
  /** URLs since the last bound. */
  let passed = 0;
  for await (const { host, urls } of db.hosts()) {
    const places: number[] = [];
    for (let place = urlsPerPart - passed; place < urls; place += urlsPerPart) places.push(place);
    if (places.length > 0) for (const { url } of await db.recordsAtPlaces(host, places)) bounds.push(urlKey(url));
    passed = urls - (places.at(-1) ?? -passed);
  }
  return bounds;
}

async function sweepRecords(
  deps: SweepDeps,
  linked: LinkedUrls,
  options: Parameters<typeof sweepOrphans>[1],
): Promise<OrphanSummary> {
  const { db } = deps;
  const summary = { orphaned: 0, revived: 0, purged: 0 };
  let puts: CrawlDbPut[] = [];
  let revived: VisitedPage[] = [];
  let deletes: CrawlDatum[] = [];
  const flush = async (): Promise<void> => {
    if (puts.length + revived.length + deletes.length === 0) return;
    const dropped = deletes.flatMap((datum) => pageDropped(datum, options.now) ?? []);
    const links = deletes.map(({ url }) => ({ url, targets: [] }));
    const alive = await withDuplicates(deps, revived, options.repeats);
    const changed = alive.flatMap((datum, i) => pageChange(revived[i]!.previous, datum, options.now) ?? []);
    const revivedPuts = alive.map((datum, i) => ({ datum, previous: revived[i]!.previous }));
    await db.write({
      puts: [...puts, ...revivedPuts],
      deletes,
      links,
      ...(deletes.length > 0 && { meta: { [PURGED_KEY]: String(options.now) } }),
      ...noted([...dropped, ...changed], options.now),
    });
    deps.seen.remove(deletes.map(({ url }) => url));
    puts = [];
    revived = [];
    deletes = [];
  };
  for await (const datum of db.scan()) {
    if (datum.seed || (datum.referrer === null && datum.state !== 'orphan')) continue;
    const isForeign = deps.forwarding !== null && isLinkedElsewhere(datum, deps.forwarding);
    const answer = isForeign || linked.has(datum.url);
    if (typeof answer === 'boolean' ? answer : await answer) {
      if (datum.state !== 'orphan') continue;
      const { datum: alive } = settle(datum, { kind: 'linked', depth: datum.depth }, deps.policy, options.now);
      revived.push({ previous: datum, datum: alive });
      summary.revived++;
    } else if (options.mode === 'purge') {
      deletes.push(datum);
      summary.purged++;
    } else {
      const { datum: orphan } = settle(datum, { kind: 'orphaned' }, deps.policy, options.now);
      if (orphan === datum) continue;
      puts.push({ datum: orphan, previous: datum });
      summary.orphaned++;
    }
    if (puts.length + revived.length + deletes.length >= WRITE_WINDOW) await flush();
  }
  await flush();
  return summary;
}

/**
 * Revived orphans as they are to be stored: as duplicates where they repeat a page. Visits compare only pages whose
 * text has changed, and would miss them. The page known meanwhile represents, so that no other record changes.
 */
async function withDuplicates(
  { db, near }: SweepDeps,
  revived: readonly VisitedPage[],
  rule: Omit<RepeatOptions, 'keep'>,
): Promise<readonly CrawlDatum[]> {
  if (near === null || revived.length === 0) return revived.map(({ datum }) => datum);
  return (await judgeRepeats({ db, ...near }, revived, { ...rule, keep: 'first' })).visited;
}

/**
 * Adds the targets of links and redirects of live pages, and URLs that sitemaps list: a sitemap has links but no
 * record. Links of a page that is gone or an orphan do not count.
 */
async function addTargets(db: CrawlDb, linked: LinkedUrls): Promise<void> {
  const add = async (targets: readonly string[]): Promise<void> => {
    for (const target of targets) {
      const added = linked.add(target);
      if (added !== undefined) await added;
    }
  };
  let batch: StoredLinks[] = [];
  const flush = async (): Promise<void> => {
    const records = await db.getMany(batch.map(({ url }) => url));
    for (const [i, { targets }] of batch.entries()) {
      const state = records[i]?.state;
      if (state !== 'gone' && state !== 'orphan') await add(targets);
    }
    batch = [];
  };
  for await (const row of db.scanLinks()) {
    batch.push(row);
    if (batch.length >= WRITE_WINDOW) await flush();
  }
  await flush();
  for (const state of ['redir_perm', 'redir_temp'] as const) {
    for await (const { target } of db.scan({ state })) if (target !== null) await add([target]);
  }
}
