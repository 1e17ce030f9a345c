import { defaultConfig } from '../../src/core/config/load.ts';
import { openReader } from '../../src/crawler/index.ts';
import { inTurn, mean, median } from '../harness/cost.ts';
import { measurement } from '../harness/measurement.ts';
import { silent } from '../harness/places.ts';
import { seeded } from '../harness/seeded.ts';
import { measuredCrawl, withState } from './measured-crawl.ts';
import { linkTargets } from './site-links.ts';

const LINKS = 60;
/** Pages of a round: the order is chosen anew for each. */
const ROUND = 500;
const MOST_LINKED = 100;

/** Whether the pages of most links are fetched first, and its cost: a site of one host by both scorings, in turn. */
export const inlinks = measurement('urls', { pages: 10_000, rounds: 3 }, async ({ question }, { pages, rounds }) => {
  const most = mostLinked(pages);
  const site = { pages, hosts: 1, make: 'popular' } as const;
  const runs = await inTurn(['scoring-depth', 'scoring-links'], rounds, (scoring) =>
    withState(site, async ({ seeds }, dir) => {
      const instead = { 'scoring-depth': scoring };
      const { cpuMs } = await measuredCrawl({ dir, seeds, instead, define: [`generate.topN=${ROUND}`] });
      return { cpuMs, place: await meanPlace(dir, most) };
    }),
  );
  const [depth, links] = [...runs.values()].map((own) => ({
    cpuMs: median(own.map(({ cpuMs }) => cpuMs)),
    place: median(own.map(({ place }) => place)),
  })) as [{ cpuMs: number; place: number }, { cpuMs: number; place: number }];
  const note = question(
    `Links to a page, one host, ${pages.toLocaleString('en')} pages of ${LINKS} links, rounds of ${ROUND}, in turn, medians`,
  );
  const metric = `mean place of the ${MOST_LINKED} pages of most links`;
  note(`${metric}, scoring-links`, links.place, '', `<= ${Math.round(depth.place)}`);
  note(`${metric}, scoring-depth`, depth.place);
  note('CPU a page, scoring-links against scoring-depth', links.cpuMs / depth.cpuMs, 'x', '<= 1.03');
});

/** Mean place, in the order of the fetches, of the pages of most links; 0 first. */
async function meanPlace(dir: string, most: ReadonlySet<number>): Promise<number> {
  const configured = async () => ({ config: defaultConfig([]), baseDir: dir });
  const reader = openReader({ dir, log: silent, configured });
  const fetched: { readonly page: number; readonly at: number }[] = [];
  for await (const { url, lastFetchAt } of reader.records({})) {
    const page = Number(/(\d+)\.html$/.exec(url)?.[1]);
    fetched.push({ page, at: Date.parse(String(lastFetchAt)) });
  }
  await reader.close();
  const places = fetched.sort((a, b) => a.at - b.at).flatMap(({ page }, place) => (most.has(page) ? [place] : []));
  return mean(places);
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
