import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defaultConfig } from '../../src/core/config/load.ts';
import { type ChangesQuery, type ChangeView, type Crawler, openCrawler } from '../../src/crawler/index.ts';
import { type ChangingSite, startChangingSite, words } from '../site/changing-site.ts';

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const DAY = 86_400_000;
let site: ChangingSite;
let crawler: Crawler;
let dir = '';
let now = Date.UTC(2026, 5, 1);

const open = (...settings: string[]): Promise<Crawler> =>
  openCrawler({
    config: defaultConfig(['dedup.mode=off', 'fetch.delay=0', 'http.allowAddresses=["127.0.0.1"]', ...settings]),
    dir,
    log: silent,
    clock: { now: () => now, sleep: async () => {} },
  });

beforeAll(async () => {
  site = await startChangingSite({
    '/stays': words('steady'),
    '/changes': words('before'),
    '/goes': words('leaving'),
    '/moves': words('moving'),
    '/returns': words('returning'),
    '/dead': { status: 404 },
  });
  dir = await mkdtemp(join(tmpdir(), 'incrawl-changes-'));
  crawler = await open();
  await crawler.crawl({ seeds: [{ name: 'test', lines: [`${site.origin}/`] }] });
});
afterAll(async () => {
  await crawler?.close();
  await site?.close();
  await rm(dir, { recursive: true, force: true });
});

async function visit(...paths: string[]): Promise<void> {
  now += DAY;
  await crawler.touch(paths.map((path) => site.origin + path));
  await crawler.crawl();
}

async function changes(query?: ChangesQuery): Promise<ChangeView[]> {
  const all: ChangeView[] = [];
  for await (const change of crawler.changes(query)) all.push(change);
  return all;
}

const reported = (list: readonly ChangeView[]): string[] =>
  list.map(({ kind, url }) => `${kind} ${url.slice(site.origin.length)}`).sort();

describe('the change feed of a crawl', { sequential: true }, () => {
  it('lists each page once as new, and no broken link', async () => {
    const first = await changes();
    expect(reported(first)).toEqual(['new /', 'new /changes', 'new /goes', 'new /moves', 'new /returns', 'new /stays']);
    expect(first.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(first[0]).toEqual({
      seq: 1,
      kind: 'new',
      url: `${site.origin}/`,
      at: expect.stringMatching(/^2026-06-01T.*Z$/),
      notedAt: expect.stringMatching(/^2026-06-01T.*Z$/),
      state: 'fetched',
      status: 200,
      distance: null,
      target: null,
      title: 'Page /',
    });
  });

  it('lists the changes that the next visits find', async () => {
    site.pages.set('/changes', words('after'));
    site.pages.set('/goes', { status: 410 });
    site.pages.set('/moves', { status: 301, location: '/stays' });
    site.pages.delete('/returns');
    await visit('/stays', '/changes', '/goes', '/moves', '/returns');
    const found = await changes({ after: 6 });
    expect(reported(found)).toEqual(['gone /goes', 'gone /returns', 'modified /changes', 'moved /moves']);
    expect(found.find(({ kind }) => kind === 'modified')?.distance).toBeGreaterThan(8);
    expect(found.find(({ kind }) => kind === 'moved')?.target).toBe(`${site.origin}/stays`);
    site.pages.set('/returns', words('returning'));
    await visit('/returns');
    expect(reported(await changes({ after: 10 }))).toEqual(['back /returns']);
  });

  it('can be filtered by time, kind, distance, host and count', async () => {
    expect(await changes({ notedFrom: now - DAY })).toHaveLength(5);
    expect(await changes({ notedFrom: now })).toHaveLength(1);
    expect(await changes({ notedFrom: now + 1 })).toEqual([]);
    expect(reported(await changes({ kinds: ['gone', 'moved'] }))).toEqual([
      'gone /goes',
      'gone /returns',
      'moved /moves',
    ]);
    expect(await changes({ kinds: ['modified'], minDistance: 65 })).toEqual([]);
    expect(await changes({ host: 'elsewhere.example' })).toEqual([]);
    expect((await changes({ newest: true, limit: 2 })).map(({ seq }) => seq)).toEqual([10, 11]);
    expect((await changes({ kinds: ['new'], newest: true, limit: 2 })).map(({ seq }) => seq)).toEqual([5, 6]);
    expect((await changes({ limit: 2 })).map(({ seq }) => seq)).toEqual([1, 2]);
  });

  it('lists duplicates that dedup marks, and their end when the marks are removed', async () => {
    site.pages.set('/returns', words('steady'));
    await visit('/returns');
    const rules = { distance: 3, scope: 'host', prefer: ['score'], minChars: 0, dryRun: false } as const;
    await crawler.dedup(rules);
    const marked = await changes({ after: 12 });
    expect(marked).toMatchObject([{ kind: 'duplicate', state: 'duplicate' }]);
    expect(marked[0]?.target).toMatch(/\/(?:stays|returns)$/);
    await crawler.dedup(rules);
    expect(await changes({ after: 13 })).toEqual([]);
    await crawler.undoDedup(false);
    expect(await changes({ after: 13 })).toMatchObject([{ kind: 'back', url: marked[0]?.url }]);
  });

  it('lists gone pages that are removed from the crawl db', async () => {
    site.pages.delete('/changes');
    await crawler.close();
    crawler = await open('updatedb.purgeGone=true');
    await visit('/changes');
    expect(await crawler.record(`${site.origin}/changes`)).toBeNull();
    expect(reported(await changes({ after: 14 }))).toEqual(['dropped /changes', 'gone /changes']);
  });

  it('keeps as many entries, and for as long, as is set', async () => {
    await crawler.close();
    crawler = await open('changes.max=3');
    await visit('/stays');
    const ends = { first: 14, last: 16 };
    expect(await crawler.changeFeed()).toEqual({ ...ends, each: [ends], notedAt: expect.any(String) });
    expect(await changes()).toHaveLength(3);
    await crawler.close();
    now += 30 * DAY;
    crawler = await open('changes.keep=10d');
    await visit('/stays');
    expect(await crawler.changeFeed()).toMatchObject({ first: null, last: 16 });
    await crawler.close();
    crawler = await open('changes.max=0');
    site.pages.set('/stays', words('moved on'));
    await visit('/stays');
    expect(await crawler.changeFeed()).toMatchObject({ first: null, last: 17 });
  });
});
