import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import { DAY, PAGE, seed, visiting } from './visiting.ts';

const TEXT = PAGE.replace(/<a .*/, '');
let paths: readonly string[] = [];
let statuses: number[] = [];

const answer = ({ url = '', headers }: IncomingMessage, response: ServerResponse): void => {
  if (url !== '/sitemap.xml') {
    const isPage = url === '/' || paths.includes(url);
    response.writeHead(isPage ? 200 : 404, { 'content-type': 'text/html' }).end(isPage ? `${TEXT}${url}` : '');
    return;
  }
  const etag = `"${paths.join()}"`;
  const status = headers['if-none-match'] === etag ? 304 : 200;
  statuses.push(status);
  const entries = paths.map((path) => `<url><loc>http://${headers.host}${path}</loc></url>`).join('');
  const body = `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${entries}</urlset>`;
  response.writeHead(status, { etag, 'content-type': 'text/xml' }).end(status === 200 ? body : undefined);
};

it('a sitemap that has not changed is not sent again, and is asked for up to every 30 days', async () => {
  paths = ['/a'];
  const settings = [
    'schedule.name=fixed',
    'schedule.interval=200d',
    'schedule.maxInterval=200d',
    'fetch.soft404=false',
  ];
  const { crawler, origin, pass } = await visiting(answer, ...settings, 'sitemaps.mode=discover');
  await crawler.crawl(seed(`${origin}/`));
  const days: number[] = [];
  for (let day = 1; day <= 70; day++) {
    pass(DAY);
    statuses = [];
    await crawler.crawl();
    if (statuses.length > 0) days.push(day);
    expect(statuses.every((status) => status === 304)).toBe(true);
  }
  expect(days).toEqual([1, 3, 7, 15, 31, 61]);
  paths = ['/a', '/b'];
  pass(30 * DAY);
  await crawler.crawl();
  expect(statuses).toEqual([200]);
  expect(await crawler.record(`${origin}/b`)).toMatchObject({ httpStatus: 200 });
});
