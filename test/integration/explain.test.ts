import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defaultConfig } from '../../src/core/config/load.ts';
import { type Crawler, type Explanation, openCrawler } from '../../src/crawler/index.ts';
import { PLAIN_STYLE } from '../../src/render/table.ts';
import { explanationText } from '../../src/render/text/explanation-text.ts';
import { type ChangingSite, startChangingSite, words } from '../site/changing-site.ts';
import { SHIPPED_PLUGINS } from '../support/shipped-plugins.ts';

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const DAY = 86_400_000;
let site: ChangingSite;
let crawler: Crawler;
let dir = '';
let now = Date.UTC(2026, 5, 1);
const explain = (path: string): Promise<Explanation> => crawler.explain(new URL(path, site.origin).href);
const text = (explanation: Explanation): string => explanationText(explanation, PLAIN_STYLE);
const open = (...settings: string[]): Promise<Crawler> => {
  const own = ['fetch.delay=0', 'http.allowAddresses=["127.0.0.1"]', 'outlinks.maxVariantsPerPath=1'];
  const config = defaultConfig([...own, ...settings]);
  return openCrawler({ config, dir, log: silent, clock: { now: () => now, sleep: async () => {} } });
};
const visit = async (...paths: string[]): Promise<void> => {
  now += DAY;
  await crawler.touch(paths.map((path) => site.origin + path));
  await crawler.crawl();
};

beforeAll(async () => {
  site = await startChangingSite({
    '/a': `${words('first')}<a href="/b">b</a><a href="https://elsewhere.example/x">far</a>`,
    '/dead': { status: 404 },
  });
  site.pages.set('/b', `${words('second')}<a href="/c?n=1">c</a><a href="/a?utm_source=x">a</a>`);
  site.pages.set('/c?n=1', words('third'));
  site.pages.set('/robots.txt', 'User-agent: *\nDisallow: /private/\n');
  dir = await mkdtemp(join(tmpdir(), 'incrawl-explain-'));
  crawler = await open();
  await crawler.crawl({ seeds: [{ name: 'test', lines: [`${site.origin}/`] }] });
  site.pages.set('/b', words('rewritten'));
  await visit('/b', '/a');
  await visit('/b');
});
afterAll(async () => {
  await crawler?.close();
  await site?.close();
  await rm(dir, { recursive: true, force: true });
});

describe('explain', () => {
  it('shows the path from a seed, each visit with its rung, and the terms of the interval', async () => {
    const reported = await explain('/b');
    expect(reported.trail).toMatchObject([
      { url: `${site.origin}/a`, depth: 1, state: 'notmodified' },
      { url: `${site.origin}/`, depth: 0 },
    ]);
    expect(reported.visits.map(({ rung }) => rung)).toEqual([null, 5, 4]);
    expect(reported.visits[1]?.found).toMatch(/^the text has changed: \d+ of 64 bits of the change signature$/);
    expect(reported.schedule?.terms.length).toBeGreaterThan(2);
    expect(reported.host).toMatchObject({ urls: 5, headersTrusted: true });
    expect(reported.sooner[0]).toContain('"incrawl due touch"');
    expect(reported.sooner.join(' ')).toContain('shorten the wait by 50 %');
    expect(reported.ifFound).toEqual([]);
    const shown = text(reported);
    expect(shown).toContain(`which was linked from ${site.origin}/`);
    expect(shown).toMatch(/4 {2}the same body/);
    expect(shown).toContain('to visit it earlier');
  });

  it('names the filter that refused a URL, its rule, and the page with the link', async () => {
    const reported = await explain('https://elsewhere.example/x');
    expect(reported).toMatchObject({ admitted: false, record: null, sooner: [] });
    expect(reported.skipped).toMatchObject([
      { reason: 'url-filtered', by: 'urlfilter-scope', from: `${site.origin}/a` },
    ]);
    expect(reported.why.join(' ')).toContain(`A link to it was found on ${site.origin}/a and skipped`);
    expect(reported.ifFound).toEqual([]);
    const shown = text(reported);
    expect(shown.match(/verdict|allowed|would refuse/g)).toBeNull();
    expect(shown).toMatch(/^The URL rules refuse it: host not in scope: elsewhere\.example\.\n/);
    expect(shown).toMatch(/urlfilter-scope +https:\/\/elsewhere\.example\/x -> refused/);
  });

  it('says what would happen to a URL that is not in the crawl db', async () => {
    const query = await explain('/c?n=2');
    expect(query.ifFound.join(' ')).toContain(
      'its path has as many queries as outlinks.maxVariantsPerPath allows (1), so its score would be a tenth',
    );
    expect(query.ifFound.join(' ')).toContain('Its host has 5 URLs already.');
    expect((await explain('/private/x')).ifFound.join(' ')).toContain('robots.txt would disallow its visit');
    expect(text(await explain('/nowhere?utm_source=x'))).toContain(
      'it would enter the crawl db as unfetched and be due at once',
    );
  });

  it('finds a page under the name that it has after normalising', async () => {
    const reported = await explain('/a?utm_source=mail');
    expect(reported.record?.url).toBe(`${site.origin}/a`);
  });

  it('finds a page under its URL from before the normalisers were changed, and says so', async () => {
    const file = join(dir, 'plugins.yaml');
    await writeFile(
      file,
      SHIPPED_PLUGINS.replace('- urlnormalizer-basic', '- urlnormalizer-basic: { dropQueryParams: [n] }'),
    );
    await crawler.close();
    crawler = await open(`plugins.file=${file}`);
    const reported = await explain('/c?n=1');
    expect(reported.record?.url).toBe(`${site.origin}/c?n=1`);
    expect(reported).toMatchObject({
      admitted: false,
      reason: `the URL normalisers turn it into ${site.origin}/c now`,
      ifFound: [],
    });
    expect(reported.why[0]).toBe(`The URL rules refuse it: the URL normalisers turn it into ${site.origin}/c now.`);
    now += 400 * DAY;
    expect((await explain('/c?n=1')).why[1]).toMatch(/; no round selects it while the URL rules refuse it\.$/);
    expect((await explain('/b')).why[0]).toMatch(/; the next generate may select it\.$/);
    now -= 400 * DAY;
    expect((await explain('/d?n=1')).record).toBeNull();
    await crawler.close();
    crawler = await open();
  });

  it('says so where the next visit does not follow from the terms', async () => {
    const plain = await explain('/b');
    const labels = ({ schedule }: Explanation) => schedule?.terms.map(({ label }) => label);
    expect(plain.why.join(' ')).not.toMatch(/another interval|brought forward/);
    await crawler.touch([`${site.origin}/b`], { at: now + DAY });
    const touched = await explain('/b');
    expect(touched.why.join(' ')).toContain(`the schedule had chosen ${plain.schedule?.nextFetchAt}`);
    expect(labels(touched)).toEqual(labels(plain));
    await crawler.close();
    crawler = await open('schedule.name=adaptive');
    const exchanged = await explain('/b');
    expect(exchanged.why.join(' ')).toContain(
      `Other settings move it there with the next round; it was due at ${touched.schedule?.nextFetchAt}.`,
    );
    expect(exchanged.schedule?.nextFetchAt).not.toBe(touched.schedule?.nextFetchAt);
    await crawler.close();
    crawler = await open();
  });

  it('says why a round skipped a page that was due', async () => {
    now += 400 * DAY;
    await crawler.generate({ topN: 1 });
    const explanations = await Promise.all(['/', '/a', '/b', '/c?n=1'].map(explain));
    const waiting = explanations.filter(({ why }) => why.join(' ').includes('over-top-n'));
    expect(waiting).toHaveLength(3);
    expect(waiting[0]?.why.join(' ')).toContain('The round is full of URLs that rank higher');
    const chosen = explanations.find((each) => !waiting.includes(each));
    expect(chosen?.sooner).toEqual(['Nothing is needed: it is in a segment, and its visit is under way.']);
  });
});
