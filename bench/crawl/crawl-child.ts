/**
 * One measured crawl in a process of its own: arguments are the state directory, the seed, the clock's offset in days,
 * the share of audits, the protocol plugin, plugins to leave out, and keys of the configuration. Prints JSON.
 */

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { keepEngineLean } from '../../src/cli/process/lean-engine.ts';
import { defaultConfig } from '../../src/config/load.ts';
import { openCrawler } from '../../src/crawler.ts';
import { DAY_MS } from '../../src/domain/time.ts';
import { DEFAULT_PLUGIN_LIST } from '../../src/plugin-host/loading/plugin-list.ts';

const [dir = '', seed = '', offsetDays = '0', auditShare = '0', protocol = 'http', without = '', ...define] =
  process.argv.slice(2);
keepEngineLean();
const offset = Number(offsetDays) * DAY_MS;
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

const crawler = await openCrawler({
  config: defaultConfig([
    'fetch.delay=0',
    'http.allowAddresses=["127.0.0.0/8"]',
    `fetch.auditShare=${auditShare}`,
    `plugins.file=${pluginsFile()}`,
    ...define,
  ]),
  dir,
  log: silent,
  clock: {
    now: () => Date.now() + offset,
    sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  },
});
const startedAt = performance.now();
const seeds = seed === '' ? [] : [{ name: 'bench', lines: seed.split(',') }];
const summary = await crawler.crawl({ seeds });
const ms = performance.now() - startedAt;
const stats = await crawler.stats();
const threadsMs = cpuByThread();
await crawler.close();
const cpu = process.cpuUsage();
process.stdout.write(
  `${JSON.stringify({
    summary,
    stats,
    ms,
    cpuMs: (cpu.user + cpu.system) / 1_000,
    peakRssMb: process.resourceUsage().maxRSS / 1_024,
    threadsMs,
  })}\n`,
);

/** Writes the default plugin list with the given protocol and without the excluded plugins. */
function pluginsFile(): string {
  const file = join(dir, 'bench-plugins.yaml');
  const left = new Set(without.split(','));
  const uses = DEFAULT_PLUGIN_LIST.entries.map(({ use }) => use).filter((use) => !left.has(use));
  const names = uses.map((use) => (use === 'protocol-http' ? `protocol-${protocol}` : use));
  writeFileSync(file, `plugins:\n${names.map((name) => `  - ${name}\n`).join('')}`);
  return file;
}

/** CPU ms of each thread in order of start: main, V8, file system, parser workers. Empty except on Linux. */
function cpuByThread(): number[] {
  if (process.platform !== 'linux') return [];
  const threads = readdirSync('/proc/self/task').sort((a, b) => Number(a) - Number(b));
  return threads.map((thread) => {
    const [ranNs] = readFileSync(`/proc/self/task/${thread}/schedstat`, 'utf8').split(' ');
    return Math.round(Number(ranNs) / 1e6);
  });
}
