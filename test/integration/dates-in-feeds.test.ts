import type { IncomingMessage, ServerResponse } from 'node:http';
import { beforeEach, describe, expect, it } from 'vitest';
import { DAY, seed, visiting } from './visiting.ts';

const TEXT = `<p>${'words of a page '.repeat(100)}</p>`;
const START = Date.UTC(2026, 5, 1);
let pages: Map<string, string>;
let dates: Map<string, number>;

const feedOf = (origin: string): string => {
  const items = [...dates].map(
    ([path, at]) => `<item><link>${origin}${path}</link><pubDate>${new Date(at).toUTCString()}</pubDate></item>`,
  );
  return `<rss version="2.0"><channel><title>News</title>${items.join('')}</channel></rss>`;
};

function answer({ url = '', headers }: IncomingMessage, response: ServerResponse): void {
  if (url === '/news.rss') {
    response.writeHead(200, { 'content-type': 'application/rss+xml' }).end(feedOf(`http://${headers.host}`));
    return;
  }
  const text = pages.get(url);
  if (text === undefined) response.writeHead(404).end();
  else response.writeHead(200, { 'content-type': 'text/html' }).end(text);
}

beforeEach(() => {
  const link = '<link rel=alternate type="application/rss+xml" href=/news.rss>';
  pages = new Map([
    ['/', `${link}<title>Start</title>${TEXT}<a href=/a>a</a> <a href=/b>b</a>`],
    ['/a', `<title>A</title>${TEXT}`],
    ['/b', `<title>B</title>${TEXT}`],
  ]);
  dates = new Map([
    ['/a', START - 9 * DAY],
    ['/b', START - 5 * DAY],
  ]);
});

const site = () =>
  visiting(answer, 'schedule.name=fixed', 'schedule.interval=30d', 'fetch.soft404=false', 'sitemaps.mode=discover');

describe('a feed that a page names', () => {
  it('is visited like a page, and brings known pages forward by the dates of its entries, as far as they prove right', async () => {
    const { crawler, origin, pass, asked, now } = await site();
    await crawler.crawl(seed(`${origin}/`));
    expect(asked).toContain('GET /news.rss');
    const dueOf = async (path: string): Promise<number> => {
      const record = await crawler.record(origin + path);
      return Math.round((Date.parse(record?.nextFetchAt ?? '') - now()) / DAY);
    };
    pass(2 * DAY);
    expect(await dueOf('/a')).toBe(28);
    dates.set('/a', now() - DAY);
    pages.set('/a', `<title>A</title><p>${'another text of that page '.repeat(100)}</p>`);
    await crawler.touch([`${origin}/news.rss`]);
    await crawler.crawl();
    // Half as long, since nothing is known of the dates of this host yet.
    expect(await dueOf('/a')).toBe(14);
    expect(await dueOf('/b')).toBe(28);
    pass(14 * DAY + 1);
    await crawler.crawl();
    for await (const host of crawler.hosts()) expect(host).toMatchObject({ hintHits: 1, hintMisses: 0 });
  });
});

it('a host without a sitemap is asked for one after 30, 60, .. days', async () => {
  const { crawler, origin, pass, asked } = await site();
  const days: number[] = [];
  await crawler.crawl(seed(`${origin}/`));
  for (let day = 0; day <= 215; day++) {
    if (asked.splice(0).includes('GET /sitemap.xml')) days.push(day);
    pass(DAY);
    await crawler.crawl();
  }
  expect(days).toEqual([0, 30, 90, 210]);
});
