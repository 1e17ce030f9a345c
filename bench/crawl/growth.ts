import { measurement } from '../harness/measurement.ts';
import { type HowToCrawl, type TwoCrawls, twoCrawls } from './crawls.ts';
import { byThread, CRAWLING, type MeasuredCrawl, measuredCrawl, withState } from './measured-crawl.ts';
import type { Site, SiteLog } from './site-process.ts';

const { protocol, without } = CRAWLING;
const OPTIONS = { sizes: [1_000, 10_000, 100_000], protocol, without, arenas: 2, 'full-only': false };

export const BY_SIZE = 'Pages of 6 KB, 24 links, compressed, by size of the site';
/** Arenas of malloc by the units and the image in `deploy`. */
const DEPLOYED = OPTIONS.arenas;

/** Metrics of a full crawl that `growth-plot.ts` draws; the number of pages follows each. */
export const METRICS = {
  cpu: 'CPU a page',
  mainCpu: 'CPU of the main thread a page',
  own: 'peak memory without mapped files',
  v8: 'heaps of V8 at that peak',
  malloc: 'malloc at that peak',
  files: 'mapped files at that peak',
} as const;

/** Below, start-up is most of what is measured. */
const FLAT_FROM = 10_000;

/**
 * How the cost of a page grows with the size of the site. `--full-only` leaves the second crawl of each out; `--arenas
 * N` sets those of glibc's malloc, 0: as many as it likes.
 */
export const growth = measurement('crawls', OPTIONS, async ({ say, question }, { sizes, arenas, ...rest }) => {
  const note = question(arenas === DEPLOYED ? BY_SIZE : `${BY_SIZE}, ${arenas || 'any number of'} arenas of malloc`);
  const options = { ...rest, env: arenas === 0 ? {} : { MALLOC_ARENA_MAX: `${arenas}` } };
  const crawls: { readonly pages: number; readonly full: MeasuredCrawl }[] = [];
  for (const pages of sizes) {
    const site: Site = { pages, hosts: 5, make: 'light' };
    const { full, fullLog, second, change } = options['full-only']
      ? await fullCrawl(site, options)
      : await twoCrawls(site, options);
    const size = `${pages.toLocaleString('en')} pages`;
    note(`pages fetched, ${size}`, fullLog.pages, 'pages', `>= ${pages}`);
    note(`${METRICS.cpu}, ${size}`, full.cpuMs / pages, 'ms');
    note(`${METRICS.mainCpu}, ${size}`, (full.threadsMs[0] ?? 0) / pages, 'ms');
    note(`peak memory, ${size}`, full.peakMb, 'MB');
    note(`${METRICS.own}, ${size}`, full.peakOwnMb, 'MB');
    for (const kind of ['v8', 'malloc', 'files'] as const)
      note(`${METRICS[kind]}, ${size}`, full.peakByKind[kind], 'MB');
    say(`CPU by thread of the full crawl, s: ${byThread(full)}`);
    crawls.push({ pages, full });
    if (second === undefined || change === undefined) continue;
    const { modified, gone } = second.summary.totals;
    note(`CPU of the second crawl against the full one, ${size}`, second.cpuMs / full.cpuMs, 'x');
    note(`peak memory of the second crawl, ${size}`, second.peakMb, 'MB');
    note(`peak memory of the second crawl without mapped files, ${size}`, second.peakOwnMb, 'MB');
    note(`changed and removed pages found, ${size}`, modified + gone, 'pages', `>= ${change.changed + change.removed}`);
    say(`CPU by thread of the second crawl, s: ${byThread(second)}`);
  }
  const [from, to] = [crawls.find(({ pages }) => pages >= FLAT_FROM), crawls.at(-1)];
  if (from === undefined || to === undefined || to.pages === from.pages) return;
  const span = `${to.pages.toLocaleString('en')} pages against ${from.pages.toLocaleString('en')}`;
  note(`${METRICS.own}, ${span}`, to.full.peakOwnMb / from.full.peakOwnMb, 'x', '<= 1.25');
  note(`${METRICS.cpu}, ${span}`, to.full.cpuMs / to.pages / (from.full.cpuMs / from.pages), 'x', '<= 1.25');
});

type FullCrawl = Pick<TwoCrawls, 'full' | 'fullLog'> & Partial<Pick<TwoCrawls, 'second' | 'change'>>;

const fullCrawl = (site: Site, { env, ...how }: HowToCrawl): Promise<FullCrawl> =>
  withState(site, async (running, dir) => {
    const full = await measuredCrawl({ ...how, dir, seeds: running.seeds }, env);
    const fullLog: SiteLog = await running.log();
    return { full, fullLog };
  });
