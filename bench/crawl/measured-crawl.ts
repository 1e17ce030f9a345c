import { fileURLToPath } from 'node:url';
import type { CrawlSummary } from '../../src/crawler/index.ts';
import type { MemoryByKind } from '../harness/mappings.ts';
import { withFolder } from '../harness/places.ts';
import { nodeCost } from '../harness/processes.ts';
import { type RunningSite, type Site, startSite } from './site-process.ts';

/** One crawl: `seeds` are given to the first of a state directory. */
export interface CrawlPlan {
  readonly dir: string;
  readonly seeds?: readonly string[];
  /** Days that the clock is ahead. */
  readonly offsetDays?: number;
  readonly auditShare?: number;
  /** `http` or `undici`. */
  readonly protocol?: string;
  /** Plugins left out, separated by commas. */
  readonly without?: string;
  /** Plugins in place of others of the default list. */
  readonly instead?: Readonly<Record<string, string>>;
  /** Further keys of the configuration, as `key=value`. */
  readonly define?: readonly string[];
}

/** Options of measurements that crawl the site, with their defaults. */
export const CRAWLING = { pages: 5_000, real: false, protocol: 'http', without: '' };

export interface MeasuredCrawl {
  readonly summary: CrawlSummary;
  readonly ms: number;
  /** Of the whole process. */
  readonly cpuMs: number;
  readonly peakMb: number;
  /** Without mapped files; Linux only. */
  readonly peakOwnMb: number;
  /** Once a second; Linux only. */
  readonly peakByKind: MemoryByKind;
  /** CPU by thread, ms, the main thread first; Linux only. */
  readonly threadsMs: readonly number[];
}

const CHILD = fileURLToPath(new URL('./crawl-child.js', import.meta.url));

/** The command of a crawl in a process of its own. */
export const crawlCommand = (plan: CrawlPlan): string[] => [process.execPath, CHILD, JSON.stringify(plan)];

export async function measuredCrawl(
  plan: CrawlPlan,
  env: Readonly<Record<string, string>> = {},
): Promise<MeasuredCrawl> {
  const { stdout, cpuMs, peakMb, peakByKind } = await nodeCost(crawlCommand(plan).slice(1), { env });
  const own = JSON.parse(stdout) as Omit<MeasuredCrawl, 'cpuMs' | 'peakMb' | 'peakByKind'>;
  return { ...own, cpuMs, peakMb, peakByKind };
}

/** Threads with 50 ms of CPU or more; most of the others compile and collect garbage. */
export const byThread = ({ threadsMs }: MeasuredCrawl): string =>
  threadsMs
    .filter((ms) => ms >= 50)
    .map((ms) => (ms / 1_000).toFixed(2))
    .join(' ');

/** Runs a site, and has an empty state directory, as long as `use` takes. */
export const withState = <Value>(
  site: Site,
  use: (running: RunningSite, dir: string) => Promise<Value>,
): Promise<Value> =>
  withFolder(async (dir) => {
    const running = await startSite(site);
    try {
      return await use(running, dir);
    } finally {
      running.close();
    }
  });
