import { ownText } from '../../page/text/cut-text.ts';
import {
  type InjectMode,
  NO_SETTINGS,
  parseSeedLine,
  reinject,
  type Seed,
  type SeedSettings,
  seedLayersOf,
  seedMetadata,
} from '../domain/crawl/discovery/seed.ts';
import { type CrawlDatum, newDatum } from '../domain/crawl/states/datum.ts';
import { isUrl } from '../domain/url/canonical/canonical-url.ts';
import { hostFromPrefix, hostPrefix, urlFromKey, urlKey } from '../domain/url/canonical/url-key.ts';
import type { Clock } from '../ports/clock.ts';
import type { CrawlDb, CrawlDbPut } from '../ports/crawl-db.ts';
import type { SeenUrls } from '../ports/seen-filter.ts';
import type { OnWork } from '../ports/work-progress.ts';
import { changesOf } from './facts/change-feed.ts';
import { writtenAt } from './facts/touched-urls.ts';
import type { InjectSummary, SeedError } from './summaries.ts';
import { type ShorterWay, shorterWayFacts } from './update/links/shorter-ways.ts';
import { countingRejections, type UrlChain } from './url-chain.ts';

export interface SeedSource {
  /** File name or `stdin`, for messages. */
  readonly name: string;
  readonly lines: AsyncIterable<string> | Iterable<string>;
}

export interface InjectDeps {
  readonly db: CrawlDb;
  readonly seen: SeenUrls;
  readonly clock: Clock;
  readonly urls: UrlChain;
  readonly seedScore: (url: string) => number;
  /** Hosts of the seeds so far, by which scope filters judge; those of new seeds are added. */
  readonly seedHosts: Set<string>;
  readonly onWork?: OnWork;
}

export interface InjectOptions {
  readonly mode: InjectMode;
  /** Interval of a seed that names none, ms. */
  readonly initialIntervalMs: number;
  /** Called with the record of each seed. */
  readonly onSeed?: ((datum: CrawlDatum) => void) | undefined;
}

/**
 * Seeds sorted at a time. In key order they share host rows and table blocks: a million seeds in random order of 3,000
 * hosts cost half the CPU when sorted.
 */
const SORTED = 50_000;
/** Seeds written per batch. */
const WINDOW = 1_000;

interface Tally {
  urls: number;
  injected: number;
  updated: number;
  overwritten: number;
  kept: number;
  filtered: number;
}

/**
 * Brings seeds into the crawl db. Bad lines are reported with their number and what was expected; the other lines are
 * injected. A second run changes nothing in mode `keep`.
 */
export async function inject(
  deps: InjectDeps,
  sources: readonly SeedSource[],
  options: InjectOptions,
): Promise<InjectSummary> {
  const tally: Tally = { urls: 0, injected: 0, updated: 0, overwritten: 0, kept: 0, filtered: 0 };
  const errors: SeedError[] = [];
  const filteredBy: Record<string, number> = {};
  const chain = countingRejections(deps.urls, filteredBy);
  const writing = { ...options, areNew: true };
  let gathered = new Map<string, SeedSettings>();
  const flush = async (): Promise<void> => {
    await writeSeeds(deps, gathered, writing, tally);
    deps.onWork?.({ work: 'adding seeds', done: tally.urls, total: null });
    gathered = new Map();
  };
  for (const source of sources) {
    let line = 0;
    for await (const text of source.lines) {
      line++;
      const seed = parseSeedLine(text);
      if (seed === null) continue;
      const report = (message: string): void => {
        errors.push({ source: source.name, line, text: text.slice(0, 200), message });
      };
      if ('error' in seed) {
        report(seed.error);
        continue;
      }
      const { url, reason } = chain.apply(seed.url, SEED_CONTEXT);
      if (url === null) {
        report(reason ?? 'refused by a URL filter');
        if (isUrl(seed.url)) tally.filtered++;
        continue;
      }
      tally.urls++;
      gathered.set(urlKey(url), hasSettings(seed) ? seed : NO_SETTINGS);
      if (gathered.size >= SORTED) await flush();
    }
  }
  await flush();
  return { ...tally, filteredBy, errors };
}

/** Scope goes by the hosts of the seeds, so seeds themselves are judged without any. */
const SEED_CONTEXT = { from: null, depth: 0, seedHosts: new Set<string>(), scope: 'inject' } as const;

export const SEED_HOSTS_KEY = 'seedHosts';

const hasSettings = ({ score, intervalMs, fixedIntervalMs, layers, metadata }: Seed): boolean =>
  layers !== null ||
  score !== null ||
  intervalMs !== null ||
  fixedIntervalMs !== null ||
  metadata !== NO_SETTINGS.metadata;

interface Writing extends InjectOptions {
  /**
   * Whether most seeds are new, going by those of the last batch: then the filter of seen URLs is asked first, which
   * spares reading the crawl db for them, and costs a second read of known ones.
   */
  areNew: boolean;
}

/** @param seeds by URL key */
async function writeSeeds(
  deps: InjectDeps,
  seeds: ReadonlyMap<string, SeedSettings>,
  options: Writing,
  tally: Tally,
): Promise<void> {
  const keys = [...seeds.keys()].sort();
  // Before the records: a seed without its host in scope would find no links.
  let meta = seedHostsWith(deps.seedHosts, keys);
  for (let start = 0; start < keys.length; start += WINDOW) {
    const window = keys.slice(start, start + WINDOW);
    const urls = window.map(urlFromKey);
    const records = await (options.areNew ? recordsSeen(deps, urls) : deps.db.getMany(urls));
    options.areNew = 2 * urls.filter((_, i) => records[i] === undefined).length >= urls.length;
    const now = deps.clock.now();
    const puts: CrawlDbPut[] = [];
    const shorter: ShorterWay[] = [];
    for (const [i, url] of urls.entries()) {
      const previous = records[i] ?? null;
      const seed = { ...(seeds.get(window[i] as string) ?? NO_SETTINGS), url };
      const datum = injected(deps, seed, previous, options, now);
      countSeed(tally, previous, options.mode);
      if (datum !== previous) puts.push({ datum, previous });
      const isVisited = previous !== null && previous.lastFetchAt !== null;
      if (isVisited && datum.depth < previous.depth) shorter.push(wayOf(datum));
      options.onSeed?.(datum);
    }
    // An orphan that a seed revives is a change.
    const facts = { ...(puts.length > 0 && writtenAt(now)), ...(await shorterWayFacts(deps.db, shorter)) };
    const batch = { puts, meta: { ...meta, ...facts }, ...changesOf(puts, now) };
    await deps.db.write(batch, { durable: start + WINDOW >= keys.length });
    deps.seen.add(urls);
    meta = {};
  }
}

/** A known page that has become a seed: its links are nearer to a seed now, and are followed when a crawl begins. */
const wayOf = (seed: CrawlDatum): ShorterWay => {
  return { url: seed.url, from: null, depth: 0, layers: seedLayersOf(seed) };
};

/** Records of the URLs, without reading those that the filter of seen URLs takes for new. */
async function recordsSeen({ db, seen }: InjectDeps, urls: readonly string[]): Promise<(CrawlDatum | undefined)[]> {
  const isSeen = await seen.probe(urls);
  const found = (await db.getMany(urls.filter((_, i) => isSeen[i]))).values();
  return urls.map((_, i) => (isSeen[i] ? found.next().value : undefined));
}

/** Adds the hosts of sorted URL keys; returns the fact to be written, nothing where all were known. */
function seedHostsWith(hosts: Set<string>, keys: readonly string[]): Readonly<Record<string, string>> {
  const before = hosts.size;
  let last: string | null = null;
  for (const key of keys) {
    if (last !== null && key.startsWith(last)) continue;
    const host = hostFromPrefix(key);
    if (!hosts.has(host)) hosts.add(ownText(host));
    last = hostPrefix(host);
  }
  return hosts.size === before ? {} : { [SEED_HOSTS_KEY]: JSON.stringify([...hosts]) };
}

function countSeed(tally: Tally, previous: CrawlDatum | null, mode: InjectMode): void {
  if (previous === null) tally.injected++;
  else if (mode === 'overwrite') tally.overwritten++;
  else if (mode === 'update') tally.updated++;
  else tally.kept++;
}

function injected(
  deps: InjectDeps,
  seed: Seed,
  previous: CrawlDatum | null,
  { mode, initialIntervalMs }: InjectOptions,
  now: number,
): CrawlDatum {
  const fresh = newDatum({
    url: seed.url,
    now,
    intervalMs: seed.intervalMs ?? initialIntervalMs,
    seed: true,
    score: seed.score ?? deps.seedScore(seed.url),
    fixedIntervalMs: seed.fixedIntervalMs,
    metadata: seedMetadata(seed),
  });
  return previous === null ? fresh : reinject(previous, seed, mode, fresh);
}
