/**
 * One measured export in a process of its own: arguments are the state directory, the format, the file, a host (empty:
 * all). Prints JSON.
 */
import { keepEngineLean } from '../../src/cli/process/lean-engine.ts';
import { defaultConfig } from '../../src/config/load.ts';
import { openCrawler } from '../../src/crawler.ts';

const [dir = '', format = 'jsonl', place = '', host = ''] = process.argv.slice(2);
keepEngineLean();
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const crawler = await openCrawler({ config: defaultConfig([]), dir, log: silent });
const before = process.cpuUsage();
const summary = await crawler.export(
  { format, ...(host !== '' && { host }) },
  { place, write: async () => Promise.reject(new Error('nothing goes to standard output')) },
);
const { user, system } = process.cpuUsage(before);
await crawler.close();
const peakRssMb = process.resourceUsage().maxRSS / 1_024;
process.stdout.write(`${JSON.stringify({ ...summary, cpuMs: (user + system) / 1_000, peakRssMb })}\n`);
