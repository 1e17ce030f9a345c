import { join } from 'node:path';
import { defaultConfig } from '../../src/core/config/load.ts';
import { type ChangeView, type Crawler, type CrawlerOptions, openCrawler } from '../../src/crawler/index.ts';
import { silent, withFolder } from '../harness/places.ts';
import { seeded } from '../harness/seeded.ts';
import { budgetOf, type History } from './history.ts';
import type { Variant } from './served-site.ts';
import { type LoggedRequest, SiteServer } from './site-server.ts';

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
  /** Chooses the audits. */
  readonly seed: number;
  /** One crawler for all runs instead of one opened anew for each: a third of the time, most of it new workers. */
  readonly keepsOpen?: boolean;
}

/** What the crawler has and believes after a run. */
export interface Look {
  readonly records: readonly { readonly path: string; readonly state: string; readonly interval: number | null }[];
  readonly freshness: { readonly fresh: number; readonly changesPerDay: number } | null;
}

export interface Replay {
  readonly origin: string;
  /** Requests of each run. */
  readonly logs: readonly (readonly LoggedRequest[])[];
  /** By the number of the step; after the last run, too. */
  readonly looks: ReadonlyMap<number, Look>;
  /** The change feed. */
  readonly changes: readonly ChangeView[];
  readonly seconds: number;
}

/** A look every so many runs: a quarter of a year of weekly ones. */
const LOOK_EVERY = 13;

/** Runs the crawler once a step on the same state directory. */
export const replay = (plan: ReplayPlan): Promise<Replay> =>
  withFolder(async (base) => {
    const { history, variant, address } = plan;
    const began = performance.now();
    const server = new SiteServer(history, variant);
    const runs = new Runs(plan, base);
    try {
      await server.listen(address, plan.port);
      const { origin } = server;
      const logs: LoggedRequest[][] = [];
      const looks = new Map<number, Look>();
      const changes: ChangeView[] = [];
      for (const [i, step] of history.steps.entries()) {
        const isLast = i === history.steps.length - 1;
        server.show(step);
        const crawler = await runs.begin(step.time);
        const budget = plan.budget === null || i === 0 ? {} : { budget: budgetOf(plan.budget, step) };
        await crawler.crawl({ seeds: [{ name: 'seed', lines: [origin] }], ...budget });
        if (isLast || i % LOOK_EVERY === LOOK_EVERY - 1) looks.set(i, await lookAt(crawler, origin));
        if (isLast) for await (const change of crawler.changes({ notedFrom: 0 })) changes.push(change);
        await runs.end();
        logs.push(server.takeLog());
      }
      return { origin, logs, looks, changes, seconds: (performance.now() - began) / 1_000 };
    } finally {
      await runs.close();
      await server.close();
    }
  });

/** Crawlers whose clock begins at the time of each run, and goes on from there as the machine's does. */
class Runs {
  private readonly options: CrawlerOptions;
  private readonly keepsOpen: boolean;
  private crawler: Crawler | null = null;
  private time = 0;
  private began = 0;

  constructor({ address, settings, seed, keepsOpen = false }: ReplayPlan, base: string) {
    const own = ['agent.contact=a@example.org', 'changes.keep=3650d', 'fetch.delay=0s'];
    this.keepsOpen = keepsOpen;
    this.options = {
      config: defaultConfig([...own, `http.allowAddresses=${address}`, ...settings]),
      dir: join(base, 'crawldb'),
      baseDir: base,
      log: silent,
      random: seeded(seed),
      clock: {
        now: () => Math.round(1_000 * this.time + performance.now() - this.began),
        elapsed: () => performance.now(),
        sleep: pause,
      },
    };
  }

  async begin(time: number): Promise<Crawler> {
    [this.time, this.began] = [time, performance.now()];
    this.crawler ??= await openCrawler(this.options);
    return this.crawler;
  }

  async end(): Promise<void> {
    if (!this.keepsOpen) await this.close();
  }

  async close(): Promise<void> {
    const { crawler } = this;
    this.crawler = null;
    await crawler?.close();
  }
}

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

async function lookAt(crawler: Crawler, origin: string): Promise<Look> {
  const records: Look['records'][number][] = [];
  for await (const { url, state, interval } of crawler.select({}, ['url', 'state', 'interval'])) {
    const path = `/${String(url).slice(origin.length)}`;
    records.push({ path, state: String(state), interval: typeof interval === 'number' ? interval : null });
  }
  return { records, freshness: (await crawler.stats()).freshness };
}
