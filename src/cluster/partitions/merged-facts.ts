import { parseReading } from '../../core/domain/crawl/discovery/sitemap-hint.ts';
import { hostOf } from '../../core/domain/url/canonical/url-key.ts';
import { type CrawlDbCounters, SITEMAP_LINKS_KEY, type Spread, type StateCounts } from '../../core/ports/crawl-db.ts';
import { LEVEL_KEY, mergedLevel, shareOfLevel } from '../../core/steps/facts/expected-changes.ts';
import { WRITTEN_KEY } from '../../core/steps/facts/touched-urls.ts';
import { SEED_HOSTS_KEY } from '../../core/steps/inject.ts';
import { FAMILIES_PRINT_KEY } from '../../core/steps/update/link-treatment.ts';
import { READ_KEY } from '../../operations/loop/sitemaps.ts';
import { SEEN_STATS_KEY } from '../../operations/state/seen-urls.ts';

type Facts = Readonly<Record<string, string>>;

/**
 * The facts of a whole crawl, merged from those of its partitions. Facts about a round of one partition (its budget,
 * its price, its pauses, its holder) are left out: a crawl db without them begins them anew.
 */
export function mergedFacts(all: readonly Facts[]): Facts {
  const values = new Map<string, string[]>();
  for (const facts of all) {
    for (const [name, value] of Object.entries(facts)) values.set(name, [...(values.get(name) ?? []), value]);
  }
  const merged = [...values].flatMap(([name, of]): [string, string][] => {
    const value = mergerOf(name)?.(of) ?? null;
    return value === null ? [] : [[name, value]];
  });
  return Object.fromEntries(merged);
}

type Merger = (values: readonly string[]) => string | null;

const latest: Merger = (values) => String(Math.max(...values.map(Number)));
const latestReading: Merger = (values) =>
  values.reduce((last, each) => ((parseReading(each)?.at ?? 0) > (parseReading(last)?.at ?? 0) ? each : last));
/** A digest of several parts, different from that of any of them. */
const joined: Merger = (values) => [...new Set(values.filter((value) => value !== ''))].sort().join('+');

const MERGERS: ReadonlyMap<string, Merger> = new Map([
  [SEEN_STATS_KEY, sumsOfFields],
  [SEED_HOSTS_KEY, (values) => JSON.stringify([...new Set(values.flatMap((each) => JSON.parse(each) as string[]))])],
  [LEVEL_KEY, mergedLevel],
  [WRITTEN_KEY, latest],
  [SITEMAP_LINKS_KEY, (values) => values[0] as string],
  [FAMILIES_PRINT_KEY, joined],
]);

const mergerOf = (name: string): Merger | undefined => (name.startsWith(READ_KEY) ? latestReading : MERGERS.get(name));

/** Of JSON objects of numbers: the sum of each field. */
function sumsOfFields(values: readonly string[]): string {
  const sums: Record<string, number> = {};
  for (const value of values) {
    for (const [field, count] of Object.entries(JSON.parse(value) as Record<string, number>)) {
      sums[field] = (sums[field] ?? 0) + count;
    }
  }
  return JSON.stringify(sums);
}

/**
 * The part of a fact of one crawl db that a partition gets, such that all parts merge into the fact again. `null`:
 * none, because the fact belongs to other partitions, or to the rounds of that crawl db.
 */
export function shareOfFact(
  name: string,
  value: string,
  partition: number,
  partitions: number,
  placeOf: (host: string) => number,
): string | null {
  if (name.startsWith(READ_KEY)) {
    return placeOf(hostOf(name.slice(READ_KEY.length))) === partition ? value : null;
  }
  const merger = MERGERS.get(name);
  if (merger === undefined) return null;
  // Counts of look-ups are for people, and mean nothing when they are divided.
  if (merger === sumsOfFields) return partition === 0 ? value : null;
  return merger === mergedLevel ? shareOfLevel(value, partition, partitions) : value;
}

export function summedCounters(all: readonly CrawlDbCounters[]): CrawlDbCounters {
  const sum = (of: (each: CrawlDbCounters) => number): number => all.reduce((total, each) => total + of(each), 0);
  const byState: Record<string, number> = {};
  for (const each of all) {
    for (const [state, count] of Object.entries(each.byState)) byState[state] = (byState[state] ?? 0) + count;
  }
  return {
    urls: sum(({ urls }) => urls),
    byState: byState as StateCounts,
    hosts: sum(({ hosts }) => hosts),
    leased: sum(({ leased }) => leased),
  };
}

export function summedSpread(all: readonly Spread[]): Spread {
  const sums = <Key>(of: (each: Spread) => ReadonlyMap<Key, number>): ReadonlyMap<Key, number> => {
    const sum = new Map<Key, number>();
    for (const each of all) for (const [key, count] of of(each)) sum.set(key, (sum.get(key) ?? 0) + count);
    return sum;
  };
  return {
    byDepth: sums(({ byDepth }) => byDepth),
    byType: sums(({ byType }) => byType),
    byFailures: sums(({ byFailures }) => byFailures),
    byInterval: sums(({ byInterval }) => byInterval),
    byScore: sums(({ byScore }) => byScore),
    dueKnown: sums(({ dueKnown }) => dueKnown),
    dueNew: sums(({ dueNew }) => dueNew),
    visitsPerDay: all.reduce((sum, { visitsPerDay }) => sum + visitsPerDay, 0),
  };
}
