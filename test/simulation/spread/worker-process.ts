import { spreadWork } from '../../../src/cluster/partitions/spread-work.ts';
import { throughSplits } from '../../../src/cluster/partitions/through-splits.ts';
import type { WorkOptions, WorkSummary } from '../../../src/cluster/workers/work-off.ts';
import { WorkerTally } from '../../../src/cluster/workers/worker-tally.ts';
import type { Config } from '../../../src/core/config/schema.ts';
import { applyUrlChain } from '../../../src/core/plugin-host/url-chain.ts';
import type { Exchange, FetchProtocol } from '../../../src/core/ports/fetch-protocol.ts';
import type { RobotsStore } from '../../../src/core/ports/robots.ts';
import { UNOBSERVED } from '../../../src/core/ports/work-progress.ts';
import { policyOf, scheduleOf } from '../../../src/crawler/policy.ts';
import { createHostLanes } from '../../../src/http/lanes/host-lanes.ts';
import { createRobots } from '../../../src/http/robots/robots.ts';
import type { SimulatedNetwork } from '../crawl/network.ts';
import { type LoadedProgram, STATE_DIR } from '../crawl/process.ts';
import { SimulatedSegments } from './simulated-segments.ts';
import type { SimulatedStores } from './simulated-stores.ts';
import type { SimulatedTurns } from './simulated-turns.ts';
import type { WorkerLife } from './worker-life.ts';

/** What all workers share. */
export interface SharedWorld {
  readonly config: Config;
  readonly network: SimulatedNetwork;
  readonly random: () => number;
  readonly stores: SimulatedStores;
  readonly turns: SimulatedTurns;
  readonly robotsStore: RobotsStore;
  /** By the folder of the partition. */
  readonly segments: Map<string, SimulatedSegments>;
}

/** Works as `openWorker` does, until nothing is due. A dead worker never ends. */
export function runWorker(
  life: WorkerLife,
  { loaded, parser, log }: LoadedProgram,
  world: SharedWorld,
  seeds: readonly string[],
): Promise<WorkSummary> {
  const { config, network, random, stores, turns, robotsStore } = world;
  const clock = life.clock();
  const protocol = gatedProtocol(network.protocol(), life);
  const { concurrency, connectionsPerHost, delayMs, maxCrawlDelayMs, crawlDelayPolicy } = config.fetch;
  const lanes = createHostLanes({ clock, concurrency, connectionsPerHost, defaultDelayMs: delayMs });
  const limits = { productToken: config.agent.name, maxCrawlDelayMs, crawlDelayPolicy };
  const robots = createRobots({
    ...{ protocol, store: robotsStore, clock, log, ...limits },
    timeoutMs: config.http.timeoutMs,
  });
  const wiring = {
    dir: STATE_DIR,
    config,
    runtime: { clock, log, random, onWork: UNOBSERVED },
    plugins: {
      loaded,
      urls: {
        apply: (url: string, context: Parameters<typeof applyUrlChain>[2]) => applyUrlChain(loaded, url, context),
      },
      policy: policyOf(config, scheduleOf(config, loaded)),
      exporter: () => Promise.reject(new TypeError('nothing is exported here')),
    },
    web: {
      protocols: new Map([
        ['http', protocol],
        ['https', protocol],
      ]),
      ...{ lanes, robots, robotsStore, isOwnHost: () => false, noteHosts: () => {} },
    },
    pages: {
      parser: () => parser,
      undoContentCoding: async (body: Uint8Array) => body,
      markdown: () => Promise.reject(new TypeError('nothing is exported here')),
      parseLive: (page: Parameters<typeof parser.live>[0]) => parser.live(page),
    },
  } as unknown as Parameters<typeof spreadWork>[0]['partitions']['wiring'];
  const segmentsIn = (dir: string) => {
    const known = world.segments.get(dir) ?? new SimulatedSegments();
    world.segments.set(dir, known);
    return known.of(life);
  };
  const atOnce = 1 + Math.floor(random() * 3);
  const turnMs = 1_000 * 2 ** Math.floor(random() * 7);
  const worked = (options: WorkOptions, onSplit: () => void): Promise<WorkSummary> => {
    const own = stores.of(life, onSplit);
    const deps = {
      partitions: { wiring, stores: own, segmentsIn },
      turns: turns.of(life),
      tally: new WorkerTally({ host: 'simulated', pid: 1 }, () => 0),
      ...{ cpuMs: () => 0, atOnce, turnMs },
      requireCrawlDb: async () => {
        if (own.partitions < stores.partitions) onSplit();
      },
    };
    return spreadWork(deps, options);
  };
  return throughSplits({ seeds: [{ name: 'seeds', lines: seeds }] }, worked);
}

function gatedProtocol(protocol: FetchProtocol, life: WorkerLife): FetchProtocol {
  return {
    schemes: protocol.schemes,
    async exchange(request): Promise<Exchange> {
      await life.gate();
      // One that stood still here may have lost the partition: as in a real exchange, nothing is sent then.
      request.onSend?.();
      request.signal?.throwIfAborted();
      const answer = protocol.exchange(request);
      life.isStruck('request');
      try {
        return await answer;
      } finally {
        await life.gate();
      }
    },
    close: async () => {},
  };
}
