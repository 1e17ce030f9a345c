import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { defaultConfig } from '../../src/core/config/load.ts';
import { type Crawler, openCrawler } from '../../src/crawler/index.ts';

const DAY = 86_400_000;
const START = Date.UTC(2026, 0, 1);
let now = START;
let origin = '';
const pages = new Map<string, string>();
const dates = new Map<string, number>();
const log: string[] = [];
const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

const urlset = (paths: readonly string[]): string => {
  const entries = paths.map((path) => {
    const date = dates.get(path);
    return `<url><loc>${origin}${path}</loc>${date === undefined ? '' : `<lastmod>${new Date(date).toISOString()}</lastmod>`}<priority>1.0</priority></url>`;
  });
  return `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${entries.join('')}</urlset>`;
};

const server = createServer((request, response) => {
  const path = request.url ?? '/';
  log.push(path);
  const send = (type: string, body: string | Buffer): void => {
    response.setHeader('content-type', type);
    response.end(body);
  };
  if (path === '/robots.txt')
    return send('text/plain', `User-agent: *\nDisallow: /private/\nSitemap: ${origin}/index.xml\n`);
  if (path === '/index.xml') {
    const parts = [
      '/a.xml',
      '/b.xml.gz',
      '/c.txt',
      '/broken.xml',
      '/missing.xml',
      '/private/d.xml',
      '/index.xml',
      '/moved.xml',
      '/far.xml',
      '/loop.xml',
    ];
    const entries = parts.map((part) => `<sitemap><loc>${origin}${part}</loc></sitemap>`).join('');
    return send(
      'text/xml',
      `<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${entries}</sitemapindex>`,
    );
  }
  if (path === '/a.xml') return send('text/xml', urlset(['/p/1', '/p/2', '/p/3', '/p/4']));
  if (path === '/b.xml.gz') return send('application/gzip', gzipSync(urlset(['/p/5', '/private/x', '/p/1'])));
  if (path === '/c.txt') return send('text/plain', `${origin}/p/6\nhttp://elsewhere.example/\nhttp://[bad/\n`);
  if (path === '/moved.xml') return response.writeHead(301, { location: '/wp-sitemap.xml' }).end();
  if (path === '/wp-sitemap.xml') return send('text/xml', urlset(['/p/2']));
  if (path === '/far.xml') return response.writeHead(302, { location: 'https://elsewhere.example/map.xml' }).end();
  if (path === '/loop.xml') return response.writeHead(302, { location: '/loop.xml' }).end();
  if (path === '/broken.xml') return send('text/xml', '<urlset><url><loc>');
  const text = pages.get(path);
  if (text !== undefined) return send('text/html', `<title>${path}</title><p>${text}</p>`);
  response.statusCode = 404;
  response.end();
});

const dir = mkdtempSync(join(tmpdir(), 'incrawl-sitemaps-'));
let crawler: Crawler;
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  pages.set('/', 'home');
  for (let i = 1; i <= 6; i++) pages.set(`/p/${i}`, `page ${i} at first`);
  const config = defaultConfig([
    'fetch.delay=0',
    'http.allowAddresses=["127.0.0.0/8"]',
    'schedule.name=fixed',
    'schedule.interval=30d',
  ]);
  crawler = await openCrawler({ config, dir, log: silent, clock: { now: () => now, sleep: async () => {} } });
});
afterAll(async () => {
  await crawler.close();
  server.close();
  rmSync(dir, { recursive: true, force: true });
});

const nextVisit = async (path: string): Promise<number> => {
  const record = await crawler.record(`${origin}${path}`);
  return (Date.parse(record?.nextFetchAt ?? '') - now) / DAY;
};

it('finds pages through robots.txt, an index, gzip and text, and says what it could not read', async () => {
  await crawler.inject([{ name: 'test', lines: [`${origin}/`] }]);
  const [read] = await crawler.sitemaps();
  const byFile = Object.fromEntries((read?.sitemaps ?? []).map((each) => [each.sitemap.slice(origin.length), each]));
  expect(Object.keys(byFile)).toEqual([
    '/index.xml',
    '/a.xml',
    '/b.xml.gz',
    '/c.txt',
    '/broken.xml',
    '/missing.xml',
    '/private/d.xml',
    '/moved.xml',
    '/far.xml',
    '/loop.xml',
  ]);
  expect(byFile['/a.xml']).toMatchObject({ kind: 'urlset', urls: 4, added: 4, hinted: 0, error: null });
  expect(byFile['/b.xml.gz']).toMatchObject({ urls: 3, added: 2 });
  expect(byFile['/c.txt']).toMatchObject({ kind: 'text', added: 1, filtered: 1, faults: 1 });
  expect(byFile['/broken.xml']?.faults).toBeGreaterThan(0);
  expect(byFile['/missing.xml']?.error).toBe('status 404');
  expect(byFile['/moved.xml']).toMatchObject({ kind: 'urlset', urls: 1, added: 0, error: null });
  expect(byFile['/far.xml']?.error).toBe('elsewhere.example is a public host, and agent.contact is not set');
  expect(byFile['/loop.xml']?.error).toBe('more than 5 redirects');
  expect(byFile['/private/d.xml']?.error).toContain('robots.txt disallows it');
  expect(log.filter((path) => path === '/index.xml')).toHaveLength(1);
  const { totals } = await crawler.crawl();
  expect(totals.fetched).toBe(7);
  expect(totals.robotsDenied).toBe(1);
});

it('weighs lastmod dates by how often they proved right on the host', async () => {
  now = START + 10 * DAY;
  // Newer than the last visit: /p/1 and /p/2 have changed, /p/3 only says so; /p/4 is older.
  for (const path of ['/p/1', '/p/2', '/p/3']) dates.set(path, now - DAY);
  dates.set('/p/4', START - DAY);
  pages.set('/p/1', 'page 1, rewritten');
  pages.set('/p/2', 'page 2, rewritten');
  const [read] = await crawler.sitemaps();
  expect(read?.sitemaps.reduce((sum, each) => sum + each.hinted, 0)).toBe(3);
  // 20 days were left; nothing is known of the host's dates yet, so half of it.
  expect(await nextVisit('/p/1')).toBeCloseTo(10, 3);
  expect(await nextVisit('/p/4')).toBeCloseTo(20, 3);
  // Read again, the same dates say nothing new.
  expect((await crawler.sitemaps())[0]?.sitemaps.reduce((sum, each) => sum + each.hinted, 0)).toBe(0);

  now += 10 * DAY + 1;
  await crawler.crawl();
  const hosts = [];
  for await (const host of crawler.hosts()) hosts.push(host);
  expect(hosts[0]).toMatchObject({ hintHits: 2, hintMisses: 1 });
  // Orphans were looked for meanwhile: what only a sitemap lists is none.
  expect((await crawler.record(`${origin}/p/6`))?.state).toBe('fetched');
  expect((await crawler.record(`${origin}/p/1`))?.metadata).not.toHaveProperty('sitemap.lastmod');

  now += DAY;
  dates.set('/p/1', now - 1_000);
  await crawler.sitemaps();
  // Two of three proved right: Beta(1, 1) gives 3 / 5, so 2 / 5 of the 29 days are left.
  expect(await nextVisit('/p/1')).toBeCloseTo(29 * 0.4, 2);
});

it('ignores lastmod dates that are all the same, or in the future', async () => {
  now += 2 * DAY;
  for (const path of ['/p/1', '/p/2', '/p/3', '/p/4']) dates.set(path, now - 1_000);
  const a = async () => (await crawler.sitemaps())[0]?.sitemaps.find((each) => each.sitemap.endsWith('/a.xml'));
  expect(await a()).toMatchObject({ datesIgnored: true, hinted: 0 });
  for (const [i, path] of ['/p/1', '/p/2', '/p/3', '/p/4'].entries()) dates.set(path, now + (i + 1) * DAY);
  expect(await a()).toMatchObject({ datesIgnored: true, hinted: 0 });
});

it('a host named without a scheme is asked by that of its known pages, and by https where none is known', async () => {
  const [read] = await crawler.sitemaps([origin.slice('http://'.length)]);
  expect(read).toEqual((await crawler.sitemaps([origin]))[0]);
  const [unknown] = await crawler.sitemaps(['127.0.0.1:9']);
  expect(unknown?.sitemaps.map(({ sitemap }) => sitemap)).toEqual(['https://127.0.0.1:9/sitemap.xml']);
});
