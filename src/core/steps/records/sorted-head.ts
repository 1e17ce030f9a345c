import type { CrawlDatum, MetadataValue } from '../../domain/crawl/states/datum.ts';
import { isOneScore, scoreStep } from '../../domain/crawl/states/host-traffic.ts';
import { CrawlError } from '../../domain/errors.ts';
import type { QueryEnvironment, QueryField } from '../../domain/query/fields.ts';
import type { CrawlDb, ReadMeter } from '../../ports/crawl-db.ts';

interface HostSampleDeps {
  readonly db: Pick<CrawlDb, 'hosts' | 'hostRows' | 'recordsAtPlaces'>;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

/** Only this host, or only this domain and the hosts below it; default: all hosts. */
interface SampledHosts {
  readonly host?: string;
  readonly domain?: string;
}

/**
 * A uniform sample of the records of hosts, in key order: places are drawn from the counts of the hosts, and of each
 * host the keys up to its last place are read, no record but those of the sample. While another process writes, counts
 * and keys may differ: a place that is gone by then is left out.
 */
export async function* sampleOfHosts(
  { db, random }: HostSampleDeps,
  hosts: SampledHosts,
  size: number,
  meter?: ReadMeter,
): AsyncGenerator<CrawlDatum> {
  const counts = await countsOf(db, hosts);
  const total = counts.reduce((sum, { urls }) => sum + urls, 0);
  const places = [...drawn(total, size, random)].sort((a, b) => a - b).values();
  let place = places.next();
  let start = 0;
  for (const { host, urls } of counts) {
    const ofHost: number[] = [];
    for (; !place.done && place.value < start + urls; place = places.next()) ofHost.push(place.value - start);
    if (ofHost.length > 0) yield* await db.recordsAtPlaces(host, ofHost, meter);
    start += urls;
  }
}

interface HostCount {
  readonly host: string;
  readonly urls: number;
}

async function countsOf(db: HostSampleDeps['db'], { host, domain }: SampledHosts): Promise<HostCount[]> {
  const counts: HostCount[] = [];
  const ofName = (name: string): boolean => domain === undefined || name === domain || name.endsWith(`.${domain}`);
  const rows = host === undefined ? db.hosts() : (await db.hostRows([host])).filter((row) => row !== undefined);
  for await (const row of rows)
    if (ofName(row.host.replace(/:\d+$/, ''))) counts.push({ host: row.host, urls: row.urls });
  return counts;
}

/** Distinct numbers below `total`, each set of them as likely as any other (Floyd's algorithm; CACM 30:9, 1987). */
function drawn(total: number, size: number, random: () => number): Set<number> {
  const numbers = new Set<number>();
  for (let last = Math.max(0, total - size); last < total; last++) {
    const number = Math.floor(random() * (last + 1));
    numbers.add(numbers.has(number) ? last : number);
  }
  return numbers;
}

/** Reservoir sampling (Vitter's algorithm R, 1985): memory for the sample only. */
export async function* sampled(
  data: AsyncIterable<CrawlDatum>,
  size: number,
  random: () => number,
): AsyncGenerator<CrawlDatum> {
  const reservoir: CrawlDatum[] = [];
  let seen = 0;
  for await (const datum of data) {
    if (reservoir.length < size) reservoir.push(datum);
    else {
      const at = Math.floor(random() * (seen + 1));
      if (at < size) reservoir[at] = datum;
    }
    seen++;
  }
  yield* reservoir;
}

export interface Order<Row = CrawlDatum> {
  readonly field: QueryField<Row>;
  readonly isDescending: boolean;
  readonly env: QueryEnvironment;
}

/**
 * The records with the highest scores, equal ones in key order: as {@link sortedHead} of a scan, which ends once the
 * counts by score say that no record that is left has a higher score than those found.
 */
export async function* highestScores(
  db: Pick<CrawlDb, 'scan' | 'spread'>,
  limit: number,
  meter: ReadMeter,
): AsyncGenerator<CrawlDatum> {
  const left = new Map((await db.spread()).byScore);
  // Highest first; of equal scores the first by key, so that a later one never takes its place.
  const best: CrawlDatum[] = [];
  let worst: number | null = null;
  // Records left that may have a higher score than the worst.
  let higher = limit > 0 ? 1 : 0;
  for await (const datum of higher > 0 ? db.scan({ meter }) : []) {
    const step = scoreStep(datum.score);
    left.set(step, (left.get(step) ?? 0) - 1);
    if (worst === null || datum.score > worst) {
      best.splice(placeOf(best, datum.score), 0, datum);
      if (best.length > limit) best.pop();
      if (best.length === limit) {
        worst = best[limit - 1]!.score;
        higher = countFrom(left, stepAbove(worst));
      }
    } else if (step >= stepAbove(worst)) higher--;
    if (higher <= 0) break;
  }
  yield* best;
}

/** The first step with scores above a score. */
function stepAbove(score: number): number {
  const own = scoreStep(score);
  return isOneScore(own) ? own + 1 : own;
}

function countFrom(left: ReadonlyMap<number, number>, least: number): number {
  let sum = 0;
  for (const [step, count] of left) if (step >= least) sum += count;
  return sum;
}

/** Where a score belongs in a falling order: after equal ones. */
function placeOf(best: readonly CrawlDatum[], score: number): number {
  let [low, high] = [0, best.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (best[middle]!.score >= score) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Records that are sorted in memory where the query has no limit. */
const MOST_SORTED = 200_000;

/**
 * The first `limit` records of an order, in memory for twice their number; missing values last, equal ones in the order
 * of `data`. Rejects with `usage-invalid` when there are too many to sort without a limit.
 */
export async function* sortedHead<Row = CrawlDatum>(
  data: AsyncIterable<Row>,
  { field, isDescending, env }: Order<Row>,
  limit: number,
): AsyncGenerator<Row> {
  const best: { datum: Row; value: MetadataValue | null; at: number }[] = [];
  const cut = (): void => {
    best.sort((a, b) => compare(a.value, b.value, isDescending) || a.at - b.at);
    if (best.length > limit) best.length = limit;
  };
  let at = 0;
  for await (const datum of data) {
    best.push({ datum, value: field.read(datum, env), at: at++ });
    if (best.length >= 2 * limit + 100) cut();
    else if (limit === Number.POSITIVE_INFINITY && best.length > MOST_SORTED) {
      throw new CrawlError('usage-invalid', `more than ${MOST_SORTED} records to sort: add a limit or conditions`);
    }
  }
  cut();
  for (const { datum } of best) yield datum;
}

/** Numbers before texts, truth values as numbers. */
function compare(a: MetadataValue | null, b: MetadataValue | null, isDescending: boolean): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  if (typeof a === 'string' || typeof b === 'string') {
    const [x, y] = [String(a), String(b)];
    const order = typeof a === typeof b ? Number(x > y) - Number(x < y) : typeof a === 'string' ? 1 : -1;
    return isDescending ? -order : order;
  }
  return isDescending ? Number(b) - Number(a) : Number(a) - Number(b);
}
