import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { defaultConfig } from '../../src/core/config/load.ts';
import { type Crawler, type OnWork, openCrawler, type ReparseQuery, verifyState } from '../../src/crawler/index.ts';

export const DAY = 86_400_000;

/** Words of a page, so that no two pages share a run of them. */
export const words = (seed: number, count = 150): string =>
  Array.from({ length: count }, (_, i) => `w${(Math.imul(seed * 1_009 + i, 0x9e37_79b1) >>> 8) % 997}`).join(' ');

export interface Served {
  readonly body: string;
  readonly type?: string;
}

/** A site, a parse filter of its own, and a crawl of both; each test has a new one. */
export interface ReparsedSite {
  readonly served: Record<string, Served>;
  /** Answers to all other paths; default: 404. */
  elsewhere: Served | null;
  readonly asked: string[];
  readonly origin: string;
  readonly dir: string;
  now: number;
  /** As the crawlers report it. */
  onWork: OnWork;
  /** Sets the body of the parse filter, which crawlers load when they are opened. */
  plugin(body: string): void;
  opened<Value>(work: (crawler: Crawler) => Promise<Value>, ...settings: string[]): Promise<Value>;
  crawl(...settings: string[]): ReturnType<Crawler['crawl']>;
  reparse(
    query?: ReparseQuery,
    options?: { signal?: AbortSignal },
    ...settings: string[]
  ): ReturnType<Crawler['reparse']>;
  record(path: string): ReturnType<Crawler['record']>;
  /** `kind path` of all entries of the change feed, sorted. */
  changes(): Promise<string[]>;
  /** All records, whole, by path. */
  records(): Promise<Record<string, Record<string, unknown>>>;
  /** The fields of all records that only visits may change. */
  visited(): Promise<unknown[]>;
  exported(): Promise<Record<string, { title: string; text: string; outlinks: string[] }>>;
  isSound(): Promise<boolean>;
}

const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
/** Fields of a record that follow from its visits. */
const OF_VISITS = ['url', 'visits', 'interval', 'nextFetchAt', 'lastFetchAt', 'changedAt', 'failures', 'changesPerDay'];

/** The site of the tests of a file; `setUp` fills it for each test. */
export function reparsedSite(setUp: (site: ReparsedSite) => void): ReparsedSite {
  const root = mkdtempSync(join(tmpdir(), 'incrawl-reparse-'));
  let crawls = 0;
  let baseDir = '';
  let served: Record<string, Served> = {};
  const asked: string[] = [];
  let origin = '';
  const server = createServer(({ url = '' }, response) => {
    asked.push(url);
    const found = url === '/robots.txt' ? undefined : (served[url] ?? site.elsewhere ?? undefined);
    if (found === undefined) return void response.writeHead(404).end();
    response.writeHead(200, { 'content-type': found.type ?? 'text/html' }).end(found.body);
  });
  const site: ReparsedSite = {
    get served() {
      return served;
    },
    elsewhere: null,
    asked,
    get origin() {
      return origin;
    },
    get dir() {
      return join(baseDir, 'crawldb');
    },
    now: 0,
    onWork: () => {},
    plugin(body) {
      const text = `export default {
  name: 'parsefilter-mine',
  api: 1,
  setup: () => ({ content: '', filter(page) {${body}
  } }),
};`;
      writeFileSync(join(baseDir, 'plugins', 'parsefilter-mine', 'plugin.mjs'), text);
    },
    async opened(work, ...settings) {
      const own = ['fetch.delay=0', 'http.allowAddresses=["127.0.0.1"]'];
      const config = defaultConfig([...own, ...settings]);
      const clock = { now: () => site.now, sleep: async () => {} };
      const crawler = await openCrawler({
        config,
        baseDir,
        dir: site.dir,
        log,
        clock,
        onWork: (work) => site.onWork(work),
      });
      try {
        return await work(crawler);
      } finally {
        await crawler.close();
      }
    },
    crawl: (...settings) =>
      site.opened((crawler) => crawler.crawl({ seeds: [{ name: 'test', lines: [`${origin}/`] }] }), ...settings),
    reparse: (query = {}, options = {}, ...settings) =>
      site.opened((crawler) => crawler.reparse(query, options), ...settings),
    record: (path) => site.opened((crawler) => crawler.record(origin + path)),
    changes: () =>
      site.opened(async (crawler) => {
        const found: string[] = [];
        for await (const { kind, url } of crawler.changes()) found.push(`${kind} ${url.slice(origin.length)}`);
        return found.sort();
      }),
    records: () =>
      site.opened(async (crawler) => {
        const found: Record<string, Record<string, unknown>> = {};
        for await (const record of crawler.records()) found[record.url.slice(origin.length)] = { ...record };
        return found;
      }),
    async visited() {
      const all = Object.values(await site.records()).filter(({ state }) => state !== 'unfetched');
      return all.map((record) => Object.fromEntries(OF_VISITS.map((name) => [name, record[name]])));
    },
    async exported() {
      let text = '';
      const write = async (chunk: string | Uint8Array): Promise<void> => {
        text += String(chunk);
      };
      await site.opened((crawler) => crawler.export({ format: 'jsonl' }, { place: null, write }));
      const lines = text
        .trim()
        .split('\n')
        .filter((line) => line !== '');
      return Object.fromEntries(
        lines.map((line) => JSON.parse(line)).map((page) => [page.url.slice(origin.length), page]),
      );
    },
    async isSound() {
      const config = defaultConfig(['http.allowAddresses=["127.0.0.1"]']);
      return (await verifyState({ config, dir: site.dir, log, deep: true })).sound;
    },
  };
  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
    rmSync(root, { recursive: true, force: true });
  });
  beforeEach(() => {
    baseDir = join(root, String(crawls++));
    mkdirSync(join(baseDir, 'plugins', 'parsefilter-mine'), { recursive: true });
    const list = [
      'protocol-http',
      'urlfilter-scope',
      'parse-html',
      './plugins/parsefilter-mine',
      'signature-simhash',
      'schedule-freshness',
      'schedule-fixed',
      'exporter-jsonl',
    ];
    writeFileSync(join(baseDir, 'plugins.yaml'), `plugins:\n${list.map((each) => `  - ${each}\n`).join('')}`);
    site.now = Date.UTC(2026, 5, 1);
    site.elsewhere = null;
    site.onWork = () => {};
    served = {};
    asked.length = 0;
    setUp(site);
  });
  return site;
}
