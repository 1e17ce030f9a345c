import type { CrawlSummary } from '../../src/crawler/index.ts';
import { findBrowser } from '../../src/transports/browser/playwright.ts';
import { crawlCommand } from '../crawl/measured-crawl.ts';
import { inTurn, median } from '../harness/cost.ts';
import { measurement } from '../harness/measurement.ts';
import { withFolder } from '../harness/places.ts';
import { type TreeCost, treeCost } from '../harness/processes.ts';
import { type AppSite, startAppSite } from './app-site.ts';
import { crawleeCommand, versionIn } from './programs.ts';

const PAGES_AT_ONCE = 2;
/** Share of the pages whose data changes before the second crawl. */
const CHANGED = 0.05;
const LATER_DAYS = 60;

interface Run extends TreeCost {
  readonly pages: number;
  /** Answers of the site for shells, data, and shared files. */
  readonly requests: number;
}

interface Program {
  /** How incrawl differs from the default; `undefined` for others. */
  readonly way?: string;
  readonly peer?: string;
  /** The command of the first or the second crawl, and how many pages it says it has. */
  command(dir: string, seed: string, isSecond: boolean): readonly string[];
  pagesOf(stdout: string): number;
}

/**
 * A single-page application crawled twice by incrawl and by Crawlee's PlaywrightCrawler, in turn, with the same browser
 * and as many pages at a time. Each round is a new site, with a change between the two crawls.
 */
export const rendering = measurement(
  'peers',
  { pages: 60, rounds: 5, crawlee: '' },
  async ({ say, question }, { pages, rounds, crawlee }) => {
    const browser = findBrowser('', process.env.PATH ?? '');
    const hasPeer = versionIn(crawlee, 'crawlee') !== null;
    if (!hasPeer) say('absent: Crawlee: npm install --prefix FOLDER crawlee playwright, then --crawlee FOLDER');
    const all = [incrawlBy('always'), incrawlBy('auto'), ...(hasPeer ? [crawleeBy(crawlee, browser)] : [])];
    const runs = await inTurn(all, rounds, (program) => crawlTwice(program, pages));
    const changed = Math.floor(pages * CHANGED);
    const note = question(
      `Rendering ${pages} pages of a single-page application, ${changed} changed before the second crawl, ` +
        `${PAGES_AT_ONCE} pages at a time, ${rounds === 1 ? 'one round' : `${rounds} rounds`}`,
    );
    for (const [{ way = '', peer }, both] of runs) {
      for (const [i, name] of (['first', 'second'] as const).entries()) {
        const own = both.map((pair) => pair[i] as Run);
        for (const { exitCode, stderr } of own)
          if (exitCode !== 0) say(`ended with ${exitCode}: ${stderr.slice(-500)}`);
        const take = (metric: string, unit: string, of: (run: Run) => number, aim?: string): void =>
          note(`${metric} of the ${name} crawl${way}`, median(own.map(of)), unit, aim, peer);
        const aim = peer === undefined ? `= ${i === 0 ? pages : changed}` : undefined;
        note(`pages rendered by the ${name} crawl${way}`, median(own.map((run) => run.pages)), 'pages', aim, peer);
        // Speed counts all pages of the site, as a second crawl answers for all of them.
        take('pages a second', 'pages/s', ({ ms }) => (1_000 * pages) / ms);
        take('CPU', 's', ({ cpuMs }) => cpuMs / 1_000);
        take('peak memory', 'MB', ({ peakMb }) => peakMb);
        take('browsers', '', ({ browsers }) => browsers);
        take('requests', 'requests', ({ requests }) => requests);
      }
    }
  },
);

async function crawlTwice(program: Program, pages: number): Promise<[Run, Run]> {
  const site = await startAppSite(pages);
  return withFolder(async (dir) => {
    const first = await crawlOnce(program, site, dir, false);
    site.change(CHANGED);
    return [first, await crawlOnce(program, site, dir, true)] as [Run, Run];
  }).finally(() => site.close());
}

async function crawlOnce(program: Program, site: AppSite, dir: string, isSecond: boolean): Promise<Run> {
  const cost = await treeCost(program.command(dir, `${site.origin}/`, isSecond), { cwd: dir });
  const pages = cost.exitCode === 0 ? program.pagesOf(cost.stdout) : Number.NaN;
  return { ...cost, pages, requests: site.taken() };
}

function incrawlBy(mode: 'always' | 'auto'): Program {
  const define = [
    `render.mode=${mode}`,
    `render.pages=${PAGES_AT_ONCE}`,
    'render.sandbox=false',
    `fetch.connectionsPerHost=${PAGES_AT_ONCE}`,
  ];
  return {
    way: mode === 'auto' ? ', render: auto' : '',
    command: (dir, seed, isSecond) =>
      crawlCommand({ dir, define, ...(isSecond ? { offsetDays: LATER_DAYS } : { seeds: [seed] }) }),
    pagesOf: (stdout) => (JSON.parse(stdout) as { summary: CrawlSummary }).summary.totals.fetched,
  };
}

const crawleeBy = (folder: string, browser: string): Program => ({
  peer: 'Crawlee',
  command: (_dir, seed) => crawleeCommand({ folder, browser, seeds: [seed], concurrency: PAGES_AT_ONCE }),
  pagesOf: (stdout) => (JSON.parse(stdout) as { pages: number }).pages,
});
