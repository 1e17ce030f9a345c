import type { Config } from '../../../src/core/config/schema.ts';
import { DEFAULT_PLUGIN_LIST } from '../../../src/core/plugin-host/loading/plugin-list.ts';
import { createInlinePageParser } from '../../../src/core/plugin-host/parsing/page-parser.ts';
import { loadSitemapParser } from '../../../src/core/plugin-host/parsing/sitemap-parser.ts';
import { applyUrlChain } from '../../../src/core/plugin-host/url-chain.ts';
import type { Log } from '../../../src/core/ports/log.ts';
import type { OrderedRows } from '../../../src/core/ports/ordered-rows.ts';
import type { SegmentStore } from '../../../src/core/ports/segment-store.ts';
import { UNOBSERVED } from '../../../src/core/ports/work-progress.ts';
import { loadMainPlugins } from '../../../src/crawler/load-main-plugins.ts';
import { parsingOptions } from '../../../src/crawler/parsing-options.ts';
import { policyOf, scheduleOf } from '../../../src/crawler/policy.ts';
import { createHostLanes } from '../../../src/http/lanes/host-lanes.ts';
import { createRobots } from '../../../src/http/robots/robots.ts';
import type { CrawlDeps } from '../../../src/operations/deps.ts';
import { type CrawlOperations, crawlOperations } from '../../../src/operations/loop/crawl-operations.ts';
import { keepRests } from '../../../src/operations/loop/host-rests.ts';
import { type StepOperations, stepOperations } from '../../../src/operations/loop/step-operations.ts';
import { nearPlan } from '../../../src/operations/loop/step-settings.ts';
import { openSegments } from '../../../src/operations/state/open-segments.ts';
import { storeOn } from '../../../src/operations/state/open-store.ts';
import { configuredFilter } from '../../../src/operations/state/seen-urls.ts';
import { RunSteering } from '../../../src/operations/steer/steering.ts';
import { dedupOperations } from '../../../src/published/dedup/dedup-operations.ts';
import { createFileRobotsStore } from '../../../src/store/files/robots-store.ts';
import { openCrawlDbOn } from '../../../src/store/rows/open-crawl-db.ts';
import type { RowsCrawlDb } from '../../../src/store/rows/rows-crawl-db.ts';
import type { Fate } from './fate.ts';
import { SIMULATED_ROOT } from './file-calls.ts';
import type { SimulatedNetwork } from './network.ts';
import type { VirtualClock } from './virtual-clock.ts';

/** State directory of the crawl. */
export const STATE_DIR = `${SIMULATED_ROOT}/state`;

/** What outlives a process. */
export interface Surroundings {
  readonly config: Config;
  readonly clock: VirtualClock;
  readonly fate: Fate;
  readonly random: () => number;
  readonly network: SimulatedNetwork;
}

/** A process with the crawl open: the program, but for its command line, HTTP and LevelDB. */
export interface SimulatedProcess extends CrawlOperations, StepOperations {
  readonly db: RowsCrawlDb;
  readonly rows: OrderedRows;
  readonly segments: SegmentStore;
  undoDedup(dryRun: boolean): Promise<number>;
  close(): Promise<void>;
}

/** What a process loads before it opens the crawl; it is loaded once, since it holds no state of a crawl. */
export type LoadedProgram = Awaited<ReturnType<typeof loadProgram>>;

export async function loadProgram({ config, clock, fate }: Surroundings) {
  const log = logOf(fate);
  const loaded = await loadMainPlugins(DEFAULT_PLUGIN_LIST, { config, baseDir: '/', log, clock });
  const parser = await createInlinePageParser(parsingOptions(config, DEFAULT_PLUGIN_LIST, '/'), log);
  // A module that loads takes real time, which the clock of the simulation does not wait for.
  await loadSitemapParser();
  return { loaded, parser, log };
}

/** Opens the crawl as `openCrawler` does. */
export async function openProcess(
  { config, clock, random, network }: Surroundings,
  { loaded, parser, log }: LoadedProgram,
  rows: OrderedRows,
): Promise<SimulatedProcess> {
  const dir = STATE_DIR;
  const protocol = network.protocol();
  const robotsStore = createFileRobotsStore(`${dir}/robots`);
  const { concurrency, connectionsPerHost, delayMs, maxCrawlDelayMs, crawlDelayPolicy } = config.fetch;
  const lanes = createHostLanes({ clock, concurrency, connectionsPerHost, defaultDelayMs: delayMs });
  const robots = createRobots({
    ...{ protocol, store: robotsStore, clock, log, productToken: config.agent.name, maxCrawlDelayMs, crawlDelayPolicy },
    timeoutMs: config.http.timeoutMs,
  });
  const wiring: Omit<CrawlDeps, 'store'> = {
    dir,
    config,
    runtime: { clock, log, random, onWork: UNOBSERVED },
    plugins: {
      loaded,
      urls: { apply: (url, context) => applyUrlChain(loaded, url, context) },
      policy: policyOf(config, scheduleOf(config, loaded)),
      exporter: () => Promise.reject(new TypeError('nothing is exported here')),
    },
    web: {
      protocols: new Map([
        ['http', protocol],
        ['https', protocol],
      ]),
      lanes,
      robots,
      robotsStore,
      rendering: null,
      isOwnHost: () => false,
      noteHosts: () => {},
    },
    pages: {
      parser: () => parser,
      undoContentCoding: async (body) => body,
      convert: () => Promise.reject(new TypeError('nothing is exported here')),
      parseLive: (page) => parser.live(page),
    },
    segments: openSegments({ config, dir, log }),
  };
  const filter = await configuredFilter(config);
  const near = nearPlan(config);
  const features = { ...(filter !== undefined && { seenFilter: filter }), ...(near !== null && { near }) };
  const db = await openCrawlDbOn(rows, { name: 'simulated', log, ...features });
  const store = await storeOn(db, wiring, false);
  const saveRests = await keepRests(db, wiring);
  const deps: CrawlDeps = { ...wiring, store: () => store };
  return {
    ...crawlOperations(deps, new RunSteering({ clock, lanes })),
    ...stepOperations(deps),
    undoDedup: (dryRun) => dedupOperations(deps).undoDedup(dryRun),
    db,
    rows,
    segments: wiring.segments,
    async close() {
      await saveRests();
      await db.close();
    },
  };
}

function logOf(fate: Fate): Log {
  const note = (level: string) => (message: string, fields?: object) => {
    if (!fate.isDown)
      fate.note(`${level}: ${message} ${fields === undefined ? '' : JSON.stringify(fields)}`.slice(0, 300));
  };
  return { debug: () => {}, info: () => {}, warn: note('warn'), error: note('error') };
}
