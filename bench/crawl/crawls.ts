import { measurement } from '../harness/measurement.ts';
import { byThread, CRAWLING, type CrawlPlan, type MeasuredCrawl, measuredCrawl, withState } from './measured-crawl.ts';
import { type Site, type SiteChange, type SiteLog, siteOf } from './site-process.ts';

/** The default of `fetch.auditShare`. */
const AUDIT_SHARE = 0.1;

/** The second crawl comes later than any page of the first one is due. */
const SECOND_DAYS = 40;

export interface TwoCrawls {
  readonly full: MeasuredCrawl;
  readonly fullLog: SiteLog;
  readonly change: SiteChange;
  /** 5 % of the pages changed and twenty were removed; audits as shipped. */
  readonly second: MeasuredCrawl;
  readonly secondLog: SiteLog;
}

export interface HowToCrawl extends Pick<CrawlPlan, 'protocol' | 'without'> {
  readonly env?: Readonly<Record<string, string>>;
}

/** Crawls the site, changes it, and crawls it again. */
export const twoCrawls = (site: Site, { protocol = 'http', without = '', env }: HowToCrawl): Promise<TwoCrawls> =>
  withState(site, async (running, dir) => {
    const how = { dir, protocol, without };
    const full = await measuredCrawl({ ...how, seeds: running.seeds }, env);
    const fullLog = await running.log();
    const change = await running.change();
    const second = await measuredCrawl({ ...how, offsetDays: SECOND_DAYS, auditShare: AUDIT_SHARE }, env);
    return { full, fullLog, change, second, secondLog: await running.log() };
  });

/** A full crawl of the site, and a second one after a change. */
export const crawl = measurement('crawls', CRAWLING, async ({ say, question }, options) => {
  const site = siteOf(options);
  const { pages, make } = site;
  const { full, fullLog, change, second, secondLog } = await twoCrawls(site, options);
  const ways = [
    ...(options.protocol === 'http' ? [] : [`by ${options.protocol}`]),
    ...(options.without === '' ? [] : [`without ${options.without}`]),
  ];
  const size = make === 'real' ? 'real-sized pages' : 'pages of 36 KB';
  const note = question([`Two crawls of ${pages.toLocaleString('en')} ${size}`, ...ways].join(', '));
  const cpuPerPage = full.cpuMs / pages;
  const secondCpu = second.cpuMs / pages;
  const { totals } = second.summary;
  note('reachable pages fetched', fullLog.pages, 'pages', `>= ${pages}`);
  note('pages fetched twice', fullLog.twice, 'pages', '= 0');
  note('CPU a page, full crawl', cpuPerPage, 'ms', make === 'real' ? undefined : '<= 2.1');
  note('pages a second, full crawl', (pages * 1_000) / full.ms, 'pages/s');
  note('peak memory, full crawl', full.peakMb, 'MB', '<= 300');
  note('changed pages found by the second crawl', totals.modified, 'pages', `>= ${change.changed}`);
  note('removed pages found by the second crawl', totals.gone, 'pages', `>= ${change.removed}`);
  note(
    'body bytes of the second crawl against those of the changed pages',
    totals.bodyBytes / change.bytes,
    'x',
    '<= 1.15',
  );
  note('bodies sent of unchanged pages that answer 304', secondLog.needless, 'pages', `<= ${pages / 100}`);
  note('CPU a page, second crawl', secondCpu, 'ms');
  note('CPU of the second crawl against the full one', secondCpu / cpuPerPage, 'x', '<= 0.28');
  note('peak memory, second crawl', second.peakMb, 'MB');
  say(`CPU by thread, s: full ${byThread(full)}; second ${byThread(second)}`);
});

/** Cost of judging stored links again after a change of URL rules, relative to the crawl that stored them. */
export const readmit = measurement('crawls', CRAWLING, ({ question }, options) => {
  const site = siteOf(options);
  return withState(site, async ({ seeds }, dir) => {
    const full = await measuredCrawl({ dir, seeds });
    const idle = await measuredCrawl({ dir });
    const { summary, cpuMs, peakMb } = await measuredCrawl({ dir, without: 'urlfilter-traps' });
    const { pages: judged = 0, outlinks = 0 } = summary.readmitted ?? {};
    const note = question(
      `Stored links judged again after a change of URL rules, ${site.pages.toLocaleString('en')} pages`,
    );
    note('pages whose links are judged', judged, 'pages', `>= ${site.pages}`);
    note('links', outlinks, 'links');
    note('CPU a page', (cpuMs - idle.cpuMs) / site.pages, 'ms');
    note('CPU against the full crawl', (cpuMs - idle.cpuMs) / full.cpuMs, 'x');
    note('peak memory', peakMb, 'MB');
  });
});
