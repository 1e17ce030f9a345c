/** One crawl in a process of its own: the argument is a `CrawlPlan`. Prints JSON. */
import { readdirSync, readFileSync } from 'node:fs';
import { keepEngineLean } from '../../src/cli/process/lean-engine.ts';
import { defaultConfig } from '../../src/core/config/load.ts';
import { DAY_MS } from '../../src/core/domain/time.ts';
import { openCrawler } from '../../src/crawler/index.ts';
import { startMeter } from '../crawldb/meter.ts';
import { pluginsFile, silent } from '../harness/places.ts';
import type { CrawlPlan } from './measured-crawl.ts';

const plan = JSON.parse(process.argv[2] ?? '{}') as CrawlPlan;
const {
  dir,
  seeds = [],
  offsetDays = 0,
  auditShare = 0,
  protocol = 'http',
  without = '',
  instead = {},
  define = [],
} = plan;
keepEngineLean();
const meter = startMeter();
const left = new Set(without.split(','));
const others: Readonly<Record<string, string>> = { ...instead, 'protocol-http': `protocol-${protocol}` };

const crawler = await openCrawler({
  config: defaultConfig([
    'fetch.delay=0',
    'http.allowAddresses=["127.0.0.0/8"]',
    `fetch.auditShare=${auditShare}`,
    `plugins.file=${pluginsFile(dir, (use) => (left.has(use) ? null : (others[use] ?? use)))}`,
    ...define,
  ]),
  dir,
  log: silent,
  clock: {
    now: () => Date.now() + offsetDays * DAY_MS,
    sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  },
});
const startedAt = performance.now();
const summary = await crawler.crawl({ seeds: seeds.length === 0 ? [] : [{ name: 'bench', lines: [...seeds] }] });
const ms = performance.now() - startedAt;
const threadsMs = cpuByThread();
await crawler.close();
const { peakOwnMb } = meter();
process.stdout.write(`${JSON.stringify({ summary, ms, threadsMs, peakOwnMb })}\n`);

/** CPU ms of each thread in order of start: main, V8, file system, parser workers. Empty except on Linux. */
function cpuByThread(): number[] {
  if (process.platform !== 'linux') return [];
  const threads = readdirSync('/proc/self/task').sort((a, b) => Number(a) - Number(b));
  return threads.map((thread) => {
    const [ranNs] = readFileSync(`/proc/self/task/${thread}/schedstat`, 'utf8').split(' ');
    return Math.round(Number(ranNs) / 1e6);
  });
}
