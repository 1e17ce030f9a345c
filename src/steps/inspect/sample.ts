import type { CrawlDatum } from '../../domain/crawl/states/datum.ts';
import type { CrawlDb } from '../../ports/crawl-db.ts';
import type { ReadMeter } from '../../ports/record-indexes.ts';

export interface HostSampleDeps {
  readonly db: Pick<CrawlDb, 'hosts' | 'hostRows' | 'recordsAtPlaces'>;
  /** Uniform in [0, 1). */
  readonly random: () => number;
}

/** Only this host, or only this domain and the hosts below it; default: all hosts. */
export interface SampledHosts {
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
