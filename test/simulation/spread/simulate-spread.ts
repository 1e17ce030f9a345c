import { seeded } from '../../../bench/harness/seeded.ts';
import { dumpLines } from '../../../src/care/transfer/db-transfer.ts';
import { importDivided } from '../../../src/care/transfer/divided-lines.ts';
import { placing } from '../../../src/cluster/partitions/partition-dir.ts';
import { defaultConfig } from '../../../src/core/config/load.ts';
import type { Config } from '../../../src/core/config/schema.ts';
import { hostOf } from '../../../src/core/domain/url/canonical/url-key.ts';
import type { PartitionBy } from '../../../src/core/domain/url/hash/partition.ts';
import type { CrawlDb } from '../../../src/core/ports/crawl-db.ts';
import type { Log } from '../../../src/core/ports/log.ts';
import type { OrderedRows } from '../../../src/core/ports/ordered-rows.ts';
import { verifyRows } from '../../../src/store/rows/care/verify-rows.ts';
import { hasFormat } from '../../../src/store/rows/format.ts';
import { openCrawlDbOn } from '../../../src/store/rows/open-crawl-db.ts';
import { createMemoryRobotsStore } from '../../memory/robots-store.ts';
import { chance, choice } from '../crawl/chance.ts';
import { SimulatedDisk } from '../crawl/disk.ts';
import { Fate } from '../crawl/fate.ts';
import { takeFileCalls } from '../crawl/file-calls.ts';
import { takeIntervals } from '../crawl/intervals.ts';
import { finalState } from '../crawl/ledger.ts';
import { SimulatedNetwork } from '../crawl/network.ts';
import { PolitenessWatch } from '../crawl/politeness.ts';
import { loadProgram, openProcess, STATE_DIR } from '../crawl/process.ts';
import { SimulatedRows } from '../crawl/rows.ts';
import { VirtualClock } from '../crawl/virtual-clock.ts';
import { SimulatedWorld } from '../crawl/world.ts';
import { LEASE_MS, SimulatedStores } from './simulated-stores.ts';
import { SimulatedTurns } from './simulated-turns.ts';
import { WorkerLife } from './worker-life.ts';
import { runWorker, type SharedWorld } from './worker-process.ts';

/** A spread crawl of a simulated world that went wrong. */
export class SpreadFailure extends Error {}

export interface SimulatedSpread {
  readonly partitions: number;
  readonly workers: number;
  readonly kills: number;
  readonly pauses: number;
  readonly requests: number;
  readonly records: number;
  /** Leases taken after their holder had not given them back. */
  readonly takeOvers: number;
  /** Partitions that were split. */
  readonly splits: number;
  /** Links that went from one partition to another. */
  readonly forwarded: number;
}

const START = Date.UTC(2026, 0, 1);
/** A link that is lost on its way to another partition then takes pages with it. */
const HOPS = 3;

/** What a crawl ends with. */
interface Outcome {
  /** By URL: the record, as far as it does not depend on the order of visits, its links and the changes of the feed. */
  readonly pages: ReadonlyMap<string, string>;
  readonly requests: number;
}

/**
 * Crawls the steady world of a seed by several workers on several partitions, of which some are killed at any write or
 * request, and others stand still for longer than their lease; then once more by one process on one crawl db. Both
 * crawls end at the same pages, states, signatures, links and changes. Rejects with {@link SpreadFailure}, whose
 * message has the seed and the last events.
 */
export async function simulateSpread(seed: number): Promise<SimulatedSpread> {
  const spread = await inWorld(seed, (place) => crawlSpread(seed, place));
  const whole = await inWorld(seed, crawlWhole);
  const urls = [...new Set([...whole.pages.keys(), ...spread.pages.keys()])].sort();
  const differing = urls.filter((url) => whole.pages.get(url) !== spread.pages.get(url));
  if (differing.length > 0) {
    const lines = differing
      .slice(0, 6)
      .map((url) => `${url}:\n    ${spread.pages.get(url)}\n  instead of\n    ${whole.pages.get(url)}`);
    throw failure(seed, ['the spread crawl ends with others pages than one on one crawl db:', ...lines], spread.trace);
  }
  return spread;
}

interface Place {
  readonly config: Config;
  readonly clock: VirtualClock;
  readonly fate: Fate;
  readonly random: () => number;
  readonly world: SimulatedWorld;
  readonly network: SimulatedNetwork;
  readonly politeness: PolitenessWatch;
}

async function inWorld<Value>(seed: number, crawl: (place: Place) => Promise<Value>): Promise<Value> {
  const random = seeded(seed);
  const clock = new VirtualClock(START);
  const fate = new Fate(() => clock.now());
  const world = new SimulatedWorld(seed, true, START, HOPS, byOf(seed) === 'host' ? 'one.example' : 'example');
  const config = configOf(seed);
  const politeness = new PolitenessWatch(config.fetch);
  const network = new SimulatedNetwork({ world, clock, fate, politeness });
  const disk = new SimulatedDisk(fate, random, () => clock.now());
  disk.prepareFolder(STATE_DIR);
  const giveBackFiles = takeFileCalls(disk, fate);
  const giveBackIntervals = takeIntervals(clock);
  try {
    return await crawl({ config, clock, fate, random, world, network, politeness });
  } catch (error) {
    if (error instanceof SpreadFailure) throw error;
    throw failure(seed, [`a step failed: ${(error as Error).stack}`], fate.trace);
  } finally {
    giveBackIntervals();
    giveBackFiles();
  }
}

async function crawlSpread(
  seed: number,
  place: Place,
): Promise<SimulatedSpread & Outcome & { trace: readonly string[] }> {
  const { config, clock, fate, random, world, network, politeness } = place;
  const partitions = choice([2, 4, 8, 16], seed, 'partitions');
  const by = byOf(seed);
  const stores = new SimulatedStores(partitions, by, clock, random);
  const turns = new SimulatedTurns(clock, stores, () => random() < 0.02);
  const shared: SharedWorld = {
    config,
    network,
    random,
    stores,
    turns,
    robotsStore: createMemoryRobotsStore(),
    segments: new Map(),
  };
  const program = await loadProgram(place);
  const sums = { workers: 0, kills: 0, pauses: 0 };
  let blows = 1 + Math.floor(random() * 12);
  const drawn = (): ConstructorParameters<typeof WorkerLife>[2] => {
    if (blows-- <= 0) return null;
    const kind = ([undefined, 'append', 'append', 'batch', 'request'] as const)[Math.floor(random() * 5)];
    const effects = 1 + Math.floor(Math.exp(random() * (kind === undefined ? 6 : kind === 'append' ? 2 : 4)));
    if (random() < 0.6) return { effects, kind, blow: { kind: 'kill' } };
    sums.pauses++;
    // The next holder asks hosts once they have rested; what the paused worker asks can be seen no sooner.
    const leastMs = random() < 0.4 ? 0 : LEASE_MS + config.fetch.maxCrawlDelayMs;
    return { effects, kind, blow: { kind: 'pause', ms: leastMs + Math.ceil(random() * 5 * LEASE_MS) } };
  };
  // A worker that dies is followed by another one.
  const live = async (): Promise<void> => {
    const name = `worker ${++sums.workers}`;
    let die = (): void => {};
    const died = new Promise<'died'>((resolve) => {
      die = () => resolve('died');
    });
    const life = new WorkerLife(name, clock, drawn(), () => {
      sums.kills++;
      fate.note(`${name} is killed`);
      die();
    });
    fate.note(`${name} begins`);
    if ((await Promise.race([runWorker(life, program, shared, world.seeds), died])) !== 'died') return;
    await clock.sleep(Math.ceil(random() * 2 * LEASE_MS));
    await live();
  };
  const count = 2 + Math.floor(random() * 3);
  const lives = Array.from({ length: count }, live);
  await clock.drive(Promise.all([...lives, splitSome(seed, place, shared, program.log)]), () => false);
  const faults = politeness.violations.map((violation) => `impolite: ${violation}`);
  const pages = new Map<string, string>();
  let forwarded = 0;
  const check = async (): Promise<void> => {
    for (let partition = 0; partition < stores.partitions; partition++) {
      const rows = stores.rows(partition);
      await verifyRows(rows, ({ kind, subject, detail }) => faults.push(`verify says ${kind}: ${subject}: ${detail}`));
      const db = await openCrawlDbOn(rows, { name: 'a partition', log: program.log });
      faults.push(...(await leftOvers(db)).map((left) => `partition ${partition}: ${left}`));
      forwarded += (await db.forwarding.marks()).lastSent;
      for (const [url, page] of await pagesOf(db, world)) {
        if (stores.placeOf(hostOf(url)) !== partition) faults.push(`${url} is in partition ${partition}`);
        pages.set(url, page);
      }
    }
  };
  await clock.drive(check(), () => false);
  if (faults.length > 0) throw failure(seed, faults.slice(0, 12), fate.trace);
  const { takeOvers } = stores;
  const splits = stores.splits.length;
  const counted = {
    partitions,
    ...sums,
    takeOvers,
    forwarded,
    splits,
    requests: network.requests,
    records: pages.size,
  };
  return { ...counted, pages, trace: fate.trace };
}

/** Splits some partitions at moments of the seed, each between two of its rounds. */
async function splitSome(
  seed: number,
  { clock, fate }: Place,
  { stores, turns }: SharedWorld,
  log: Log,
): Promise<void> {
  const random = seeded(seed ^ 0x5b117);
  const by = byOf(seed);
  for (let left = 1 + Math.floor(random() * 4); left > 0; left--) {
    await clock.sleep(Math.ceil(random() * 20_000));
    const partition = Math.floor(random() * stores.partitions);
    const into = stores.partitions;
    const placeOf = placing(by, into + 1, [...stores.splits, partition]);
    const divide = async (rows: OrderedRows, [stays, leaves]: readonly OrderedRows[]): Promise<boolean> => {
      if (!(await hasFormat(rows))) return false;
      const db = await openCrawlDbOn(rows, { name: 'split', log, isReadOnly: true });
      if ((await db.segments()).some(({ state }) => state !== 'updated')) return false;
      const opened = (to: OrderedRows | undefined) => openCrawlDbOn(to as OrderedRows, { name: 'half', log });
      await importDivided(dumpLines(db, clock.now()), {
        ...{ dbs: [await opened(stays), await opened(leaves)], by, firstChange: (await db.feedEnds()).first },
        ...{ leaves: (host: string) => placeOf(host) === into, facts: {} },
      });
      return true;
    };
    for (let look = 0; look < 200 && !(await stores.split(partition, divide)); look++) await clock.sleep(97);
    if (stores.partitions === into) continue;
    fate.note(`partition ${partition} is split into ${partition} and ${into}`);
    turns.wantAll([partition, into]);
  }
}

async function crawlWhole(place: Place): Promise<Outcome> {
  const { clock, fate, random, world, network } = place;
  const rows = new SimulatedRows({ fate, clock, random });
  const program = await loadProgram(place);
  const work = async (): Promise<Outcome['pages']> => {
    const process = await openProcess(place, program, rows.open());
    await process.crawl({ seeds: [{ name: 'seeds', lines: world.seeds }] });
    const pages = await pagesOf(process.db, world);
    await process.close();
    return pages;
  };
  const ended = await clock.drive(work(), () => false);
  if (ended === 'crashed') throw new Error('a process that nothing cuts off has crashed');
  return { pages: ended.value, requests: network.requests };
}

/** What must not be left in a partition when the crawl is done. */
async function leftOvers(db: CrawlDb): Promise<string[]> {
  const left: string[] = [];
  for await (const { links } of db.forwarding.outbox()) left.push(...links.map(({ url }) => `in the outbox: ${url}`));
  for await (const { from, number } of db.forwarding.inbox()) left.push(`in the inbox: ${from} ${number}`);
  for await (const { url, segment } of db.scanLeases()) left.push(`leased to ${segment}: ${url}`);
  for (const { id, state } of await db.segments()) if (state !== 'updated') left.push(`segment ${id} is ${state}`);
  return left;
}

async function pagesOf(db: CrawlDb, world: SimulatedWorld): Promise<Map<string, string>> {
  const changes = new Map<string, string[]>();
  for await (const { url, kind } of db.changes()) changes.set(url, [...(changes.get(url) ?? []), kind]);
  const pages = new Map<string, string>();
  for await (const datum of db.scan()) {
    const { url } = datum;
    const isUnique = world.isUnique(url);
    const links = [...((await db.linksOf([url]))[0] ?? [])].sort();
    pages.set(url, JSON.stringify([finalState(datum, isUnique), links, isUnique ? changes.get(url) : null]));
  }
  return pages;
}

function failure(seed: number, faults: readonly string[], trace: readonly string[]): SpreadFailure {
  const events = trace.map((line) => `    ${line}`);
  return new SpreadFailure([`seed ${seed}`, ...faults, '  last events:', ...events].join('\n'));
}

/** By host, all hosts of the world are of one domain. */
const byOf = (seed: number): PartitionBy => choice(['domain', 'host'] as const, seed, 'what lies in one partition');

function configOf(seed: number): Config {
  const pick = <Value>(name: string, ...values: readonly Value[]): string => `${name}=${choice(values, seed, name)}`;
  return defaultConfig([
    'agent.contact=mailto:owner@crawler.example',
    pick('fetch.delay', '1s', '2s'),
    pick('fetch.concurrency', 1, 3, 20),
    pick('fetch.followRedirects', true, true, false),
    pick('generate.topN', 5, 20, 50, 1_000),
    pick('generate.maxPerHost', 0, 0, 4, 15),
    pick('updatedb.chunk', 1, 3, 10, 500),
    pick('updatedb.orphanSweepEvery', '1m', '1h', '7d'),
    pick('dedup.scope', 'host', 'domain'),
    pick('seen.filter', 'memory', 'memory', 'off'),
    'seen.leafBits=8192',
    'seen.expectedUrls=100',
    // What lies in several partitions is not compared.
    ...(byOf(seed) === 'host' ? ['dedup.scope=host'] : []),
    ...['schedule.name=fixed', 'schedule.interval=365d', 'schedule.maxInterval=365d', 'fetch.soft404=false'],
    ...(chance(seed, 'sitemaps') < 0.3 ? ['sitemaps.mode=discover'] : ['sitemaps.mode=off']),
  ]);
}
