// demo/: the demonstration: a changing site, crawled under a simulated clock.

import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DAY_MS } from '../core/domain/time.ts';
import type { Clock } from '../core/ports/clock.ts';
import type { Config, Crawler } from '../crawler/index.ts';
import { openCrawler } from '../crawler/open-crawler.ts';
import { type DemoReport, type DemoSample, type DemoVisit, demoSample, demoVisit, reportLines } from './report.ts';
import { DemoSite, seededRandom } from './site.ts';

export interface DemoServer {
  /** `http://127.0.0.1:PORT`, one for each host. */
  readonly origins: readonly string[];
  /** Total body bytes of all current pages. */
  bytesOfAll(): number;
  close(): Promise<void>;
}

/** Serves the hosts of the demo site on loopback, at the time of the simulated clock. */
export async function startDemoServer(options: {
  hosts: number;
  seed: number;
  now: () => number;
}): Promise<DemoServer> {
  const startedAt = options.now();
  const sites = Array.from(
    { length: options.hosts },
    (_, host) => new DemoSite(options.seed * 31 + host + 1, startedAt),
  );
  const servers = await Promise.all(sites.map((site) => listen(site, options.now)));
  return {
    origins: servers.map((server) => `http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    bytesOfAll: () => sites.reduce((sum, site) => sum + site.bytesOfAll(options.now()), 0),
    close: async () => {
      for (const server of servers) server.closeAllConnections();
      await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    },
  };
}

function listen(site: DemoSite, now: () => number): Promise<Server> {
  const server = createServer({ keepAliveTimeout: 60_000 }, (request, response) => {
    const { status, headers, body } = site.answer(request.url ?? '/', request.headers, now());
    response.writeHead(status, headers);
    response.end(request.method === 'HEAD' ? '' : body);
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve(server));
  });
}

export interface DemoOptions {
  /** Takes each line of the report. */
  readonly out: (line: string) => void;
  readonly json: boolean;
  /** Columns available for the lines; infinite for a pipe or a file. */
  readonly width: number;
  /** What a user types to start this program. */
  readonly program: string;
  /** Visits to the site, at least 1; default 6. */
  readonly rounds?: number;
  readonly seed?: number;
  /** Keep the crawl db afterwards. */
  readonly keep: boolean;
  readonly config: Config;
}

const START = Date.UTC(2026, 0, 1);
const HOSTS = 3;
/** Days of the first visits; further visits follow four days apart. */
const DAYS = [0, 2, 4, 7, 10, 14];
const SAMPLES: readonly (readonly [string, string])[] = [
  ['/history', 'never changes'],
  ['/people', 'a sentence every 5 days'],
  ['/today', 'a new article every day'],
];

/** Time stands still during a visit, and jumps between visits. */
class SimulatedClock implements Clock {
  private time = START;
  now(): number {
    return this.time;
  }
  async sleep(): Promise<void> {}
  moveTo(time: number): void {
    this.time = Math.max(this.time, time);
  }
}

/** Serves a changing site on loopback, crawls it on several days of a simulated clock, and reports each visit. */
export async function runDemo(options: DemoOptions): Promise<DemoReport> {
  const clock = new SimulatedClock();
  const seed = options.seed ?? 1;
  const dir = await mkdtemp(join(tmpdir(), 'incrawl-demo-'));
  const server = await startDemoServer({ hosts: HOSTS, seed, now: () => clock.now() });
  const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  try {
    const crawler = await openCrawler({
      config: demoConfig(options.config, await writePluginList(dir)),
      baseDir: dir,
      dir,
      log: silent,
      clock,
      random: seededRandom(seed),
    });
    let report: DemoReport;
    try {
      report = await visits(crawler, server, clock, options);
    } finally {
      await crawler.close();
    }
    if (options.json) options.out(JSON.stringify(report));
    else for (const line of reportLines(report, options.width)) options.out(line);
    if (!options.json) for (const line of nextLines(options, dir)) options.out(line);
    return report;
  } finally {
    await server.close();
    if (!options.keep) await rm(dir, { recursive: true, force: true });
  }
}

/** What to type next: the last line is a command. */
const nextLines = ({ program, keep }: DemoOptions, dir: string): string[] =>
  keep
    ? ['The crawl db is kept. What is in it:', `  ${program} readdb --stats --dir ${dir}`]
    : [
        'Next, a site of yours; a second run fetches only what is due, and changed:',
        `  ${program} crawl https://example.org/ --contact you@example.org`,
      ];

async function visits(
  crawler: Crawler,
  server: DemoServer,
  clock: SimulatedClock,
  options: DemoOptions,
): Promise<DemoReport> {
  const say = options.json ? () => {} : options.out;
  say(`A site of ${HOSTS} hosts on this machine; the clock is simulated.`);
  const done: DemoVisit[] = [];
  const count = options.rounds ?? DAYS.length;
  for (let visit = 0; visit < count; visit++) {
    const day = DAYS[visit] ?? (DAYS.at(-1) ?? 0) + 4 * (visit - DAYS.length + 1);
    clock.moveTo(START + day * DAY_MS);
    const seeds = visit === 0 ? [{ name: 'demo', lines: server.origins.map((origin) => `${origin}/`) }] : [];
    const summary = await crawler.crawl({ seeds });
    const visited = demoVisit(day, summary, server.bytesOfAll());
    done.push(visited);
    say(`day ${day}: ${visited.pages} pages due, ${visited.requests} requests`);
  }
  const samples: DemoSample[] = [];
  for (const [path, story] of SAMPLES) {
    const record = await crawler.record(`${server.origins[0]}${path}`);
    if (record !== null) samples.push(demoSample(record, story));
  }
  const selected = await crawler.record(`${server.origins[0]}${SELECTED.path}`);
  const value = selected?.metadata[`selectors.${SELECTED.field}`];
  return { visits: done, samples, selected: { ...SELECTED, value: value === undefined ? null : String(value) } };
}

/** A field that parsefilter-selectors reads: a text beside the content, which no signature covers. */
const SELECTED = { path: '/weather', field: 'calendar', selector: 'aside > h2 + p' };

/** The shipped list with its URL rules, and a parse filter that reads a field by a CSS selector. */
async function writePluginList(dir: string): Promise<string> {
  const shipped = join(dirname(createRequire(import.meta.url).resolve('incrawl/package.json')), 'conf');
  const { field, selector } = SELECTED;
  const line = `\n  - parsefilter-selectors: { fields: { ${field}: '${selector}' } }\n`;
  const file = join(dir, 'plugins.yaml');
  await copyFile(join(shipped, 'url-rules.txt'), join(dir, 'url-rules.txt'));
  await writeFile(file, `${await readFile(join(shipped, 'plugins.yaml'), 'utf8')}${line}`);
  return file;
}

/** The configuration, changed for a local site that changes within days. */
function demoConfig(config: Config, plugins: string): Config {
  return {
    ...config,
    plugins: { ...config.plugins, file: plugins },
    fetch: { ...config.fetch, delayMs: 0 },
    http: { ...config.http, allowAddresses: ['127.0.0.1'] },
    schedule: { ...config.schedule, intervalMs: 2 * DAY_MS, minIntervalMs: DAY_MS / 24, maxIntervalMs: 90 * DAY_MS },
  };
}
