import { describe, expect, it } from 'vitest';
import type { Crawler } from '../../../../src/crawler/index.ts';
import { DAY, seed, visiting } from '../../../integration/visiting.ts';
import { shop } from './apps.ts';
import { noBrowser } from './browser.ts';

describe.skipIf(noBrowser !== null)(`render.mode: auto${noBrowser === null ? '' : ` (${noBrowser})`}`, () => {
  it('renders bare pages of a host where that adds content, keeps what it has learnt, and says so', async () => {
    const site = shop(6, 'application');
    site.extra.set('/about', (_request, response) => {
      response
        .writeHead(200, { 'content-type': 'text/html' })
        .end(`<h1>About</h1><p>${'Words of their own. '.repeat(40)}</p>`);
    });
    const { crawler, origin } = await visiting(site.answer, 'render.mode=auto');
    const { totals } = await crawler.crawl(seed(`${origin}/`, `${origin}/about`));
    expect([totals.fetched, totals.failed]).toEqual([7, 0]);
    const story = (await crawler.explain(`${origin}/items/3`)).why.join('\n');
    expect(story).toContain('Its stored copy was rendered by a browser');
    expect(story).toContain('/items/*');
    expect((await crawler.segmentRecord(`${origin}/about`))?.response?.rendered).toBeUndefined();
    expect(await renderingOf(crawler)).toEqual([
      expect.objectContaining({ pattern: '/', renders: 1, gains: 1, misses: 0 }),
      expect.objectContaining({ pattern: '/items/*', renders: 5, gains: 5, misses: 0 }),
    ]);
  });

  it('stops where it adds nothing, and asks again later', async () => {
    const bare = '<html><head><script>let visits = 1;</script></head><body><p>Nothing here</p></body></html>';
    let version = 0;
    const { crawler, origin, reopen } = await visiting(
      (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/html' }).end(`${bare}<!-- ${version} -->`);
      },
      ...['render.mode=auto', 'schedule.name=fixed', 'schedule.interval=1d'],
    );
    const urls = Array.from({ length: 5 }, (_, i) => `${origin}/list/${i}`);
    await crawler.crawl({ ...seed(...urls), rounds: 1 });
    const rendersOf = async (of: Crawler) => (await renderingOf(of))?.[0];
    expect(await rendersOf(crawler)).toMatchObject({ pattern: '/list/*', renders: 3, gains: 0, misses: 3 });
    version++;
    const next = await reopen(2 * DAY);
    await next.crawl({});
    expect(await rendersOf(next)).toMatchObject({ renders: 3 });
    version++;
    const later = await reopen(8 * DAY);
    await later.crawl({});
    expect(await rendersOf(later)).toMatchObject({ renders: 4, misses: 4 });
  });
});

async function renderingOf(crawler: Crawler) {
  for await (const { rendering } of crawler.hosts()) return rendering;
  return null;
}
