import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { applyInbox } from '../../src/cluster/partitions/apply-inbox.ts';
import { keptSegments } from '../../src/cluster/partitions/kept-segments.ts';
import { openPartition, type PartitionMemory, RECENT_URLS_BITS } from '../../src/cluster/partitions/open-partition.ts';
import { putSeeds } from '../../src/cluster/partitions/put-seeds.ts';
import { requireSpread, sharedPartitions } from '../../src/cluster/partitions/shared-partitions.ts';
import { playTurn } from '../../src/cluster/partitions/turn.ts';
import { openCrawlStore } from '../../src/cluster/servers/crawl-store.ts';
import { partitionBudget } from '../../src/cluster/workers/partition-budget.ts';
import { defaultConfig } from '../../src/core/config/load.ts';
import { DepthCache } from '../../src/core/domain/url/cache/depth-cache.ts';
import { DEFAULT_PLUGIN_LIST } from '../../src/core/plugin-host/loading/plugin-list.ts';
import type { RoundSummary } from '../../src/core/steps/round-summary.ts';
import { wire } from '../../src/crawler/wiring.ts';
import { keptCache } from '../../src/operations/state/seen-urls.ts';
import { makeStateFolder } from '../../src/operations/state/state-folder.ts';
import { cpuMs, systemClock } from '../../src/operations/system/clock.ts';
import { cpuUs, percent } from '../harness/cost.ts';
import { type Bench, measurement, UsageError } from '../harness/measurement.ts';
import { silent, withFolder } from '../harness/places.ts';
import { madeUrl, PAGES_OF_A_HOST } from './protocol-made.ts';
import { openServers, type Servers, type Tables } from './servers.ts';

const PARTITIONS = 8;
/** URLs that are sent to the partitions, and then taken in. */
const CHUNK = 200_000;
const ROUND = 10_000;
const OPTIONS = {
  stores: 'postgres://127.0.0.1:5433/bench,postgres://127.0.0.1:5434/bench',
  sizes: [2_000_000, 20_000_000],
  pages: PAGES_OF_A_HOST,
  rounds: 10,
};

/**
 * A crawl in two PostgreSQL servers on this machine that grows to each of the sizes by inject, and then plays
 * rounds, as one worker that holds all partitions does. What is injected is measured over the last URLs before a size,
 * half of the smallest, of which no two in a row have the same host.
 */
export const rehearsal = measurement('cluster', OPTIONS, async (bench, { stores, sizes, pages, rounds }) => {
  const urls = stores.split(',');
  if (urls.length !== 2) throw new UsageError(`--stores ${stores}: expected two URLs of PostgreSQL, a comma between`);
  await withFolder(async (dir) => {
    const name = `rehearsal-${process.pid}`;
    const crawl = await openCrawl(dir, name, urls);
    const servers = await openServers(urls, name);
    const figures = figuresOf(bench, servers, pages);
    for (const [i, size] of sizes.entries()) {
      const label = `${size / 1e6} M`;
      const from = sizes[i - 1] ?? 0;
      const before = await servers.tables();
      const inject = async (first: number, end: number): Promise<void> => {
        for (let at = first; at < end; at += CHUNK) {
          const startedAt = performance.now();
          const length = Math.min(CHUNK, end - at);
          await crawl.inject(seeds({ from, size, pages }, at, length));
          bench.say(`${at + length} URLs: ${perSecond(length, startedAt)}`);
        }
      };
      const last = size - Math.min(...sizes) / 2;
      await inject(from, last);
      await figures.cost('an injected URL', label, size - last, () => inject(last, size));
      await figures.space(before, size - from, label);
      if (rounds === 0) continue;
      await figures.cost(`a page of ${rounds} rounds of ${ROUND}`, label, rounds * ROUND, async () => {
        for (let round = 1; round <= rounds; round++) {
          const startedAt = performance.now();
          const fetched = await crawl.round();
          if (fetched !== ROUND) throw new Error(`a round fetched ${fetched} pages where ${ROUND} were due`);
          bench.say(`round ${round}: ${perSecond(ROUND, startedAt)}`);
        }
      });
      await figures.vacuum(label);
    }
    await crawl.close();
    await servers.close();
  });
});

const perSecond = (count: number, startedAt: number): string =>
  `${Math.round((1_000 * count) / (performance.now() - startedAt))} a second`;

interface Growth {
  readonly from: number;
  readonly size: number;
  /** Of a host. */
  readonly pages: number;
}

/** A number without a factor in common with that of the pages of a host. */
const STEP = 1_237;

/** URLs of the hosts that a growth to a size adds: a host after the other, and the pages of each out of order. */
function seeds({ from, size, pages }: Growth, at: number, length: number): string[] {
  const [before, hosts] = [from / pages, (size - from) / pages];
  return Array.from({ length }, (_, i) => {
    const n = at - from + i;
    return madeUrl(before + (n % hosts), (Math.floor(n / hosts) * STEP) % pages);
  });
}

function figuresOf({ question }: Pick<Bench, 'question'>, servers: Servers, pages: number) {
  const note = question(
    `A rehearsal in two PostgreSQL servers, ${PARTITIONS} partitions, URLs of 80 characters, ${pages} of a host`,
  );
  const firsts = new Map<string, number>();
  /** Takes a figure, with its ratio to that of the first size. */
  const grown = (metric: string, value: number, size: string, unit: string, aim?: string): void => {
    note(`${metric}, ${size}`, value, unit);
    const first = firsts.get(metric);
    if (first === undefined) firsts.set(metric, value);
    else note(`${metric}, ${size} against the first size`, value / first, 'x', aim);
  };
  const vacuums = async (when: string, size: string): Promise<void> => {
    const { live, dead, autovacuums } = await servers.tables();
    note(`dead rows ${when}, ${size}`, percent(dead, live + dead), '%');
    note(`runs of autovacuum up to then, ${when}, ${size}`, autovacuums, 'runs');
  };
  return {
    async cost(what: string, size: string, count: number, work: () => Promise<unknown>): Promise<void> {
      const [wal, serverUs, startedAt] = [await servers.walBytes(), servers.cpuUs(), performance.now()];
      const worker = (await cpuUs(work)) / count;
      const server = (servers.cpuUs() - serverUs) / count;
      grown(`CPU of the worker, ${what}`, worker, size, 'us');
      grown(`CPU of the servers, ${what}`, server, size, 'us');
      grown(`CPU of worker and servers, ${what}`, worker + server, size, 'us', '<= 1.5');
      grown(`time, ${what}`, ((performance.now() - startedAt) * 1_000) / count, size, 'us');
      grown(`WAL, ${what}`, ((await servers.walBytes()) - wal) / count, size, 'B');
    },
    /** What URLs have added to the tables. */
    async space(before: Tables, count: number, size: string): Promise<void> {
      const { heap, indexes } = await servers.tables();
      note(`tables against shared_buffers, ${size}`, (heap + indexes) / servers.sharedBuffers, 'x', '>= 2');
      const [ofHeap, ofIndex] = [(heap - before.heap) / count, (indexes - before.indexes) / count];
      note(`bytes of an injected URL, heap, ${size}`, ofHeap, 'B');
      note(`bytes of an injected URL, index, ${size}`, ofIndex, 'B');
      note(`bytes of an injected URL, ${size}`, ofHeap + ofIndex, 'B', '<= 400');
      await vacuums('after inject', size);
      const made = (table: string): string => `rehearsal_${table.split('_')[1]}`;
      await servers.onEach((table) => `CREATE INDEX ${made(table)} ON ${table} (key)`);
      const share = (await servers.tables()).indexes / indexes - 1;
      await servers.onEach((table) => `DROP INDEX incrawl.${made(table)}`);
      note(`bytes of an injected URL with a new index, ${size}`, ofHeap + share * ofIndex, 'B', '<= 400');
    },
    async vacuum(size: string): Promise<void> {
      await vacuums('after the rounds', size);
      const startedAt = performance.now();
      await servers.onEach((table) => `VACUUM ${table}`);
      note(`time of VACUUM, all tables, ${size}`, (performance.now() - startedAt) / 1_000, 's');
      await vacuums('after VACUUM', size);
    },
  };
}

const silentCalls = { onHandedOver: async () => {}, onProgress: () => {}, mayGoOn: () => false, lengthMs: 0, cpuMs };

/** All partitions of a new crawl, held by this process. */
async function openCrawl(dir: string, name: string, [first = '', ...others]: readonly string[]) {
  const config = defaultConfig([
    ...[`cluster.store=${first}`, `cluster.servers=${JSON.stringify(others)}`, `cluster.name=${name}`],
    ...[`cluster.partitions=${PARTITIONS}`, `generate.topN=${ROUND / PARTITIONS}`, 'agent.contact=me@example.org'],
    ...['fetch.delay=0s', 'sitemaps.mode=off', `plugins.file=${pluginsFile(dir)}`],
  ]);
  const store = await openCrawlStore(config.cluster);
  await makeStateFolder(dir);
  const own = { config, dir, baseDir: dir, log: silent, clock: systemClock, random: Math.random };
  const { close, segments: _, ...wiring } = await wire(own);
  const place = { store, dir, name, partitions: PARTITIONS, segments: '' };
  const stores = sharedPartitions({ ...place, ...(await requireSpread(place)) }, config.cluster.leaseMs);
  const memoryOf = (): PartitionMemory => ({
    ...{ holder: name, recent: new DepthCache(RECENT_URLS_BITS), cacheOf: keptCache(config), endedWell: false },
  });
  const { signal } = new AbortController();
  const deps = { wiring, stores, segmentsIn: keptSegments(config, silent), memoryOf };
  const all = Array.from({ length: PARTITIONS }, (_, partition) => partition);
  const held = await Promise.all(
    all.map(async (partition) => ({ partition, open: await openPartition(deps, partition, signal) })),
  );
  const atOnce = (use: (each: (typeof held)[number]) => Promise<unknown>) => Promise.all(held.map(use));
  return {
    async inject(urls: readonly string[]) {
      await putSeeds({ ...wiring, stores }, [{ name: 'seeds', lines: urls }]);
      await atOnce(({ partition, open }) =>
        applyInbox(open.deps, { partition, stores, ...silentCalls }, signal, async () => {}),
      );
    },
    /** One round of each partition, all at once. */
    async round() {
      let fetched = 0;
      await atOnce(({ partition, open }) => {
        const see = async () => ({ idle: new Set<number>(), awaited: new Set<number>() });
        const budget = partitionBudget(open.deps, { partition, token: open.token, stores, see });
        const onRound = (round: RoundSummary): void => {
          fetched += round.fetched;
        };
        return playTurn(open, { partition, stores, signal, budget, nextRound: () => 1, onRound, ...silentCalls });
      });
      return fetched;
    },
    async close() {
      await atOnce(({ open }) => open.close());
      await store.close();
      await close();
    },
  };
}

/** The shipped plugins, with made answers in place of the network. */
function pluginsFile(dir: string): string {
  const names = DEFAULT_PLUGIN_LIST.entries.map(({ use }) => use).filter((use) => use !== 'protocol-http');
  const made = fileURLToPath(new URL('./protocol-made.js', import.meta.url));
  const file = join(dir, 'plugins.yaml');
  writeFileSync(file, `plugins:\n${[made, ...names].map((use) => `  - use: ${use}\n`).join('')}`);
  return file;
}
