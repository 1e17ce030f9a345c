/**
 * One crawl by Crawlee in a process of its own, nothing persisted: the argument is a `CrawleePlan`. Prints the pages
 * and the length of their text.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

export interface CrawleePlan {
  /** Folder in which `@crawlee/cheerio` is installed; for a browser, `crawlee` and `playwright`. */
  readonly folder: string;
  readonly seeds: readonly string[];
  /** Requests at a time. */
  readonly concurrency: number;
  /** Program of a browser that renders; absent: none. */
  readonly browser?: string;
}

type Crawler = new (options: object, config: object) => { run(seeds: readonly string[]): Promise<unknown> };

/** The part of Crawlee's interface that is used here. */
interface Crawlee {
  readonly CheerioCrawler: Crawler;
  readonly PlaywrightCrawler: Crawler;
  readonly Configuration: new (options: object) => object;
  readonly log: { setLevel(level: number): void; readonly LEVELS: { readonly ERROR: number } };
}

interface Handled {
  readonly $: (selector: string) => { text(): string };
  readonly page: {
    waitForSelector(selector: string): Promise<unknown>;
    content(): Promise<string>;
    textContent(selector: string): Promise<string | null>;
  };
  readonly enqueueLinks: (options: object) => Promise<unknown>;
}

const { folder, seeds, concurrency, browser } = JSON.parse(process.argv[2] ?? '{}') as CrawleePlan;
const require = createRequire(join(folder, 'package.json'));
const installed = require.resolve(browser === undefined ? '@crawlee/cheerio' : 'crawlee');
const { CheerioCrawler, PlaywrightCrawler, Configuration, log } = (await import(
  pathToFileURL(installed).href
)) as Crawlee;
log.setLevel(log.LEVELS.ERROR);

let pages = 0;
let textLength = 0;
async function requestHandler({ $, page, enqueueLinks }: Handled): Promise<void> {
  // The crawl knows the site that is rendered: it waits for its content, and no longer.
  if (browser !== undefined) await page.waitForSelector('main');
  pages++;
  textLength +=
    browser === undefined
      ? $('title').text().length + $('body').text().length
      : (await page.content()).length + ((await page.textContent('main')) ?? '').length;
  await enqueueLinks({ strategy: 'all' });
}
const rendering = {
  headless: true,
  launchContext: { launchOptions: { executablePath: browser, chromiumSandbox: false, args: ['--disable-gpu'] } },
  // What costs time and gives nothing here.
  browserPoolOptions: { useFingerprints: false },
};
const crawler = new (browser === undefined ? CheerioCrawler : PlaywrightCrawler)(
  {
    minConcurrency: concurrency,
    maxConcurrency: concurrency,
    respectRobotsTxtFile: true,
    useSessionPool: false,
    requestHandler,
    ...(browser !== undefined && rendering),
  },
  new Configuration({ persistStorage: false }),
);
await crawler.run(seeds);
process.stdout.write(`${JSON.stringify({ pages, textLength })}\n`, () => process.exit(0));
