import { describe, expect, it } from 'vitest';
import { DAY, seed, visiting } from '../../../integration/visiting.ts';
import { type Item, shop } from './apps.ts';
import { noBrowser } from './browser.ts';

const PAGES = 10;
const SETTINGS = ['schedule.interval=1d', 'schedule.name=fixed'] as const;
const itemAt = (items: Item[], i: number): Item => items[i] as Item;

describe.skipIf(noBrowser !== null)(`a single-page application${noBrowser === null ? '' : ` (${noBrowser})`}`, () => {
  it('has the text, links and signatures of its static twin', async () => {
    const texts: string[][] = [];
    for (const kind of ['application', 'static'] as const) {
      const site = shop(PAGES, kind);
      const { crawler, origin } = await visiting(site.answer, `render.mode=${kind === 'static' ? 'never' : 'always'}`);
      const { totals } = await crawler.crawl(seed(`${origin}/`));
      expect([totals.fetched, totals.failed]).toEqual([PAGES, 0]);
      const found: string[] = [];
      for (let i = 1; i < PAGES; i++) {
        const url = `${origin}/items/${i}`;
        const [stored, record] = [await crawler.segmentRecord(url), await crawler.record(url)];
        found.push(`${record?.title} ${record?.signature} ${stored?.parsed?.text}`);
        expect(stored?.response?.rendered?.includes('<main>') ?? false).toBe(kind === 'application');
        expect(stored?.response?.body).toContain(kind === 'application' ? '<div id="app"></div>' : '<main>');
      }
      texts.push(found);
    }
    expect(texts[0]).toEqual(texts[1]);
  });

  it('without a browser has neither', async () => {
    const { crawler, origin } = await visiting(shop(PAGES, 'application').answer);
    const { totals } = await crawler.crawl(seed(`${origin}/`));
    expect(totals.fetched).toBe(1);
  });

  it('is rendered again only where its data has changed, and its script is asked for once a crawl', async () => {
    const site = shop(PAGES, 'application');
    const { crawler, origin, pass, reopen } = await visiting(site.answer, 'render.mode=always', ...SETTINGS);
    await crawler.crawl(seed(`${origin}/`));
    const [pages, data, shared] = countsOf(site.asked);
    // One request for each page and its data, one for the script and one for the style sheet.
    expect([pages, data, shared]).toEqual([PAGES, PAGES, 2]);
    expect([...site.agents]).toEqual([expect.stringMatching(/^incrawl\//)]);

    site.asked.length = 0;
    const second = await reopen(3 * DAY);
    const unchanged = await second.crawl({});
    expect([unchanged.totals.notModified, unchanged.totals.fetched]).toEqual([PAGES, 0]);
    expect(countsOf(site.asked)).toEqual([PAGES, PAGES, 1]);

    site.asked.length = 0;
    const item = itemAt(site.items, 4);
    item.text = item.text.replaceAll('number', 'copy');
    const third = await reopen(3 * DAY);
    const { totals } = await third.crawl({});
    expect([totals.notModified, totals.fetched]).toEqual([PAGES - 1, 1]);
    // The body of the changed page is fetched a second time, and the script once it is needed; its data is not.
    expect(countsOf(site.asked)).toEqual([PAGES + 1, PAGES, 3]);
    expect((await third.segmentRecord(`${origin}/items/4`))?.parsed?.text).toContain('The orchard copy 4 of part 0');
    pass(DAY);
  });

  it('asks for data that came by a redirect by that redirect again', async () => {
    const site = shop(1, 'application');
    const text = itemAt(site.items, 0).text;
    site.extra.set('/api/items/0', (_request, response) => response.writeHead(302, { location: '/api/v2' }).end());
    site.extra.set('/api/v2', (_request, response) => response.end(JSON.stringify({ html: `<p>${text}</p>` })));
    const { crawler, origin, reopen } = await visiting(site.answer, 'render.mode=always', ...SETTINGS);
    await crawler.crawl(seed(`${origin}/`));
    const { totals } = await (await reopen(3 * DAY)).crawl({});
    expect([totals.notModified, totals.fetched]).toEqual([1, 0]);
    expect(site.asked.filter((path) => path.startsWith('/api/'))).toEqual([
      '/api/items/0',
      '/api/v2',
      '/api/items/0',
      '/api/v2',
    ]);
  });
});

const countsOf = (asked: readonly string[]): [pages: number, data: number, shared: number] => {
  const data = asked.filter((path) => path.startsWith('/api/')).length;
  const shared = asked.filter((path) => path.startsWith('/app.')).length;
  return [asked.length - data - shared, data, shared];
};
