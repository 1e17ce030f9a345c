import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { defaultConfig } from '../../src/config/load.ts';
import { type Crawler, openCrawler, type ReparseQuery, verifyState } from '../../src/crawler.ts';

const DAY = 86_400_000;
const root = mkdtempSync(join(tmpdir(), 'incrawl-reparse-'));

/** Words of a page, so that no two pages share a run of them. */
const words = (seed: number, count = 150): string =>
  Array.from({ length: count }, (_, i) => `w${(Math.imul(seed * 1_009 + i, 0x9e37_79b1) >>> 8) % 997}`).join(' ');

/** Advertisement that the first version of the plugin takes for content: it fills most of the text. */
const AD = `<aside>${words(77, 200)}</aside>`;

const page = (title: string, seed: number, links: readonly string[], nonce = ''): string =>
  `<!doctype html><title>${title}</title><p>${words(seed)}</p>${AD}<!-- ${nonce} -->` +
  links.map((to) => `<a href="${to}">${to}</a>`).join(' ');

interface Served {
  readonly body: string;
  readonly type?: string;
}
let served: Record<string, Served> = {};
const asked: string[] = [];
const server = createServer(({ url = '' }, response) => {
  asked.push(url);
  const found = served[url];
  if (found === undefined) return void response.writeHead(404).end();
  response.writeHead(200, { 'content-type': found.type ?? 'text/html' }).end(found.body);
});

let origin = '';
let baseDir = '';
let crawls = 0;
let now = 0;
const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

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
  now = Date.UTC(2026, 5, 1);
  served = {
    '/': { body: page('Home', 1, ['/a', '/b', '/hidden?x=1']) },
    '/a': { body: page('About us', 2, ['/']) },
    '/b': { body: page('Blog', 3, ['/a']) },
    '/hidden': { body: page('Hidden', 4, []) },
  };
  plugin(FIRST);
});

/** Everything is text, the title is shouted, links with a query are lost, and a topic is given. */
const FIRST = `
    page.result.title = page.result.title.toUpperCase();
    page.result.outlinks = page.result.outlinks.filter(({ url }) => !url.includes('?'));
    page.result.metadata.topic = 'old';
    page.result.metadata.stale = 1;
    page.result.mainText = page.result.text;
    page.result.blocks = [];`;
/** The mended one: content without the advertisement, the title as it is, links repaired. */
const MENDED = `
    page.result.outlinks = page.result.outlinks.map((link) => ({ ...link, url: link.url.replace('?x=1', '') }));
    page.result.metadata.topic = 'new';
    page.result.mainText = page.$('p').text();
    page.result.blocks = [];`;

function plugin(body: string): void {
  writeFileSync(
    join(baseDir, 'plugins', 'parsefilter-mine', 'plugin.mjs'),
    `export default {
  name: 'parsefilter-mine',
  api: 1,
  setup: () => ({ filter(page) {${body}
  } }),
};`,
  );
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
}

/** Plugins are read when a crawler is opened. */
async function opened<Value>(work: (crawler: Crawler) => Promise<Value>, ...settings: string[]): Promise<Value> {
  const config = defaultConfig([
    'fetch.delay=0',
    'fetch.soft404=false',
    'http.allowAddresses=["127.0.0.1"]',
    ...settings,
  ]);
  const clock = { now: () => now, sleep: async () => {} };
  const crawler = await openCrawler({ config, baseDir, dir: join(baseDir, 'crawldb'), log, clock });
  try {
    return await work(crawler);
  } finally {
    await crawler.close();
  }
}

const crawl = (...settings: string[]) =>
  opened((crawler) => crawler.crawl({ seeds: [{ name: 'test', lines: [`${origin}/`] }] }), ...settings);
const reparse = (query: ReparseQuery = {}, ...settings: string[]) =>
  opened((crawler) => crawler.reparse(query), ...settings);
const record = (path: string) => opened((crawler) => crawler.record(origin + path));

const changes = () =>
  opened(async (crawler) => {
    const found: string[] = [];
    for await (const { kind, url } of crawler.changes()) found.push(`${kind} ${url.slice(origin.length)}`);
    return found.sort();
  });

async function exported(): Promise<Record<string, { title: string; text: string; outlinks: string[] }>> {
  let text = '';
  await opened((crawler) =>
    crawler.export(
      { format: 'jsonl' },
      {
        place: null,
        write: async (chunk) => {
          text += chunk;
        },
      },
    ),
  );
  const pages = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { url: string; title: string; text: string; outlinks: string[] });
  return Object.fromEntries(pages.map((each) => [each.url.slice(origin.length), each]));
}

/** What only visits may change. */
async function visited() {
  return opened(async (crawler) => {
    const found: unknown[] = [];
    for await (const record of crawler.records()) {
      const { url, visits, interval, nextFetchAt, lastFetchAt, changedAt, failures, changesPerDay } =
        record as unknown as Record<string, unknown>;
      if (url !== `${origin}/hidden`)
        found.push({ url, visits, interval, nextFetchAt, lastFetchAt, changedAt, failures, changesPerDay });
    }
    return found;
  });
}

const isSound = async () => {
  const config = defaultConfig(['http.allowAddresses=["127.0.0.1"]']);
  return (await verifyState({ config, dir: join(baseDir, 'crawldb'), log, deep: true })).sound;
};

describe('a mended plugin', () => {
  it('reaches the pages that are there: records, links, exports, and the next run finds nothing', async () => {
    await crawl();
    const [before, feed] = [await visited(), await changes()];
    expect((await record('/a'))?.title).toBe('ABOUT US');
    plugin(MENDED);
    now += DAY;
    asked.length = 0;
    const summary = await reparse();
    expect(asked).toEqual([]);
    expect(summary).toMatchObject({ selected: 3, parsed: 3, notStored: 0, failed: 0, differing: 3, isCutShort: false });
    expect(summary.fields).toMatchObject({
      title: 3,
      signature: 3,
      textChars: 3,
      text: 3,
      'metadata.topic': 3,
      'metadata.stale': 3,
    });
    expect(summary.signatures).toMatchObject({ changed: 3 });
    expect(summary.signatures.meanDistance).toBeGreaterThan(3);
    expect(summary.links).toEqual({ pages: 1, added: 1, removed: 0, newUrls: 1 });
    const home = summary.examples.find(({ url }) => url === `${origin}/`);
    expect(home?.linksAdded).toEqual([`${origin}/hidden`]);
    expect(home?.fields).toContainEqual({ field: 'title', before: 'HOME', after: 'Home' });
    expect(home?.fields).toContainEqual({ field: 'metadata.stale', before: 1, after: null });
    expect(await record('/a')).toMatchObject({ title: 'About us', metadata: { topic: 'new' } });
    expect(await record('/hidden')).toMatchObject({ state: 'unfetched', depth: 1, referrer: `${origin}/` });
    const pages = await exported();
    expect(pages['/a']).toMatchObject({ title: 'About us', text: words(2) });
    expect(pages['/']?.outlinks).toContain(`${origin}/hidden`);
    expect(await visited()).toEqual(before);
    expect(await changes()).toEqual(feed);
    expect(await reparse()).toMatchObject({ selected: 3, parsed: 3, differing: 0, fields: {}, links: { newUrls: 0 } });
    expect(await isSound()).toBe(true);
  });

  it('finds pages by their records: by host, by field, since a time, and those fetched in full', async () => {
    await crawl();
    plugin(MENDED);
    now += DAY;
    expect(await reparse({ host: 'elsewhere.example' })).toMatchObject({ selected: 0, parsed: 0, differing: 0 });
    expect(await reparse({ where: 'title ~ BLOG' })).toMatchObject({ selected: 1, differing: 1 });
    expect(await record('/a')).toMatchObject({ title: 'ABOUT US' });
    expect((await exported())['/b']?.text).toBe(words(3));
    expect(await reparse({ since: { at: now } })).toMatchObject({ selected: 0 });
    expect(await reparse({ since: { at: now - 2 * DAY }, host: new URL(origin).host })).toMatchObject({
      selected: 3,
      differing: 2,
    });
  });

  it('makes no change of a page that is the same, by its bytes under another charset', async () => {
    const again = async (isReparsed: boolean) => {
      await crawl();
      plugin(MENDED);
      if (isReparsed) await reparse();
      now += 40 * DAY;
      for (const path of ['/a', '/b']) served[path] = { ...(served[path] as Served), type: 'text/html; charset=utf-8' };
      await crawl();
      return (await changes()).filter((change) => change.startsWith('modified'));
    };
    expect(await again(true)).toEqual([]);
  });

  it('and without reparse the same pages pass for modified', async () => {
    await crawl();
    plugin(MENDED);
    now += 40 * DAY;
    for (const path of ['/a', '/b']) served[path] = { ...(served[path] as Served), type: 'text/html; charset=utf-8' };
    await crawl();
    expect((await changes()).filter((change) => change.startsWith('modified'))).toEqual(['modified /a', 'modified /b']);
  });

  it.each([true, false])('changed bytes around the same content: reparsed %s', async (isReparsed) => {
    await crawl();
    plugin(MENDED);
    if (isReparsed) await reparse();
    now += 40 * DAY;
    served['/a'] = { body: page('About us', 2, ['/'], 'another nonce') };
    await crawl();
    const found = await record('/a');
    const distance = found?.visits.at(-1)?.distance ?? -1;
    if (isReparsed) expect(distance).toBe(0);
    else expect(distance).toBeGreaterThan(3);
  });
});
