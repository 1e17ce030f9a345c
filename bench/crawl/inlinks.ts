/** `npm run bench -- --only inlinks --pages 10000`: whether the pages of most links are fetched first, and its cost. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defaultConfig } from '../../src/config/load.ts';
import { openReader } from '../../src/crawler.ts';
import { DEFAULT_PLUGIN_LIST } from '../../src/plugin-host/loading/plugin-list.ts';
import { seeded } from '../seeded.ts';
import { withState } from './crawls.ts';
import { measuredCrawl } from './measured-crawl.ts';
import { linkTargets } from './site-links.ts';

const LINKS = 60;
/** Pages of a round: the order is chosen anew for each. */
const ROUND = 500;
const MOST_LINKED = 100;

interface Measured {
  readonly cpuMs: number;
  /** Mean place, in the order of the fetches, of the pages of most links; 0 first. */
  readonly meanPlace: number;
}

/** Crawls a site of one host by both scorings, in turn. */
export async function benchInlinks(
  say: (text: string) => void,
  verdict: (isGood: boolean, text: string) => void,
  { pages, rounds }: { readonly pages: number; readonly rounds: number },
): Promise<void> {
  const most = mostLinked(pages);
  const measured: Record<string, Measured[]> = { 'scoring-depth': [], 'scoring-links': [] };
  for (let round = 0; round < rounds; round++) {
    // Each goes first as often as the other.
    const scorings = Object.keys(measured);
    for (const scoring of round % 2 === 0 ? scorings : scorings.reverse()) {
      measured[scoring]?.push(await crawled(scoring, pages, most));
    }
  }
  const figures = Object.entries(measured).map(([scoring, runs]) => {
    const [cpuMs, meanPlace] = [median(runs.map((run) => run.cpuMs)), median(runs.map((run) => run.meanPlace))];
    say(
      `${scoring}  mean place of the ${MOST_LINKED} pages of most links ${meanPlace.toFixed(0)} of ${pages}, median of ${rounds}; ${(cpuMs / pages).toFixed(3)} ms CPU a page (${runs.map((run) => (run.cpuMs / pages).toFixed(2)).join(', ')})`,
    );
    return { cpuMs, meanPlace };
  });
  const [depth, links] = figures as [Measured, Measured];
  const sooner = depth.meanPlace / links.meanPlace;
  verdict(sooner > 1, `pages of most links are fetched sooner: ${sooner.toFixed(2)} x`);
  const ratio = links.cpuMs / depth.cpuMs;
  verdict(ratio <= 1.03, `CPU ${ratio.toFixed(3)} x <= 1.03 x`);
}

const crawled = (scoring: string, pages: number, most: ReadonlySet<number>): Promise<Measured> =>
  withState({ pages, hosts: 1, make: 'popular', encoding: 'identity' }, async ({ seeds }, dir) => {
    const file = join(dir, 'inlinks-plugins.yaml');
    const uses = DEFAULT_PLUGIN_LIST.entries.map(({ use }) => (use === 'scoring-depth' ? scoring : use));
    writeFileSync(file, `plugins:\n${uses.map((use) => `  - ${use}\n`).join('')}`);
    const define = [`plugins.file=${file}`, `generate.topN=${ROUND}`];
    const { cpuMs } = measuredCrawl({ dir, seeds, define });
    return { cpuMs, meanPlace: await meanPlace(dir, most) };
  });

async function meanPlace(dir: string, most: ReadonlySet<number>): Promise<number> {
  const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  const configured = async () => ({ config: defaultConfig([]), baseDir: dir });
  const reader = openReader({ dir, log: silent, configured });
  const fetched: { readonly page: number; readonly at: number }[] = [];
  for await (const { url, lastFetchAt } of reader.records({})) {
    const page = Number(/(\d+)\.html$/.exec(url)?.[1]);
    fetched.push({ page, at: Date.parse(String(lastFetchAt)) });
  }
  await reader.close();
  const places = fetched.sort((a, b) => a.at - b.at).flatMap(({ page }, place) => (most.has(page) ? [place] : []));
  return places.reduce((sum, place) => sum + place, 0) / places.length;
}

function mostLinked(pages: number): Set<number> {
  const inlinks = new Uint32Array(pages);
  for (let page = 0; page < pages; page++) {
    const how = { pages, links: LINKS, isPopular: true };
    for (const target of new Set(linkTargets(page, how, seeded(page + 1)))) if (target !== page) inlinks[target]!++;
  }
  const order = [...inlinks.keys()].sort((a, b) => inlinks[b]! - inlinks[a]!);
  return new Set(order.slice(0, MOST_LINKED));
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return ((sorted[(sorted.length - 1) >> 1] ?? 0) + (sorted[sorted.length >> 1] ?? 0)) / 2;
}
