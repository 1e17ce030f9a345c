/**
 * One measured export in a process of its own: arguments are the state directory, the format, the file, a host (empty:
 * all). Prints JSON.
 */
import { keepEngineLean } from '../../src/cli/process/lean-engine.ts';
import { defaultConfig } from '../../src/core/config/load.ts';
import { openCrawler } from '../../src/crawler/index.ts';
import { cpuUs } from '../harness/cost.ts';
import { silent } from '../harness/places.ts';

const [dir = '', format = 'jsonl', place = '', host = ''] = process.argv.slice(2);
keepEngineLean();
const crawler = await openCrawler({ config: defaultConfig([]), dir, log: silent });
let summary = {};
const us = await cpuUs(async () => {
  const write = async () => Promise.reject(new Error('nothing goes to standard output'));
  summary = await crawler.export({ format, ...(host !== '' && { host }) }, { place, write });
});
await crawler.close();
process.stdout.write(`${JSON.stringify({ ...summary, cpuMs: us / 1_000 })}\n`);
