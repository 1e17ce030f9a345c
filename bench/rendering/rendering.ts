/**
 * `npm run bench -- --only rendering [--pages N] [--rounds N] [--crawlee FOLDER]`: a single-page application crawled
 * twice by incrawl and by Crawlee's PlaywrightCrawler, in turn, with the same browser and as many pages at a time.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findBrowser } from '../../src/adapters/browser/playwright.ts';
import type { CrawlSummary } from '../../src/crawler.ts';
import { crawlCommand } from '../crawl/measured-crawl.ts';
import { type AppSite, startAppSite } from './app-site.ts';
import { type TreeCost, treeCost } from './process-tree.ts';

const PAGES_AT_ONCE = 2;
/** Share of the pages whose data changes before the second crawl. */
const CHANGED = 0.05;
const LATER_DAYS = 60;

interface Run extends TreeCost {
  readonly pages: number;
  /** Answers of the site for shells, data, and shared files. */
  readonly requests: number;
  readonly siteBytes: number;
}

interface Program {
  readonly name: string;
  /** The command of the first or the second crawl, and how many pages it says it has. */
  command(dir: string, seed: string, isSecond: boolean): readonly string[];
  pagesOf(stdout: string): number;
}

/** Medians over the rounds; each round is a new site, which all programs crawl twice, with a change in between. */
export async function benchRendering(
  say: (text: string) => void,
  verdict: (isGood: boolean, text: string) => void,
  { pages, rounds, crawlee }: { readonly pages: number; readonly rounds: number; readonly crawlee: string | undefined },
): Promise<void> {
  const browser = findBrowser('', process.env.PATH ?? '');
  const peer = crawlee === undefined ? null : crawleeAt(crawlee, browser);
  if (peer === null) {
    say('absent          Crawlee: npm install --prefix FOLDER crawlee playwright, then --crawlee FOLDER');
  }
  const programs = [incrawlBy('always'), incrawlBy('auto'), ...(peer === null ? [] : [peer])];
  say(
    `rendering       ${pages} pages of a single-page application, ${100 * CHANGED} % changed before the second crawl, ` +
      `${PAGES_AT_ONCE} pages at a time, medians of ${rounds} rounds in turn, whole process trees`,
  );
  const runs = new Map(programs.map((program) => [program, [[], []] as [Run[], Run[]]]));
  for (let round = 0; round < rounds; round++) {
    for (const program of programs) {
      const [first, second] = await crawlTwice(program, pages);
      runs.get(program)?.[0].push(first);
      runs.get(program)?.[1].push(second);
      process.stderr.write(`round ${round + 1} of ${rounds}: ${program.name} ${line(first)} | ${line(second)}\n`);
    }
  }
  say(`  ${'program, crawl'.padEnd(34)} rendered   pages/s   CPU s   peak MB   browsers   requests   KB sent`);
  for (const [{ name }, both] of runs) {
    for (const [i, each] of both.entries())
      say(`  ${`${name}, ${i === 0 ? 'first' : 'second'}`.padEnd(34)} ${row(each, pages)}`);
  }
  for (const [{ name }, [first, second]] of runs) {
    const faults = [...first, ...second].filter((run) => run.exitCode !== 0).map(({ stderr }) => stderr.trim());
    verdict(faults.length === 0, `${name}: every crawl ended well ${faults.join(' ')}`);
    if (name.startsWith('incrawl')) {
      const wanted = Math.floor(pages * CHANGED);
      verdict(
        first.every((run) => run.pages === pages),
        `${name}: ${pages} pages rendered by the first crawl`,
      );
      verdict(
        second.every((run) => run.pages === wanted),
        `${name}: ${wanted} pages rendered by the second crawl`,
      );
    }
  }
}

async function crawlTwice(program: Program, pages: number): Promise<[Run, Run]> {
  const site = await startAppSite(pages);
  const dir = mkdtempSync(join(tmpdir(), 'incrawl-bench-rendering-'));
  try {
    const first = await crawlOnce(program, site, dir, false);
    site.change(CHANGED);
    return [first, await crawlOnce(program, site, dir, true)];
  } finally {
    await site.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

async function crawlOnce(program: Program, site: AppSite, dir: string, isSecond: boolean): Promise<Run> {
  const cost = await treeCost(program.command(dir, `${site.origin}/`, isSecond), dir);
  const { pages, data, shared, bytes } = site.taken();
  return {
    ...cost,
    pages: cost.exitCode === 0 ? program.pagesOf(cost.stdout) : Number.NaN,
    requests: pages + data + shared,
    siteBytes: bytes,
  };
}

function incrawlBy(mode: 'always' | 'auto'): Program {
  const define = [
    `render.mode=${mode}`,
    `render.pages=${PAGES_AT_ONCE}`,
    'render.sandbox=false',
    `fetch.connectionsPerHost=${PAGES_AT_ONCE}`,
  ];
  return {
    name: `incrawl, render: ${mode}`,
    command: (dir, seed, isSecond) =>
      crawlCommand({ dir, define, ...(isSecond ? { offsetDays: LATER_DAYS } : { seeds: [seed] }) }),
    pagesOf: (stdout) => (JSON.parse(stdout) as { summary: CrawlSummary }).summary.totals.fetched,
  };
}

function crawleeAt(folder: string, browser: string): Program | null {
  try {
    const file = createRequire(join(folder, 'package.json')).resolve('crawlee/package.json');
    const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version: string };
    const child = fileURLToPath(new URL('./crawlee-child.js', import.meta.url));
    return {
      name: `Crawlee ${version} (Playwright)`,
      command: (_dir, seed) => [process.execPath, child, folder, browser, `${PAGES_AT_ONCE}`, seed],
      pagesOf: (stdout) => (JSON.parse(stdout) as { pages: number }).pages,
    };
  } catch {
    return null;
  }
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

const line = ({ pages, ms, cpuMs, peakPssMb }: Run): string =>
  `${pages} pages, ${(ms / 1_000).toFixed(1)} s, CPU ${(cpuMs / 1_000).toFixed(1)} s, ${peakPssMb.toFixed(0)} MB`;

/** Speed counts all pages of the site, as a second crawl answers for all of them. */
function row(runs: readonly Run[], pages: number): string {
  const of = (value: (run: Run) => number): number => median(runs.map(value));
  return [
    of((run) => run.pages)
      .toFixed(0)
      .padStart(8),
    of(({ ms }) => (1_000 * pages) / ms)
      .toFixed(1)
      .padStart(9),
    of(({ cpuMs }) => cpuMs / 1_000)
      .toFixed(1)
      .padStart(7),
    of(({ peakPssMb }) => peakPssMb)
      .toFixed(0)
      .padStart(9),
    of(({ browsers }) => browsers)
      .toFixed(0)
      .padStart(10),
    of(({ requests }) => requests)
      .toFixed(0)
      .padStart(10),
    (of(({ siteBytes }) => siteBytes) / 1_000).toFixed(0).padStart(9),
  ].join(' ');
}
