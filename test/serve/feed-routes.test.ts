import { Hono } from 'hono';
import { beforeEach, describe, expect, it } from 'vitest';
import { CrawlError } from '../../src/core/domain/errors.ts';
import type { CrawlDb } from '../../src/core/ports/crawl-db.ts';
import type { CrawlReader } from '../../src/crawler/index.ts';
import { changeViews, feedView } from '../../src/delivery/changes/changes.ts';
import { addFeedRoutes } from '../../src/serve/feed-routes.ts';
import { readAsCrawler } from '../cli/support/read-feed.ts';
import { changeOf } from '../contracts/crawl-db-exam.ts';
import { createMemoryCrawlDb } from '../memory/crawl-db.ts';

const NOTED = Date.UTC(2026, 2, 1, 8, 0, 0, 400);
let app: Hono;
let db: CrawlDb;
let now: number;
let reads: number;
let fault: CrawlError | null;

beforeEach(async () => {
  [app, db, now, reads, fault] = [new Hono(), createMemoryCrawlDb(), NOTED, 0, null];
  const env = { now: NOTED, domainOf: (host: string): string => host };
  const reader: Pick<CrawlReader, 'changes' | 'changeFeed'> = {
    changeFeed: async () => feedView(db),
    async *changes(query = {}) {
      reads++;
      yield* changeViews(db, query, env);
    },
  };
  const ask = async <Value>(use: (reader: CrawlReader) => Promise<Value>): Promise<Value> => {
    if (fault !== null) throw fault;
    return use(reader as CrawlReader);
  };
  addFeedRoutes(app, { dir: '/crawl', state: { ask }, now: () => now });
  await note(NOTED, 'https://a.example/1', 'https://b.example/1');
});

const note = (notedAt: number, ...urls: string[]) =>
  db.write({ feed: { add: { notedAt, changes: urls.map((url) => changeOf(url)) } } });
const get = (query = '', headers: Record<string, string> = {}) => app.request(`/changes.atom${query}`, { headers });
const urlsIn = async (answer: Response | Promise<Response>): Promise<(string | null)[]> =>
  readAsCrawler(await (await answer).text()).feed.entries.map(({ url }) => url);

describe('/changes.atom', () => {
  it('selects by host, kind, distance, expression and number, and names itself', async () => {
    await note(NOTED + 1, 'https://a.example/2');
    const answer = await get('?host=a.example&kind=modified,gone&limit=1');
    expect(answer.headers.get('content-type')).toBe('application/atom+xml; charset=utf-8');
    const text = await answer.text();
    expect(text).toContain('href="/changes.atom?host=a.example&amp;kind=modified,gone&amp;limit=1"');
    expect(text).toContain('<link rel="related" href="/url?u=https%3A%2F%2Fa.example%2F2"/>');
    expect(readAsCrawler(text).feed.entries.map(({ url }) => url)).toEqual(['https://a.example/2']);
    expect(await urlsIn(get(`?where=${encodeURIComponent('url like "*/1" and host != a.example')}`))).toEqual([
      'https://b.example/1',
    ]);
    expect(await urlsIn(get('?minDistance=6'))).toEqual([]);
  });

  it.each([
    ['?kind=modifid', 'Did you mean modified?'],
    ['?host=a/b', 'Expected a host'],
    ['?limit=0', '1 to 1000'],
    ['?limit=1001', '1 to 1000'],
    ['?where=color%20%3D%20red', 'color'],
    ['?hosts=a.example', 'unknown parameter "hosts"'],
  ])('refuses %s and says what was expected', async (query, message) => {
    const answer = await get(query);
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining(message)]);
  });

  it('says when it cannot be read, and when to ask again', async () => {
    fault = new CrawlError('db-locked', 'held');
    const answer = await get();
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '60']);
    fault = new CrawlError('crawl-missing', 'no crawl');
    expect((await get()).status).toBe(503);
    fault = new CrawlError('db-corrupt', 'damaged');
    expect((await get()).status).toBe(500);
  });
});

describe('a feed reader that comes back', () => {
  it('gets 304 by the tag until something changes that it asked for', async () => {
    const etag = (await get('?host=a.example')).headers.get('etag') ?? '';
    for (const tags of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const again = await get('?host=a.example', { 'if-none-match': tags });
      expect([again.status, again.headers.get('etag'), await again.text()]).toEqual([304, etag, '']);
    }
    expect((await get('', { 'if-none-match': etag })).status).toBe(200);
    await note(NOTED + 1, 'https://b.example/2');
    expect((await get('?host=a.example', { 'if-none-match': etag })).status).toBe(304);
    await note(NOTED + 2, 'https://a.example/2');
    expect((await get('?host=a.example', { 'if-none-match': etag })).status).toBe(200);
  });

  it('reads the crawl db once for all readers of a selection, until something is written', async () => {
    for (let i = 0; i < 3; i++) await get('?host=a.example');
    expect(reads).toBe(1);
    await note(NOTED + 1, 'https://a.example/2');
    expect(await urlsIn(get('?host=a.example'))).toHaveLength(2);
    expect(reads).toBe(2);
  });

  it('gets 304 by the time, which is given once nothing more can be written within its second', async () => {
    expect((await get()).headers.get('last-modified')).toBeNull();
    await note(NOTED + 500, 'https://a.example/2');
    now = NOTED + 61_000;
    const modified = (await get()).headers.get('last-modified') ?? '';
    expect(modified).toBe('Sun, 01 Mar 2026 08:00:00 GMT');
    expect((await get('', { 'if-modified-since': modified })).status).toBe(304);
    expect((await get('', { 'if-modified-since': 'Sun, 01 Mar 2026 07:59:59 GMT' })).status).toBe(200);
    expect((await get('', { 'if-modified-since': 'yesterday' })).status).toBe(200);
    // The tag goes first: it is the stronger one.
    expect((await get('', { 'if-modified-since': modified, 'if-none-match': '"other"' })).status).toBe(200);
  });

  it('is told to ask each time, and no cache between keeps an answer', async () => {
    expect((await get()).headers.get('cache-control')).toBe('private, no-cache');
  });
});
