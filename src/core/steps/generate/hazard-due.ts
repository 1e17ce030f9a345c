import { type DueDecision, dueDecision, dueRank, groupsToLookAt } from '../../domain/crawl/hazard/due-decision.ts';
import {
  expectedOf,
  groupOf,
  type HostExpectation,
  hotGroups,
  looksAllowed,
  type PageExpectation,
} from '../../domain/crawl/hazard/expectation.ts';
import { type IntervalBounds, isDueByHazard, spreadOf } from '../../domain/crawl/revisit/next-visit.ts';
import { hostOf } from '../../domain/url/canonical/url-key.ts';
import type { CrawlDb, DueEntry, DueQuery } from '../../ports/crawl-db.ts';
import type { Expectations } from '../facts/expected-changes.ts';
import type { WatchedHosts } from '../facts/host-observations.ts';

/** A page that is due by the clock of its group. */
interface GroupPick {
  readonly entry: DueEntry;
  readonly host: string;
  readonly group: number;
  readonly rank: number;
}

interface OpenGroup {
  readonly allowed: number;
  readonly picks: GroupPick[];
}

/** Chooses among the pages of each group: of the first ones in the order of the index those of the highest rank. */
class GroupPicks {
  /** Picks kept so far. */
  kept = 0;
  readonly #window: number;
  readonly #allowedOf: (host: string, group: number) => number;
  readonly #groups = new Map<string, OpenGroup>();
  /** Groups with pages that are due in this round, chosen or not. */
  readonly #due = new Set<string>();
  /** Groups that have had their choice. */
  readonly #taken = new Set<string>();

  /** @param allowedOf pages that a group gives to a round */
  constructor(window: number, allowedOf: (host: string, group: number) => number) {
    this.#window = window;
    this.#allowedOf = allowedOf;
  }

  add(pick: GroupPick): void {
    const key = keyOf(pick.host, pick.group);
    this.#due.add(key);
    if (this.#taken.has(key)) return;
    const group = this.#groups.get(key) ?? { allowed: this.#allowedOf(pick.host, pick.group), picks: [] };
    this.#groups.set(key, group);
    if (group.picks.length >= Math.max(this.#window, 2 * group.allowed)) return;
    group.picks.push(pick);
    this.kept++;
  }

  /** A page of the group is due whatever the group says. */
  noteDue(host: string, group: number): void {
    this.#due.add(keyOf(host, group));
  }

  isDue(host: string, group: number): boolean {
    return this.#due.has(keyOf(host, group));
  }

  /** Pages that the group may still give. */
  placesOf(host: string, group: number): number {
    const key = keyOf(host, group);
    return this.#taken.has(key) ? 0 : (this.#groups.get(key)?.allowed ?? this.#allowedOf(host, group));
  }

  *take(): Generator<DueEntry> {
    for (const [key, { allowed, picks }] of this.#groups) {
      this.#taken.add(key);
      const best = picks.sort((a, b) => b.rank - a.rank).slice(0, allowed);
      for (const { entry } of best) yield entry;
    }
    this.#groups.clear();
    this.kept = 0;
  }
}

const keyOf = (host: string, group: number): string => `${group} ${host}`;

interface HazardDeps {
  readonly db: Pick<CrawlDb, 'due' | 'dueOfGroup'>;
  readonly known: KnownExpectations;
  readonly watched: WatchedHosts;
  /** The operator's bounds of the interval of a page. */
  readonly boundsOf: (url: string) => IntervalBounds | Promise<IntervalBounds>;
  /** The longest interval without rules for some pages, ms. */
  readonly maxIntervalMs: number;
  /** Takes pages that wait, and when they are to be looked at again. */
  readonly defer: (url: string, until: number) => Promise<void>;
}

interface HazardRound {
  /** Pages that are due at this time count as due, ms since the epoch. */
  readonly now: number;
  /** Time by which pages come early, as the next run may be far, ms. */
  readonly aheadMs: number;
}

/** Entries of a group read beyond those that are due by their time. */
const WINDOW = 32;
/** Candidates kept at a time, over all groups. */
const MAX_KEPT = 50_000;

/**
 * Known pages that are due by their beliefs and the clocks of their groups. The due index says when a page is looked
 * at; whether it is due is decided then. A page whose group was quiet waits; a group that has shown changes is read
 * ahead of its time; a group that was not looked at gives sentinels. A group gives few of its pages due by hazard until
 * it was looked at again: 4, 4, 8, 16 .. Reads what is due, and a bounded number of entries for each group beyond.
 */
export class HazardDue {
  /** Groups that gave sentinels, by host. */
  readonly looked = new Map<string, ReadonlySet<number>>();
  readonly #deps: HazardDeps;
  readonly #round: HazardRound;
  readonly #picks: GroupPicks;

  constructor(deps: HazardDeps, round: HazardRound) {
    this.#deps = deps;
    this.#round = round;
    this.#picks = new GroupPicks(WINDOW, (host, group) => looksAllowed(deps.known.of(host).clock, group, round.now));
  }

  /** As `due` of the crawl db, for known pages alone. */
  async *entries(query: DueQuery): AsyncGenerator<DueEntry> {
    const { db, known } = this.#deps;
    const { now, aheadMs } = this.#round;
    for await (const window of known.windows(db.due({ ...query, only: 'known', until: now + aheadMs }))) {
      for (const entry of window) if (await this.#isDueNow(entry)) yield entry;
      if (this.#picks.kept > MAX_KEPT) yield* this.#picks.take();
    }
    yield* this.#pulled();
    yield* this.#picks.take();
    yield* this.#sentinels();
  }

  /** Whether an entry is due whatever its group says; those due by hazard are kept for their group to choose from. */
  async #isDueNow(entry: DueEntry): Promise<boolean> {
    const { now } = this.#round;
    if (!isDueByHazard(entry) || isBroughtForward(entry)) return entry.dueAt <= now;
    const decision = await this.#decide(entry);
    if (decision.due === 'cap') {
      this.#picks.noteDue(hostOf(entry.url), groupOf(entry.url));
      return true;
    }
    if (decision.due === 'hazard') this.#picks.add(pickOf(entry, decision));
    else if (entry.dueAt <= now) await this.#deps.defer(entry.url, decision.waitUntil);
    return false;
  }

  async #decide(entry: DueEntry): Promise<DueDecision> {
    const { known, boundsOf } = this.#deps;
    const lastAt = entry.lastFetchAt as number;
    return dueDecision(pageOf(entry), known.ofPage(entry.url, lastAt, this.#round.now), {
      ...this.#round,
      ...(await boundsOf(entry.url)),
    });
  }

  /** Keeps pages of groups whose clock is ahead of the calendar, though their time has not come. */
  async *#pulled(): AsyncGenerator<DueEntry> {
    const { known, watched, maxIntervalMs } = this.#deps;
    const { now, aheadMs } = this.#round;
    for (const [host, { isHot }] of watched) {
      if (!isHot) continue;
      await known.read([host]);
      for (const [group, gainMs] of hotGroups(known.of(host), now - maxIntervalMs)) {
        const places = this.#picks.placesOf(host, group);
        if (places === 0) continue;
        for (const entry of await this.#entriesOf(host, group, now + aheadMs, WINDOW + 2 * places)) {
          if (entry.dueAt > now + aheadMs + gainMs) break;
          const decision = await this.#decide(entry);
          if (decision.due === 'cap') yield entry;
          else if (decision.due === 'hazard') this.#picks.add(pickOf(entry, decision));
        }
      }
      if (this.#picks.kept > MAX_KEPT) yield* this.#picks.take();
    }
  }

  /**
   * Pages of groups that were not looked at for too long: from the groups longest unseen, the pages that change most.
   */
  async *#sentinels(): AsyncGenerator<DueEntry> {
    const { known, watched, maxIntervalMs } = this.#deps;
    const { now } = this.#round;
    for (const [host, { lookAt }] of watched) {
      if (lookAt === null || lookAt > now) continue;
      await known.read([host]);
      const groups = groupsToLookAt(known.of(host), maxIntervalMs, now);
      for (const [group, pages] of groups) {
        if (this.#picks.isDue(host, group)) continue;
        yield* await this.#chosen(host, group, pages);
      }
      if (groups.size > 0) this.looked.set(host, new Set(groups.keys()));
    }
  }

  async #chosen(host: string, group: number, pages: number): Promise<DueEntry[]> {
    const { boundsOf } = this.#deps;
    const { now } = this.#round;
    const picks: GroupPick[] = [];
    for (const entry of await this.#entriesOf(host, group, 0, WINDOW)) {
      const { minIntervalMs } = await boundsOf(entry.url);
      if (now - (entry.lastFetchAt as number) < minIntervalMs) continue;
      picks.push(pickOf(entry, await this.#decide(entry)));
    }
    return picks
      .sort((a, b) => b.rank - a.rank)
      .slice(0, pages)
      .map(({ entry }) => entry);
  }

  async #entriesOf(host: string, group: number, after: number, limit: number): Promise<DueEntry[]> {
    const entries = await this.#deps.db.dueOfGroup({ host, group, after, limit });
    return entries.filter(isDueByHazard);
  }
}

/** The clocks after groups were looked at, so that no further round chooses sentinels of them before they are due. */
export function lookedAtClock(host: HostExpectation, groups: ReadonlySet<number>, now: number): HostExpectation {
  const { clock } = host;
  const looked = clock.groups.map((each) => (groups.has(each.number) ? { ...each, lookedAt: now } : each));
  return { ...host, clock: { ...clock, groups: looked } };
}

const pageOf = ({ url, belief, lastFetchAt, weight }: DueEntry) => ({
  ...{ belief, weight, lastFetchAt: lastFetchAt as number, spread: spreadOf(url) },
});

const pickOf = (entry: DueEntry, decision: DueDecision): GroupPick => ({
  entry,
  ...{ host: hostOf(entry.url), group: groupOf(entry.url), rank: dueRank(pageOf(entry), decision) },
});

/** Whether a visit was asked for before the one that the schedule has chosen: by touch, a seed or a sitemap. */
export const isBroughtForward = ({ dueAt, lastFetchAt, intervalMs }: DueEntry): boolean =>
  dueAt + 1 < (lastFetchAt as number) + intervalMs;

/** Entries whose hosts are looked up together. */
const HOSTS_AT_ONCE = 500;
/** Hosts remembered: a clock has up to 6 KB. */
const MAX_HOSTS = 5_000;

/** What is expected of the hosts of due entries, read from the crawl db as the entries come. */
export class KnownExpectations {
  readonly #db: Pick<CrawlDb, 'hostRows'>;
  readonly #expectations: Expectations;
  readonly #hosts = new Map<string, HostExpectation>();

  constructor(db: Pick<CrawlDb, 'hostRows'>, expectations: Expectations) {
    this.#db = db;
    this.#expectations = expectations;
  }

  /** Yields the entries in windows, after the hosts of a window were read. */
  async *windows(entries: AsyncIterable<DueEntry>): AsyncGenerator<readonly DueEntry[]> {
    let window: DueEntry[] = [];
    for await (const entry of entries) {
      window.push(entry);
      if (window.length < HOSTS_AT_ONCE) continue;
      await this.read(window.map(({ url }) => hostOf(url)));
      yield window;
      window = [];
    }
    await this.read(window.map(({ url }) => hostOf(url)));
    if (window.length > 0) yield window;
  }

  async read(hosts: readonly string[]): Promise<void> {
    if (this.#hosts.size > MAX_HOSTS) this.#hosts.clear();
    const unknown = [...new Set(hosts)].filter((host) => !this.#hosts.has(host));
    if (unknown.length === 0) return;
    const rows = await this.#db.hostRows(unknown);
    for (const [i, host] of unknown.entries()) this.#hosts.set(host, this.#expectations(rows[i]?.facts));
  }

  /** Of a host that was read. */
  of(host: string): HostExpectation {
    return this.#hosts.get(host) ?? this.#expectations(undefined);
  }

  ofPage(url: string, lastAt: number, now: number): PageExpectation {
    return expectedOf(this.of(hostOf(url)), url, lastAt, now);
  }
}
