/**
 * One crawl by Crawlee's CheerioCrawler in a process of its own, nothing persisted: arguments are a folder in which
 * `@crawlee/cheerio` is installed, and the seeds. Prints JSON. Crawlee is no dependency of the project: install
 * it in a folder of its own to run the comparison.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The part of Crawlee's interface that is used here. */
interface Crawlee {
  readonly CheerioCrawler: new (options: object, config: object) => { run(seeds: readonly string[]): Promise<unknown> };
  readonly Configuration: new (options: object) => object;
  readonly log: { setLevel(level: number): void; readonly LEVELS: { readonly OFF: number } };
}

interface Handled {
  readonly $: (selector: string) => { text(): string };
  readonly enqueueLinks: (options: object) => Promise<unknown>;
}

const [folder = '.', seeds = ''] = process.argv.slice(2);
const require = createRequire(join(folder, 'package.json'));
const { CheerioCrawler, Configuration, log } = (await import(
  pathToFileURL(require.resolve('@crawlee/cheerio')).href
)) as Crawlee;
log.setLevel(log.LEVELS.OFF);

let pages = 0;
let textLength = 0;
const startedAt = performance.now();
const crawler = new CheerioCrawler(
  {
    maxConcurrency: 25,
    useSessionPool: false,
    requestHandler: async ({ $, enqueueLinks }: Handled) => {
      pages++;
      textLength += $('title').text().length + $('body').text().length;
      await enqueueLinks({ strategy: 'all' });
    },
  },
  new Configuration({ persistStorage: false }),
);
await crawler.run(seeds.split(','));
const cpu = process.cpuUsage();
process.stdout.write(
  `${JSON.stringify({
    pages,
    textLength,
    ms: performance.now() - startedAt,
    cpuMs: (cpu.user + cpu.system) / 1_000,
    peakRssMb: process.resourceUsage().maxRSS / 1_024,
  })}\n`,
);
process.exit(0);
