import type { DayBoundOf } from '../../domain/crawl/revisit/budget-shares.ts';
import { dueFacts } from '../../domain/crawl/revisit/next-visit.ts';
import type { CrawlDatum } from '../../domain/crawl/states/datum.ts';
import { type Matches, matcherOf } from '../../domain/query/expression.ts';
import { parseExpression } from '../../domain/query/parse.ts';
import { hostOf } from '../../domain/url/canonical/url-key.ts';
import type { Clock } from '../../ports/clock.ts';
import type { CrawlDb, DueEntry } from '../../ports/crawl-db.ts';
import type { FetchedRecord, FetchItem, RoundBounds, Segment } from '../../ports/segment-store.ts';
import { chargedFacts } from '../facts/fetch-budget.ts';
import { factsOf, HostDays, takenFacts } from '../facts/host-observations.ts';
import { fetchItem } from '../generate/generate-from-list.ts';
import { type AuditChoice, createAuditChoice } from '../generate/hazard-round.ts';
import { listedPage } from '../update/first-records.ts';
import {
  type Found,
  isLinkBeyondDepth,
  type LinkDeps,
  type LinkOptions,
  redirectTarget,
} from '../update/found-links.ts';
import { additions } from '../update/links/additions.ts';

/** Which targets of redirects a round still takes in, by its size, its budget and its caps. */
class RoundCaps {
  readonly #bounds: RoundBounds;
  readonly #domainOf: (host: string) => string;
  readonly #perHost = new Map<string, number>();
  readonly #perDomain = new Map<string, number>();
  #free: number;

  private constructor(bounds: RoundBounds, followed: number, domainOf: (host: string) => string) {
    this.#bounds = bounds;
    this.#domainOf = domainOf;
    this.#free = bounds.free - followed;
  }

  /** Reads the fetch list where a cap counts the URLs of hosts or domains. */
  static async of(segment: Segment, bounds: RoundBounds, domainOf: (host: string) => string): Promise<RoundCaps> {
    const caps = new RoundCaps(bounds, segment.info.followed ?? 0, domainOf);
    if (bounds.maxPerHost + bounds.maxPerDomain === 0) return caps;
    for await (const { host } of segment.fetchList()) caps.#countHost(host);
    return caps;
  }

  admits(host: string): boolean {
    const { maxPerHost, maxPerDomain } = this.#bounds;
    if (this.#free <= 0) return false;
    if (maxPerHost > 0 && (this.#perHost.get(host) ?? 0) >= maxPerHost) return false;
    return maxPerDomain === 0 || (this.#perDomain.get(this.#domainOf(host)) ?? 0) < maxPerDomain;
  }

  count(host: string): void {
    this.#free--;
    this.#countHost(host);
  }

  #countHost(host: string): void {
    const { maxPerHost, maxPerDomain } = this.#bounds;
    if (maxPerHost > 0) this.#perHost.set(host, (this.#perHost.get(host) ?? 0) + 1);
    if (maxPerDomain === 0) return;
    const domain = this.#domainOf(host);
    this.#perDomain.set(domain, (this.#perDomain.get(domain) ?? 0) + 1);
  }
}

interface FollowDeps {
  readonly db: CrawlDb;
  readonly clock: Clock;
  /** By which a target is admitted, as any link. */
  readonly links: LinkDeps;
  /** Registrable domain of a host. */
  readonly domainOf: (host: string) => string;
  readonly partition: (host: string) => number;
  /** Whether requests may be sent to a host: public ones need a contact. */
  readonly mayRequest: (host: string) => boolean;
  /** Uniform in [0, 1): which visits become audits. */
  readonly random: () => number;
}

export interface FollowOptions extends Pick<LinkOptions, 'beyondVariants' | 'layersOf'> {
  readonly maxRedirects: number;
  /** Whether newly found URLs enter the crawl db. */
  readonly additions: boolean;
  /** Interval of a URL that enters, ms. */
  readonly initialIntervalMs: number;
  /** As in `GenerateSettings`. */
  readonly auditShare: number;
  /** As in `GenerateSettings`. */
  readonly dayBoundOf?: DayBoundOf | undefined;
}

/**
 * Takes the redirects that a round has met, and resolves with the targets that are to be fetched in the same round.
 * Calls must follow one another.
 */
export type FollowRedirects = (redirects: readonly FetchedRecord[]) => Promise<readonly FetchItem[]>;

/** Follows the redirects of a segment within its round; `null` where its round takes nothing in. */
export async function followRedirects(
  deps: FollowDeps,
  segment: Segment,
  options: FollowOptions,
): Promise<FollowRedirects | null> {
  const { bounds, urls, followed = 0 } = segment.info;
  if (bounds === undefined) return null;
  const caps = await RoundCaps.of(segment, bounds, deps.domainOf);
  const joined = new Map<string, boolean>();
  if (followed > 0) {
    for await (const { url, joined: how } of segment.fetchList(urls - followed))
      joined.set(url, how?.isOfSeed ?? false);
  }
  const follower = new Follower(deps, segment, options, bounds, caps, joined);
  return (redirects) => follower.follow(redirects);
}

/** A target that joins the round. */
interface Joining {
  readonly datum: CrawlDatum;
  readonly isNew: boolean;
  readonly target: Target;
}

interface Target extends Found {
  readonly isOfSeed: boolean;
}

/** Targets that hosts with a bound by the day still take in. */
interface PlacesToday {
  admits(host: string): boolean;
  count(host: string): void;
}

class Follower {
  readonly #deps: FollowDeps;
  readonly #segment: Segment;
  readonly #options: FollowOptions;
  readonly #audits: AuditChoice;
  readonly #bounds: RoundBounds;
  readonly #caps: RoundCaps;
  readonly #matches: Matches;
  /** URLs that have joined the round, and whether they are of a seed. */
  readonly #joined: Map<string, boolean>;

  constructor(
    deps: FollowDeps,
    segment: Segment,
    options: FollowOptions,
    bounds: RoundBounds,
    caps: RoundCaps,
    joined: Map<string, boolean>,
  ) {
    this.#deps = deps;
    this.#segment = segment;
    this.#options = options;
    this.#audits = createAuditChoice(options.auditShare, segment.info.hosts, deps.random);
    this.#bounds = bounds;
    this.#caps = caps;
    this.#matches = matchesOf(bounds, deps);
    this.#joined = joined;
  }

  /**
   * The items are on disk before the one batch that leases their URLs, as in generate. Where a crash comes in between,
   * the next call for the same redirect leases them; if they are visited before it, updatedb makes their records. A URL
   * that has a lease is in this round already, or in another; or its item was lost with a process that had not stored
   * it, and updatedb releases it.
   */
  async follow(redirects: readonly FetchedRecord[]): Promise<FetchItem[]> {
    const { db, clock } = this.#deps;
    const targets = await this.#targetsOf(redirects);
    const urls = [...targets.keys()];
    const [records, leases] = [await db.getMany(urls), await db.leases(urls)];
    const now = clock.now();
    const joining: Joining[] = [];
    const places = await this.#placesToday(urls, now);
    for (const [i, url] of urls.entries()) {
      if (leases[i] !== undefined) continue;
      const isListed = this.#joined.has(url);
      const host = hostOf(url);
      if (!isListed && !places.admits(host)) continue;
      const each = await this.#joining(url, targets.get(url) as Target, records[i], now);
      if (each === null) continue;
      joining.push(each);
      if (isListed) continue;
      this.#caps.count(host);
      places.count(host);
    }
    return joining.length === 0 ? [] : this.#join(joining);
  }

  /** What the hosts of targets still allow today. The list of an operator is not bound. */
  async #placesToday(urls: readonly string[], now: number): Promise<PlacesToday> {
    const { isListed = false } = this.#segment.info;
    const days = new HostDays(this.#deps.db, isListed ? undefined : this.#options.dayBoundOf, now);
    for (const url of urls) await days.meet(hostOf(url));
    const taken = new Map<string, number>();
    return {
      admits: (host) => (taken.get(host) ?? 0) < days.leftOf(host),
      count: (host) => void taken.set(host, (taken.get(host) ?? 0) + 1),
    };
  }

  /** Targets that a round may request, by what their redirects say. */
  async #targetsOf(redirects: readonly FetchedRecord[]): Promise<Map<string, Target>> {
    const { db, links } = this.#deps;
    const targets = new Map<string, Target>();
    const records = await db.getMany(redirects.map(({ url }) => url));
    for (const [i, record] of records.entries()) {
      const page = record ?? this.#listed(redirects[i] as FetchedRecord);
      // The address that cannot exist, by which soft 404s are found, has no record.
      if (page === null) continue;
      const found = new Map<string, Found>();
      const tally = { outlinks: 0, filteredUrls: 0 };
      redirectTarget(links, redirects[i] as FetchedRecord, page, this.#options.maxRedirects, found, tally);
      for (const [url, each] of found) {
        const target = { ...each, isOfSeed: this.#isOfSeed(page, url) };
        if (!targets.has(url) && this.#isWithinLayers(url, target)) targets.set(url, target);
      }
    }
    return targets;
  }

  #listed({ url }: FetchedRecord): CrawlDatum | null {
    const { seedScore } = this.#deps.links.scores;
    return listedPage(url, this.#segment.info, { seedScore, initialIntervalMs: this.#options.initialIntervalMs });
  }

  #isOfSeed(page: CrawlDatum, url: string): boolean {
    if (!page.seed && this.#joined.get(page.url) !== true) return false;
    const { domainOf } = this.#deps;
    return domainOf(hostOf(page.url)) === domainOf(hostOf(url));
  }

  /** A seed that redirects within its site stands for the page that it leads to. */
  #isWithinLayers(url: string, { depth, isOfSeed, parent }: Target): boolean {
    const { maxLayers = Number.POSITIVE_INFINITY } = this.#bounds;
    return isOfSeed || !isLinkBeyondDepth(url, depth, parent, { maxLayers, layersOf: this.#options.layersOf });
  }

  /** `null`: it is left to a later round. */
  async #joining(url: string, target: Target, record: CrawlDatum | undefined, now: number): Promise<Joining | null> {
    const host = hostOf(url);
    const isListed = this.#joined.has(url);
    if (!this.#deps.mayRequest(host) || !(isListed || this.#caps.admits(host))) return null;
    if (record !== undefined) {
      const isDue = record.nextFetchAt !== null && record.nextFetchAt <= now;
      return isDue && this.#isWanted(record) ? { datum: record, isNew: false, target } : null;
    }
    const { additions: mayEnter, initialIntervalMs } = this.#options;
    if (!mayEnter) return null;
    const counts = { filteredBy: {}, demotedBy: {} };
    const found = new Map([[url, target]]);
    const { added } = await additions({ ...this.#deps.links, ...counts }, found, this.#options, initialIntervalMs);
    const [datum] = added;
    return datum !== undefined && this.#isWanted(datum) ? { datum, isNew: true, target } : null;
  }

  /** Whether generate would select it, its rank aside. */
  #isWanted(datum: CrawlDatum): boolean {
    const { state, score, fixedIntervalMs, schedule } = datum;
    const { status, minScore, minIntervalMs } = this.#bounds;
    const intervalMs = fixedIntervalMs ?? schedule.intervalMs;
    return (
      (status?.includes(state) ?? true) && score >= minScore && intervalMs >= minIntervalMs && this.#matches(datum)
    );
  }

  async #join(joining: readonly Joining[]): Promise<FetchItem[]> {
    const { db, links, clock } = this.#deps;
    const { id } = this.#segment.info;
    const hostsJoining = joining.map(({ datum }) => hostOf(datum.url));
    const items = joining.filter(({ datum }) => !this.#joined.has(datum.url)).map((each, i) => this.#itemOf(each, i));
    if (items.length > 0) {
      const hosts = new Set(items.map(({ host }) => host).filter((host) => !(host in this.#segment.info.hosts)));
      await this.#segment.addItems(items, await factsOf(db, [...hosts]));
    }
    const added = joining.filter(({ isNew }) => isNew).map(({ datum }) => datum);
    await db.write({
      puts: added.map((datum) => ({ datum, previous: null })),
      lease: { segment: id, entries: joining.map(({ datum }) => dueEntry(datum)) },
      hostFacts: await takenFacts(db, this.#options.dayBoundOf, hostsJoining, clock.now()),
      meta: this.#bounds.isCharged ? await chargedFacts(db, items.length) : {},
    });
    links.seen.add(added.map(({ url }) => url));
    for (const item of items) this.#joined.set(item.url, item.joined?.isOfSeed ?? false);
    return items;
  }

  #itemOf({ datum, isNew, target }: Joining, position: number): FetchItem {
    const host = hostOf(datum.url);
    const place = { index: this.#segment.info.urls + position, host, partition: this.#deps.partition(host) };
    const item = fetchItem(datum, place, this.#audits);
    return { ...item, joined: { from: target.parent.url, isNew, isOfSeed: target.isOfSeed } };
  }
}

function matchesOf({ where }: RoundBounds, { clock, domainOf }: FollowDeps): Matches {
  if (where === undefined) return () => true;
  const now = clock.now();
  return matcherOf(parseExpression(where, now), { now, domainOf });
}

const dueEntry = (datum: CrawlDatum): DueEntry => ({ ...dueFacts(datum), dueAt: datum.nextFetchAt as number });
