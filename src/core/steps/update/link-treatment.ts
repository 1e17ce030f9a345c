import type { CrawlDatum } from '../../domain/crawl/states/datum.ts';
import { Lru } from '../../domain/lru.ts';
import { hostOf } from '../../domain/url/canonical/url-key.ts';
import { type DomainFamilies, type FamilyMatch, FamilyMatcher } from '../../domain/url/families/stored-families.ts';
import type { CrawlDb } from '../../ports/crawl-db.ts';

/** Treatment of new URLs whose path has too many queries already. */
export type BeyondVariants = 'follow' | 'demote' | 'drop';

/** Reason that such URLs are counted under, also kept in the metadata of a record. */
export const TOO_MANY_QUERIES = 'outlinks: too many queries of one path';

/** Score of a demoted URL, as a share of what it would have been. */
export const DEMOTION = 0.1;

/** Queries that a run adds to a path before it counts those in the crawl db: most paths never get there. */
const COUNTED_FROM = 16;
/** Paths remembered; the least recently met is forgotten, and counted again when it comes back. */
const MAX_PATHS = 20_000;

/**
 * Finds new URLs whose path has too many queries (`/list?sort=a&filter=b...`): most often they show the same items in
 * another order. The queries of a path are counted in the crawl db, so that a restart forgets nothing. A path may
 * exceed the limit by {@link COUNTED_FROM} a run, which spares all other paths the count.
 */
export class QueryVariants {
  private readonly db: Pick<CrawlDb, 'scan'>;
  private readonly max: number;
  private readonly paths = new Lru<{ count: number; isExact: boolean }>({ entries: MAX_PATHS });

  /** @param max queries of one path; 0: no limit */
  constructor(db: Pick<CrawlDb, 'scan'>, max: number) {
    this.db = db;
    this.max = max;
  }

  /** Those of the URLs, none of them in the crawl db yet, that come after the first `max` of their path. */
  async beyond(urls: readonly string[]): Promise<ReadonlySet<string>> {
    const excess = new Set<string>();
    if (this.max === 0) return excess;
    for (const url of urls) {
      const mark = url.indexOf('?');
      if (mark >= 0 && (await this.isBeyond(url.slice(0, mark)))) excess.add(url);
    }
    return excess;
  }

  private async isBeyond(path: string): Promise<boolean> {
    let known = this.paths.get(path) ?? { count: 0, isExact: false };
    if (!known.isExact && known.count >= Math.min(COUNTED_FROM, this.max)) {
      known = { count: Math.max(known.count, await this.stored(path)), isExact: true };
    }
    this.paths.set(path, { ...known, count: Math.min(known.count + 1, this.max + 1) });
    return known.count >= this.max;
  }

  private async stored(path: string): Promise<number> {
    let count = 0;
    for await (const _ of this.db.scan({ prefix: `${path}?`, limit: this.max })) count++;
    return count;
  }
}

/** Treatment of found links whose URL is of a noise family. */
export type FamilyTreatment = 'demote' | 'defer' | 'drop';

/** Fact of a crawl db: a digest of its link families, empty without any. */
export const FAMILIES_PRINT_KEY = 'linkFamilies';

/** Reason that links of noise families are counted under, also kept in the metadata of a record. */
export const NOISE_FAMILY = 'linkclusters: noise family';

/**
 * A new record as it enters by a link of a noise family: with a tenth of its score; deferred, due one interval later as
 * well. Its metadata name the family and keep the score for {@link released}.
 */
export function lowered(datum: CrawlDatum, { family }: FamilyMatch, treatment: FamilyTreatment): CrawlDatum {
  const { nextFetchAt, schedule, score, metadata } = datum;
  const isDeferred = treatment === 'defer' && nextFetchAt !== null;
  return {
    ...datum,
    score: score * DEMOTION,
    nextFetchAt: isDeferred ? nextFetchAt + schedule.intervalMs : nextFetchAt,
    metadata: { demoted: NOISE_FAMILY, ...metadata, linkFamily: family.leader, scoreBefore: score },
  };
}

/** Undoes {@link lowered}: a record that was not visited since is due at once; `null`: it was not lowered. */
export function released(datum: CrawlDatum, now: number): CrawlDatum | null {
  const { linkFamily, scoreBefore, demoted, ...rest } = datum.metadata;
  if (linkFamily === undefined) return null;
  const metadata = demoted === undefined || demoted === NOISE_FAMILY ? rest : { demoted, ...rest };
  const isWaiting = datum.visits.length === 0 && datum.nextFetchAt !== null;
  return {
    ...datum,
    metadata,
    score: typeof scoreBefore === 'number' ? scoreBefore : datum.score,
    nextFetchAt: isWaiting ? Math.min(datum.nextFetchAt, now) : datum.nextFetchAt,
  };
}

/** Domains whose families are kept in memory. */
const MAX_DOMAINS = 500;

interface LinkFamiliesDeps {
  readonly db: Pick<CrawlDb, 'linkFamilies' | 'meta'>;
  /** The registrable domain of a host. */
  readonly domainOf: (host: string) => string;
  readonly treatment: FamilyTreatment;
}

/** Compares found links with the noise families that `duplicates families --apply` has stored. */
export class LinkFamilies {
  readonly treatment: FamilyTreatment;
  readonly #deps: LinkFamiliesDeps;
  #matchers = noMatchers();
  #hasAny: Promise<boolean> | null = null;

  constructor(deps: LinkFamiliesDeps) {
    this.treatment = deps.treatment;
    this.#deps = deps;
  }

  /** The noise family of each URL; `null` where it is of none. A crawl db without families costs one read. */
  async match(urls: readonly string[]): Promise<(FamilyMatch | null)[]> {
    this.#hasAny ??= this.#deps.db.meta(FAMILIES_PRINT_KEY).then((print) => (print ?? '') !== '');
    if (urls.length === 0 || !(await this.#hasAny)) return urls.map(() => null);
    const domains = urls.map((url) => this.#deps.domainOf(hostOf(url)));
    const matchers = await this.#matchersOf(new Set(domains));
    return urls.map((url, i) => matchers.get(domains[i]!)?.match(url) ?? null);
  }

  /** To be called after the families of the crawl db have changed. */
  forget(): void {
    this.#hasAny = null;
    this.#matchers = noMatchers();
  }

  /** Of the domains that have families. */
  async #matchersOf(domains: ReadonlySet<string>): Promise<Map<string, FamilyMatcher>> {
    const missing = [...domains].filter((domain) => this.#matchers.get(domain) === undefined);
    const found: (DomainFamilies | undefined)[] = missing.length === 0 ? [] : await this.#deps.db.linkFamilies(missing);
    const read = new Map(
      missing.map((domain, i) => {
        const row = found[i];
        return [domain, row === undefined ? 'none' : new FamilyMatcher(row.families)] as const;
      }),
    );
    const matchers = new Map<string, FamilyMatcher>();
    for (const domain of domains) {
      const matcher = read.get(domain) ?? this.#matchers.get(domain) ?? 'none';
      if (matcher !== 'none') matchers.set(domain, matcher);
    }
    for (const [domain, matcher] of read) this.#matchers.set(domain, matcher);
    return matchers;
  }
}

const noMatchers = (): Lru<FamilyMatcher | 'none'> => new Lru({ entries: MAX_DOMAINS });
