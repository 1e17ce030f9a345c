import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { CrawlReader } from '../../src/crawler/index.ts';
import { seed, visiting } from './visiting.ts';

async function listOf<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

const LINKS: Readonly<Record<string, string>> = {
  '/': '<a href="/a">to a</a> <a href="/b">to b</a> <a href="/dead?utm_source=x">a dead one</a> <a href="/moved">m</a>',
  '/a': '<a href="/b">B, says A</a> <a href="/b#part">B again</a> <a href="/dead">dead, says A</a> <a href="/busy">x</a>',
  '/b': '<a href="/b">itself</a> <a href="/a">back to a</a>',
};

async function crawled() {
  const visited = await visiting(({ url = '' }, response) => {
    if (url === '/moved') response.writeHead(301, { location: '/b' }).end();
    else if (url === '/busy') response.writeHead(500).end();
    else if (LINKS[url] === undefined) response.writeHead(404).end();
    else
      response
        .writeHead(200, { 'content-type': 'text/html' })
        .end(`<title>${url}</title><p>${`the page ${url} `.repeat(60)}</p><p>${LINKS[url]}</p>`);
  });
  await visited.crawler.crawl(seed(`${visited.origin}/`));
  const paths = (url: string) => url.slice(visited.origin.length);
  return { ...visited, paths };
}

const inlinks = async (crawler: CrawlReader, url: string, paths: (url: string) => string) =>
  (await listOf(crawler.inlinks(url)))
    .map(({ from, anchor, rel, state }) => [paths(from), anchor, rel, state].join(' | '))
    .sort();

it('names the pages that link to a URL, with the text of each link, and redirects to it', async () => {
  const { crawler, origin, paths } = await crawled();
  expect(await inlinks(crawler, `${origin}/b`, paths)).toEqual([
    '/ | to b | link | fetched',
    '/a | B, says A | link | fetched',
    '/moved |  | redirect | redir_perm',
  ]);
  expect(await listOf(crawler.inlinks(`${origin}/b`, { limit: 2 }))).toHaveLength(2);
  expect(await inlinks(crawler, `${origin}/unknown`, paths)).toEqual([]);
});

it('names broken links under the form that the crawl db has, with the pages that have them', async () => {
  const { crawler, origin, paths } = await crawled();
  const rows = await listOf(crawler.brokenLinks());
  expect(
    rows.map(({ url, from, anchor, error, httpStatus }) => [paths(url), paths(from), anchor, error, httpStatus]),
  ).toEqual([
    ['/busy', '/a', 'x', 'http-server-error', 500],
    ['/dead', '/', 'a dead one', 'gone', 404],
    ['/dead', '/a', 'dead, says A', 'gone', 404],
  ]);
  expect(await listOf(crawler.brokenLinks({ limit: 1 }))).toHaveLength(1);
  expect(rows.every(({ url }) => url.startsWith(origin))).toBe(true);
});

it('links of pages whose segment was removed have no text, and pages that are gone have no links', async () => {
  const { crawler, dir, origin, paths, reopen } = await crawled();
  const [segment] = await crawler.segments();
  const db = await listOf(crawler.inlinks(`${origin}/a`));
  expect(db.map(({ anchor }) => anchor).sort()).toEqual(['back to a', 'to a']);
  await rm(join(dir, 'segments', segment!.id), { recursive: true });
  const again = await reopen();
  expect(await inlinks(again, `${origin}/a`, paths)).toEqual(['/ |  |  | fetched', '/b | back to a | link | fetched']);
});
