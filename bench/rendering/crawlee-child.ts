/**
 * One crawl by Crawlee's PlaywrightCrawler in a process of its own, nothing persisted: arguments are a folder in which
 * `crawlee` and `playwright` are installed, the browser, pages at a time, and the seed. Prints the pages and the length
 * of their text.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** The part of Crawlee's interface that is used here. */
interface Crawlee {
  readonly PlaywrightCrawler: new (
    options: object,
    config: object,
  ) => { run(seeds: readonly string[]): Promise<unknown> };
  readonly Configuration: new (options: object) => object;
  readonly log: { setLevel(level: number): void; readonly LEVELS: { readonly ERROR: number } };
}

interface Handled {
  readonly page: {
    waitForSelector(selector: string): Promise<unknown>;
    content(): Promise<string>;
    textContent(selector: string): Promise<string | null>;
  };
  readonly enqueueLinks: (options: object) => Promise<unknown>;
}

const [folder = '.', program = '', concurrency = '2', seed = ''] = process.argv.slice(2);
const require = createRequire(join(folder, 'package.json'));
const { PlaywrightCrawler, Configuration, log } = (await import(
  pathToFileURL(require.resolve('crawlee')).href
)) as Crawlee;
log.setLevel(log.LEVELS.ERROR);

let pages = 0;
let textLength = 0;
const crawler = new PlaywrightCrawler(
  {
    headless: true,
    launchContext: {
      launchOptions: { executablePath: program, chromiumSandbox: false, args: ['--disable-gpu'] },
    },
    // What costs time and gives nothing here.
    browserPoolOptions: { useFingerprints: false },
    useSessionPool: false,
    respectRobotsTxtFile: true,
    minConcurrency: Number(concurrency),
    maxConcurrency: Number(concurrency),
    requestHandler: async ({ page, enqueueLinks }: Handled) => {
      // The crawl knows the site: it waits for its content, and no longer.
      await page.waitForSelector('main');
      pages++;
      textLength += (await page.content()).length + ((await page.textContent('main')) ?? '').length;
      await enqueueLinks({ strategy: 'all' });
    },
  },
  new Configuration({ persistStorage: false }),
);
await crawler.run([seed]);
process.stdout.write(`${JSON.stringify({ pages, textLength })}\n`, () => process.exit(0));
