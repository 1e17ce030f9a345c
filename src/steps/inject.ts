import { type InjectMode, parseSeedLine, reinject, type Seed } from '../domain/crawl/discovery/seed.ts';
import { type CrawlDatum, newDatum } from '../domain/crawl/states/datum.ts';
import { isUrl } from '../domain/url/canonical/is-url.ts';
import { hostOf } from '../domain/url/canonical/url-key.ts';
import type { Clock } from '../ports/clock.ts';
import type { CrawlDb, CrawlDbPut } from '../ports/crawl-db.ts';
import type { SeenUrls } from '../ports/seen-urls.ts';
import type { OnWork } from '../ports/work-progress.ts';
import { changesOf } from './facts/change-feed.ts';
import type { InjectSummary, SeedError } from './summaries.ts';
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
  let window = new Map<string, Seed>();
  const flush = async (): Promise<void> => {
    await writeSeeds(deps, window, options, tally);
    deps.onWork?.({ work: 'adding seeds', done: tally.urls, total: null });
    window = new Map();
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
      window.set(url, { ...seed, url });
      if (window.size >= WINDOW) await flush();
    }
  }
  await flush();
  return { ...tally, filteredBy, errors };
}

/** Scope goes by the hosts of the seeds, so seeds themselves are judged without any. */
const SEED_CONTEXT = { from: null, depth: 0, seedHosts: new Set<string>() } as const;

export const SEED_HOSTS_KEY = 'seedHosts';

async function writeSeeds(
  deps: InjectDeps,
  seeds: ReadonlyMap<string, Seed>,
  options: InjectOptions,
  tally: Tally,
): Promise<void> {
  if (seeds.size === 0) return;
  const { mode } = options;
  const urls = [...seeds.keys()];
  const records = await deps.db.getMany(urls);
  const now = deps.clock.now();
  const puts: CrawlDbPut[] = [];
  for (const [i, url] of urls.entries()) {
    const seed = seeds.get(url) as Seed;
    const previous = records[i] ?? null;
    const datum = injected(deps, seed, previous, options, now);
    if (previous === null) tally.injected++;
    else if (mode === 'overwrite') tally.overwritten++;
    else if (mode === 'update') tally.updated++;
    else tally.kept++;
    if (datum !== previous) puts.push({ datum, previous });
    options.onSeed?.(datum);
    deps.seedHosts.add(hostOf(url));
  }
  await deps.db.write(
    // An orphan that a seed revives is a change.
    { puts, meta: { [SEED_HOSTS_KEY]: JSON.stringify([...deps.seedHosts]) }, ...changesOf(puts, now) },
    { durable: true },
  );
  deps.seen.add(urls);
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
    metadata: seed.metadata,
  });
  return previous === null ? fresh : reinject(previous, seed, mode, fresh);
}
