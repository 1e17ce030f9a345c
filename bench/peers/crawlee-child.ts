/**
 * One crawl by Crawlee's CheerioCrawler in a process of its own, nothing persisted: arguments are a folder in which
 * `@crawlee/cheerio` is installed, and the seeds. Prints the pages and the length of their text.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The part of Crawlee's interface that is used here. */
interface Crawlee {
  readonly CheerioCrawler: new (options: object, config: object) => { run(seeds: readonly string[]): Promise<unknown> };
  readonly Configuration: new (options: object) => object;
  readonly log: { setLevel(level: number): void; readonly LEVELS: { readonly ERROR: number } };
}

interface Handled {
  readonly $: (selector: string) => { text(): string };
  readonly enqueueLinks: (options: object) => Promise<unknown>;
}

const [folder = '.', ...seeds] = process.argv.slice(2);
const require = createRequire(join(folder, 'package.json'));
const { CheerioCrawler, Configuration, log } = (await import(
  pathToFileURL(require.resolve('@crawlee/cheerio')).href
)) as Crawlee;
log.setLevel(log.LEVELS.ERROR);

let pages = 0;
let textLength = 0;
const crawler = new CheerioCrawler(
  {
    minConcurrency: seeds.length,
    maxConcurrency: seeds.length,
    respectRobotsTxtFile: true,
    useSessionPool: false,
    requestHandler: async ({ $, enqueueLinks }: Handled) => {
      pages++;
      textLength += $('title').text().length + $('body').text().length;
      await enqueueLinks({ strategy: 'all' });
    },
  },
  new Configuration({ persistStorage: false }),
);
await crawler.run(seeds);
process.stdout.write(`${pages} pages, ${textLength} characters\n`, () => process.exit(0));
