/**
 * `npm run bench -- [--pages N] [--only crawl|requests|generate|parts|..] [--protocol http|undici] [--without
 * PLUGIN,..] [--json]`: measures the built crawler and prints PASS or FAIL for each bound.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { CrawlSummary } from '../src/crawler.ts';
import { benchChanges } from './changes/changes.ts';
import { benchCluster } from './cluster/cluster.ts';
import { crawlByCrawlee } from './crawl/crawlee.ts';
import { benchGenerate } from './crawl/generate.ts';
import { benchParse } from './crawl/parse.ts';
import { benchParts } from './crawl/parts.ts';
import { benchRequests } from './crawl/requests.ts';
import { benchExport } from './export/export.ts';
import { benchDedup } from './near/dedup.ts';
import { benchNear } from './near/near-groups.ts';
import { benchNearTables } from './near/near-tables.ts';
import { benchNeardup } from './near/neardup.ts';
import { benchLiveView } from './questions/live-view.ts';
import { benchQuestions } from './questions/questions.ts';
import { benchSeen } from './urls/seen.ts';
import { benchSeenFp } from './urls/seen-fp.ts';
import { benchUrlRules } from './urls/url-rules.ts';

const { values } = parseArgs({
  options: {
    pages: { type: 'string', default: '5000' },
    real: { type: 'boolean', default: false },
    only: { type: 'string' },
    protocol: { type: 'string', default: 'http' },
    without: { type: 'string', default: '' },
    json: { type: 'boolean', default: false },
    seed: { type: 'string', default: '9' },
    articles: { type: 'string', default: '300' },
    crawlee: { type: 'string' },
    fingerprints: { type: 'string', default: '10000000' },
  },
});
const pages = Number(values.pages);
/** Everything reported, printed as one object at the end with `--json`. */
const reported: { figures: string[]; verdicts: { pass: boolean; text: string }[]; crawls: Record<string, Measured> } = {
  figures: [],
  verdicts: [],
  crawls: {},
};
const say = (text: string): void => {
  if (values.json) reported.figures.push(text);
  else process.stdout.write(`${text}\n`);
};
const own = (file: string): string => fileURLToPath(new URL(file, import.meta.url));
const verdict = (pass: boolean, text: string): void => {
  if (values.json) reported.verdicts.push({ pass, text });
  else say(`${pass ? 'PASS' : 'FAIL'}  ${text}`);
};

/** The default of `fetch.auditShare`. */
const AUDIT_SHARE = 0.1;

interface Measured {
  readonly summary: CrawlSummary;
  readonly ms: number;
  readonly cpuMs: number;
  readonly peakRssMb: number;
  /** CPU by thread, ms, the main thread first; Linux only. */
  readonly threadsMs: readonly number[];
}

/** Threads with 50 ms of CPU or more; most of the others compile and collect garbage. */
const byThread = ({ threadsMs }: Measured): string =>
  threadsMs.length === 0
    ? ''
    : `  (by thread, s: ${threadsMs
        .filter((ms) => ms >= 50)
        .map((ms) => (ms / 1_000).toFixed(2))
        .join(' ')})`;

interface ServerLog {
  readonly requests: number;
  readonly gets: Record<string, number>;
  readonly bodyBytes: number;
}

async function startSite(): Promise<{ process: ChildProcess; origins: string[] }> {
  const child = spawn(process.execPath, [own('./crawl/site.js'), String(pages), '5', values.real ? 'real' : 'small'], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const line = await new Promise<string>((resolve) => child.stdout?.once('data', (chunk) => resolve(String(chunk))));
  return { process: child, origins: JSON.parse(line) as string[] };
}

function crawl(dir: string, seed: string, offsetDays: number, auditShare: number, without = values.without): Measured {
  const child = spawnSync(
    process.execPath,
    [own('./crawl/crawl-child.js'), dir, seed, String(offsetDays), String(auditShare), values.protocol, without],
    {
      encoding: 'utf8',
      maxBuffer: 1 << 26,
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  return JSON.parse(child.stdout) as Measured;
}

async function benchCrawl(): Promise<void> {
  const site = await startSite();
  const dir = mkdtempSync(join(tmpdir(), 'incrawl-bench-'));
  const control = async <Value>(path: string): Promise<Value> =>
    (await fetch(`${site.origins[0]}/control/${path}`)).json() as Promise<Value>;
  try {
    const seeds = site.origins.map((origin, host) => `${origin}/page/${host}.html`).join(',');
    const first = crawl(dir, seeds, 0, 0);
    const log = await control<ServerLog>('log');
    const cpuPerPage = first.cpuMs / pages;
    say(
      `full crawl      ${pages} pages  ${((pages * 1_000) / first.ms).toFixed(0)} pages/s  ${cpuPerPage.toFixed(2)} ms CPU a page  ${first.peakRssMb.toFixed(0)} MB peak RSS${byThread(first)}`,
    );
    reported.crawls.full = first;
    const fetched = Object.keys(log.gets).length;
    verdict(fetched === pages, `every reachable page fetched: ${fetched} of ${pages}`);
    verdict(
      Object.values(log.gets).every((gets) => gets === 1),
      "none twice, by the server's log",
    );
    verdict(cpuPerPage <= 2.1, `CPU a page ${cpuPerPage.toFixed(2)} ms <= 2.1 ms`);
    verdict(first.peakRssMb <= 300, `peak RSS ${first.peakRssMb.toFixed(0)} MB <= 300 MB`);
    const change = await control<{ changed: number[]; removed: number[]; bytes: number }>('change');
    const second = crawl(dir, '', 40, AUDIT_SHARE);
    const secondLog = await control<ServerLog>('log');
    const { totals } = second.summary;
    const secondCpu = second.cpuMs / pages;
    say(
      `second crawl    ${totals.requests} requests  ${(totals.bodyBytes / 1e6).toFixed(2)} MB bodies  ${secondCpu.toFixed(2)} ms CPU a page  ${second.peakRssMb.toFixed(0)} MB peak RSS${byThread(second)}`,
    );
    reported.crawls.second = second;
    verdict(
      totals.modified === change.changed.length,
      `changed pages found: ${totals.modified} of ${change.changed.length}`,
    );
    verdict(totals.gone === change.removed.length, `removed pages found: ${totals.gone} of ${change.removed.length}`);
    const ratio = totals.bodyBytes / change.bytes;
    verdict(ratio <= 1.15, `body bytes ${ratio.toFixed(3)} x those of the changed pages <= 1.15 x, audits as shipped`);
    const needless = Object.keys(secondLog.gets).filter(
      (page) => !change.changed.includes(Number(page)) && Number(page) % 3 !== 1,
    );
    verdict(
      needless.length <= 0.01 * pages,
      `bodies sent of unchanged pages that answer 304, all audits: ${needless.length} <= 1 %`,
    );
    verdict(
      secondCpu <= 0.25 * cpuPerPage,
      `CPU a page ${secondCpu.toFixed(2)} ms <= 0.25 x ${cpuPerPage.toFixed(2)} ms`,
    );
    if (values.crawlee !== undefined) {
      const rival = crawlByCrawlee(values.crawlee, seeds);
      say(
        `Crawlee         ${rival.pages} pages  ${((rival.pages * 1_000) / rival.ms).toFixed(0)} pages/s  ${(rival.cpuMs / rival.pages).toFixed(2)} ms CPU a page  ${rival.peakRssMb.toFixed(0)} MB peak RSS, nothing persisted; a second visit is the same again`,
      );
    }
  } finally {
    site.process.disconnect();
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Cost of judging stored links again after a change of URL rules, relative to the crawl that stored them. */
async function benchReadmit(): Promise<void> {
  const site = await startSite();
  const dir = mkdtempSync(join(tmpdir(), 'incrawl-bench-'));
  try {
    const seeds = site.origins.map((origin, host) => `${origin}/page/${host}.html`).join(',');
    const full = crawl(dir, seeds, 0, 0);
    const idle = crawl(dir, '', 0, 0);
    const { summary, cpuMs, peakRssMb } = crawl(dir, '', 0, 0, 'urlfilter-traps');
    const { pages: judged = 0, outlinks = 0 } = summary.readmitted ?? {};
    const [of, beside] = [(cpuMs - idle.cpuMs) / pages, full.cpuMs / pages];
    say(
      `stored links judged again  ${judged} pages, ${outlinks} links  ${of.toFixed(2)} ms CPU a page beyond the start  ${peakRssMb.toFixed(0)} MB peak RSS  ${(of / beside).toFixed(2)} x the ${beside.toFixed(2)} ms of the full crawl`,
    );
    verdict(judged === pages, `links of all stored pages judged: ${judged} of ${pages}`);
  } finally {
    site.process.disconnect();
    rmSync(dir, { recursive: true, force: true });
  }
}

say(`Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model ?? 'unknown CPU'}`);
if (values.only === undefined || values.only === 'crawl') await benchCrawl();
if (values.only === undefined || values.only === 'readmit') await benchReadmit();
if (values.only === undefined || values.only === 'requests') {
  const site = await startSite();
  try {
    await benchRequests(say, site.origins);
  } finally {
    site.process.disconnect();
  }
}
if (values.only === undefined || values.only === 'generate') await benchGenerate(say, verdict);
if (values.only === undefined || values.only === 'parts' || values.only === 'parse') {
  const site = await startSite();
  try {
    if (values.only !== 'parse') await benchParts(say, site.origins);
    if (values.only !== 'parts') await benchParse(say, verdict, site.origins);
  } finally {
    site.process.disconnect();
  }
}
if (values.only === undefined || values.only === 'seen') await benchSeen(say, verdict);
if (values.only === undefined || values.only === 'seen-fp') await benchSeenFp(say, verdict, 10_000_000);
if (values.only === undefined || values.only === 'near') benchNear(verdict);
if (values.only === undefined || values.only === 'dedup') await benchDedup(say, verdict, Number(values.fingerprints));
if (values.only === undefined || values.only === 'neardup')
  await benchNeardup(say, verdict, Number(values.articles), Number(values.seed));
if (values.only === 'cluster') await benchCluster(say);
if (values.only === undefined || values.only === 'changes') await benchChanges(say, verdict);
if (values.only === undefined || values.only === 'questions') await benchQuestions(say, verdict);
if (values.only === undefined || values.only === 'live-view') await benchLiveView(say, verdict);
if (values.only === undefined || values.only === 'near-tables') await benchNearTables(say, verdict);
if (values.only === undefined || values.only === 'url-rules') benchUrlRules(say, verdict);
if (values.only === undefined || values.only === 'export') await benchExport(say, verdict);
if (values.json) process.stdout.write(`${JSON.stringify({ node: process.version, ...reported })}\n`);
