import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { CrawlSummary } from '../../src/crawler.ts';

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
  /** Further keys of the configuration, as `key=value`. */
  readonly define?: readonly string[];
}

export interface MeasuredCrawl {
  readonly summary: CrawlSummary;
  readonly ms: number;
  readonly cpuMs: number;
  readonly peakRssMb: number;
  /** CPU by thread, ms, the main thread first; Linux only. */
  readonly threadsMs: readonly number[];
}

/** The command of a crawl in a process of its own. */
export function crawlCommand(plan: CrawlPlan): string[] {
  const { dir, seeds = [], offsetDays = 0, auditShare = 0, protocol = 'http', without = '', define = [] } = plan;
  const file = fileURLToPath(new URL('./crawl-child.js', import.meta.url));
  const numbers = [String(offsetDays), String(auditShare)];
  return [process.execPath, file, dir, seeds.join(','), ...numbers, protocol, without, ...define];
}

export function measuredCrawl(plan: CrawlPlan): MeasuredCrawl {
  const [program = '', ...args] = crawlCommand(plan);
  const child = spawnSync(program, args, {
    encoding: 'utf8',
    maxBuffer: 1 << 26,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  return JSON.parse(child.stdout) as MeasuredCrawl;
}

/** Threads with 50 ms of CPU or more; most of the others compile and collect garbage. */
export const byThread = ({ threadsMs }: MeasuredCrawl): string =>
  threadsMs.length === 0
    ? ''
    : `  (by thread, s: ${threadsMs
        .filter((ms) => ms >= 50)
        .map((ms) => (ms / 1_000).toFixed(2))
        .join(' ')})`;
