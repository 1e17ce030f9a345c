/** `npm run bench -- --only crawl`: a full crawl of the site and a second one after a change. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { byThread, type CrawlPlan, type MeasuredCrawl, measuredCrawl } from './measured-crawl.ts';
import { type RunningSite, type Site, type SiteChange, type SiteLog, startSite } from './site-process.ts';

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

export type HowToCrawl = Pick<CrawlPlan, 'protocol' | 'without'>;

/** Runs a site, and has an empty state directory, as long as `use` takes. */
export async function withState<Value>(
  site: Site,
  use: (running: RunningSite, dir: string) => Promise<Value>,
): Promise<Value> {
  const running = await startSite(site);
  const dir = mkdtempSync(join(tmpdir(), 'incrawl-bench-'));
  try {
    return await use(running, dir);
  } finally {
    running.close();
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Crawls the site, changes it, and crawls it again; `onFull` is called between the two. */
export const twoCrawls = (
  site: Site,
  how: HowToCrawl,
  onFull: (full: MeasuredCrawl, log: SiteLog) => void = () => {},
): Promise<TwoCrawls> =>
  withState(site, async (running, dir) => {
    const full = measuredCrawl({ ...how, dir, seeds: running.seeds });
    const fullLog = await running.log();
    onFull(full, fullLog);
    const change = await running.change();
    const second = measuredCrawl({ ...how, dir, offsetDays: SECOND_DAYS, auditShare: AUDIT_SHARE });
    return { full, fullLog, change, second, secondLog: await running.log() };
  });

export async function benchCrawl(
  say: (text: string) => void,
  verdict: (isGood: boolean, text: string) => void,
  site: Site,
  how: HowToCrawl,
): Promise<TwoCrawls> {
  const { pages } = site;
  const crawls = await twoCrawls(site, how);
  const { full, fullLog, change, second, secondLog } = crawls;
  const cpuPerPage = full.cpuMs / pages;
  say(
    `full crawl      ${pages} pages, answers ${site.encoding}  ${((pages * 1_000) / full.ms).toFixed(0)} pages/s  ${(fullLog.bodyBytes / 1e6).toFixed(0)} MB bodies  ${cpuPerPage.toFixed(2)} ms CPU a page  ${full.peakRssMb.toFixed(0)} MB peak RSS${byThread(full)}`,
  );
  verdict(fullLog.pages === pages, `every reachable page fetched: ${fullLog.pages} of ${pages}`);
  verdict(fullLog.twice === 0, "none twice, by the server's log");
  verdict(cpuPerPage <= 2.1, `CPU a page ${cpuPerPage.toFixed(2)} ms <= 2.1 ms`);
  verdict(full.peakRssMb <= 300, `peak RSS ${full.peakRssMb.toFixed(0)} MB <= 300 MB`);
  const { totals } = second.summary;
  const secondCpu = second.cpuMs / pages;
  say(
    `second crawl    ${totals.requests} requests  ${(totals.bodyBytes / 1e6).toFixed(2)} MB bodies  ${secondCpu.toFixed(2)} ms CPU a page  ${second.peakRssMb.toFixed(0)} MB peak RSS${byThread(second)}`,
  );
  verdict(totals.modified === change.changed, `changed pages found: ${totals.modified} of ${change.changed}`);
  verdict(totals.gone === change.removed, `removed pages found: ${totals.gone} of ${change.removed}`);
  const ratio = totals.bodyBytes / change.bytes;
  verdict(ratio <= 1.15, `body bytes ${ratio.toFixed(3)} x those of the changed pages <= 1.15 x, audits as shipped`);
  verdict(
    secondLog.needless <= 0.01 * pages,
    `bodies sent of unchanged pages that answer 304, all audits: ${secondLog.needless} <= 1 %`,
  );
  verdict(
    secondCpu <= 0.25 * cpuPerPage,
    `CPU a page ${secondCpu.toFixed(2)} ms = ${(secondCpu / cpuPerPage).toFixed(2)} x <= 0.25 x ${cpuPerPage.toFixed(2)} ms`,
  );
  return crawls;
}

/** Cost of judging stored links again after a change of URL rules, relative to the crawl that stored them. */
export const benchReadmit = (
  say: (text: string) => void,
  verdict: (isGood: boolean, text: string) => void,
  site: Site,
  how: HowToCrawl,
): Promise<void> =>
  withState(site, async ({ seeds }, dir) => {
    const full = measuredCrawl({ ...how, dir, seeds });
    const idle = measuredCrawl({ ...how, dir });
    const { summary, cpuMs, peakRssMb } = measuredCrawl({ ...how, dir, without: 'urlfilter-traps' });
    const { pages: judged = 0, outlinks = 0 } = summary.readmitted ?? {};
    const [of, beside] = [(cpuMs - idle.cpuMs) / site.pages, full.cpuMs / site.pages];
    say(
      `stored links judged again  ${judged} pages, ${outlinks} links  ${of.toFixed(2)} ms CPU a page beyond the start  ${peakRssMb.toFixed(0)} MB peak RSS  ${(of / beside).toFixed(2)} x the ${beside.toFixed(2)} ms of the full crawl`,
    );
    verdict(judged === site.pages, `links of all stored pages judged: ${judged} of ${site.pages}`);
  });
