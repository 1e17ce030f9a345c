import { join } from 'node:path';
import { defaultConfig } from '../../src/core/config/load.ts';
import { type ChangeView, type Crawler, openCrawler } from '../../src/crawler/index.ts';
import { silent, withFolder } from '../harness/places.ts';
import { seeded } from '../harness/seeded.ts';
import { budgetOf, type History, type Step } from './history.ts';
import type { Variant } from './served-site.ts';
import { type LoggedRequest, serveHistory } from './site-server.ts';

export interface ReplayPlan {
  readonly history: History;
  readonly variant: Variant;
  /** Share of the pages that each run after the first may fetch; `null`: no limit. */
  readonly budget: number | null;
  /** Further keys of the configuration, as `key=value`. */
  readonly settings: readonly string[];
  readonly address: string;
  /** Decides with the address how visits are spread; 0: any that is free. */
  readonly port: number;
  /** Called after each run, with what was asked in it. */
  readonly onRun?: (run: {
    readonly crawler: Crawler;
    readonly step: Step;
    readonly number: number;
    readonly log: readonly LoggedRequest[];
  }) => Promise<void>;
}

/** What the crawler has and believes after a run. */
export interface Look {
  readonly records: readonly { readonly path: string; readonly state: string }[];
  readonly freshness: { readonly fresh: number; readonly changesPerDay: number } | null;
}

export interface Replay {
  /** Address of the start page. */
  readonly start: string;
  /** Requests of each run. */
  readonly logs: readonly (readonly LoggedRequest[])[];
  /** By the number of the step; after the last run, too. */
  readonly looks: ReadonlyMap<number, Look>;
  /** The change feed. */
  readonly changes: readonly ChangeView[];
}

/** A look every so many runs: a quarter of a year of weekly ones. */
const LOOK_EVERY = 13;

/** One crawl a step on the same state directory, by a clock that goes on from the time of each like any other. */
export const replay = ({ history, variant, budget, settings, address, port, onRun }: ReplayPlan): Promise<Replay> =>
  withFolder(async (base) => {
    const server = await serveHistory(history, variant, address, port);
    let [time, began] = [history.steps[0]?.time ?? 0, performance.now()];
    const own = ['agent.contact=a@example.org', 'changes.keep=3650d', 'fetch.delay=0s'];
    const crawler = await openCrawler({
      config: defaultConfig([...own, `http.allowAddresses=${address}`, ...settings]),
      dir: join(base, 'crawldb'),
      baseDir: base,
      log: silent,
      // Chooses the audits.
      random: seeded(1),
      clock: {
        now: () => Math.round(1_000 * time + performance.now() - began),
        elapsed: () => performance.now(),
        sleep: pause,
      },
    });
    try {
      const start = `${server.origin}/`;
      const logs: LoggedRequest[][] = [];
      const looks = new Map<number, Look>();
      const changes: ChangeView[] = [];
      for (const [i, step] of history.steps.entries()) {
        const isLast = i === history.steps.length - 1;
        server.show(step);
        [time, began] = [step.time, performance.now()];
        const limit = budget === null || i === 0 ? {} : { budget: budgetOf(budget, step) };
        await crawler.crawl({ seeds: [{ name: 'seed', lines: [start] }], ...limit });
        if (isLast || i % LOOK_EVERY === LOOK_EVERY - 1) looks.set(i, await lookAt(crawler, start));
        if (isLast) for await (const change of crawler.changes({ notedFrom: 0 })) changes.push(change);
        const log = server.takeLog();
        logs.push(log);
        await onRun?.({ crawler, step, number: i, log });
      }
      return { start, logs, looks, changes };
    } finally {
      await crawler.close();
      await server.close();
    }
  });

async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  if (ms <= 0) return;
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

async function lookAt(crawler: Crawler, start: string): Promise<Look> {
  const records: Look['records'][number][] = [];
  for await (const { url, state } of crawler.select({}, ['url', 'state']))
    records.push({ path: `/${String(url).slice(start.length)}`, state: String(state) });
  return { records, freshness: (await crawler.stats()).freshness };
}
