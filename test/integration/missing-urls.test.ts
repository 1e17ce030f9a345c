import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { DAY, PAGE, seed, visiting } from './visiting.ts';

const pages = new Map<string, string>();

/** Answers by path: `/..` is redirected to for good, all else is a page; 404 where nothing is named. */
const answer = ({ url = '' }: IncomingMessage, response: ServerResponse): void => {
  const body = pages.get(url);
  if (body === undefined) response.writeHead(404).end();
  else if (body.startsWith('/')) response.writeHead(301, { location: body }).end();
  else response.writeHead(200, { 'content-type': 'text/html' }).end(body);
};

const TEXT = PAGE.replace(/<a .*/, '');
const links = (...paths: string[]): string => TEXT + paths.map((path) => `<a href="${path}">${path}</a>`).join(' ');
const dead = Array.from({ length: 12 }, (_, i) => `/dead/${i}`);

describe('URLs that were never there', () => {
  const site = () => visiting(answer, 'schedule.name=fixed', 'schedule.interval=25d', 'fetch.soft404=false');

  it('are asked for again after 30 days, five of a host; the others are left out, and are the first next time', async () => {
    pages.clear();
    pages.set('/', links(...dead));
    const { crawler, origin, asked, pass } = await site();
    const deadOnes = (): string[] => asked.splice(0).filter((line) => line.includes('/dead/'));
    await crawler.crawl(seed(`${origin}/`));
    expect(deadOnes()).toHaveLength(12);
    pass(29 * DAY);
    await crawler.crawl();
    expect(deadOnes()).toEqual([]);
    pass(2 * DAY);
    await crawler.crawl();
    const second = deadOnes();
    expect(second).toHaveLength(5);
    pass(62 * DAY);
    await crawler.crawl();
    const third = deadOnes();
    expect(third).toHaveLength(5);
    expect(third.filter((line) => second.includes(line))).toEqual([]);
    const left = dead.filter((path) => ![...second, ...third].includes(`GET ${path}`));
    expect(left).toHaveLength(2);
    expect(await crawler.record(`${origin}${left[0]}`)).toMatchObject({
      ...{ state: 'gone', failures: 0, httpStatus: 404 },
      lastError: { code: 'missing-unasked' },
    });
  });

  it('are all asked for where one of the five is there by now', async () => {
    pages.clear();
    pages.set('/', links(...dead));
    const { crawler, origin, asked, pass } = await site();
    await crawler.crawl(seed(`${origin}/`));
    asked.splice(0);
    for (const path of dead) pages.set(path, `${TEXT}<p>${path}</p>`);
    pass(31 * DAY);
    await crawler.crawl();
    expect(asked.filter((line) => line.includes('/dead/')).sort()).toEqual(dead.map((path) => `GET ${path}`).sort());
    expect(await crawler.record(`${origin}${dead[11]}`)).toMatchObject({ httpStatus: 200 });
  });
});

it('dead links found anew in a folder of dead links wait with them, and are asked for where one of them is there', async () => {
  pages.clear();
  const version = (number: number): string[] => dead.map((_, i) => `/docs/${number}/${String.fromCharCode(97 + i)}`);
  pages.set('/', links(...version(1)));
  const { crawler, origin, asked, pass } = await visiting(
    ...[answer, 'schedule.name=fixed', 'schedule.interval=25d', 'fetch.soft404=false'],
  );
  const docs = (): string[] => asked.splice(0).filter((line) => line.includes('/docs/'));
  await crawler.crawl(seed(`${origin}/`));
  expect(docs()).toHaveLength(12);
  pages.set('/', links(...version(1), ...version(2)));
  pass(26 * DAY);
  await crawler.crawl();
  expect(docs()).toHaveLength(5);
  expect(await crawler.record(`${origin}/docs/2/l`)).toMatchObject({ state: 'unfetched', failures: 0 });
  for (const path of version(2)) pages.set(path, `${TEXT}<p>${path}</p>`);
  pass(5 * DAY);
  await crawler.crawl();
  expect(docs()).toEqual([]);
  await crawler.touch([`${origin}/docs/2/l`]);
  await crawler.crawl();
  expect(docs()).toEqual(['GET /docs/2/l']);
  pass(27 * DAY);
  await crawler.crawl();
  expect(docs().filter((line) => line.includes('/docs/2/'))).toHaveLength(12);
});

it('the front page is fetched once, whatever redirects lead to it, in its round and in later ones of the run', async () => {
  pages.clear();
  pages.set('/', links('/home', '/list'));
  pages.set('/home', '/');
  pages.set('/list', links('/start', '/home'));
  pages.set('/start', '/');
  const { crawler, origin, asked } = await visiting(answer, 'fetch.soft404=false');
  await crawler.crawl({ seeds: [{ name: 'seed', lines: [`${origin}/`, `${origin}/home`] }] });
  expect(asked.filter((line) => line === 'GET /')).toHaveLength(1);
  expect(await crawler.record(`${origin}/start`)).toMatchObject({ state: 'redir_perm', target: `${origin}/` });
});

it('a permanent redirect is not asked for again before the longest interval', async () => {
  pages.clear();
  pages.set('/', links('/old'));
  pages.set('/old', '/new');
  pages.set('/new', TEXT);
  const { crawler, origin, asked, pass } = await visiting(answer, 'schedule.interval=5d', 'schedule.maxInterval=40d');
  await crawler.crawl(seed(`${origin}/`));
  for (let day = 0; day < 39; day++) {
    pass(DAY);
    await crawler.crawl();
  }
  expect(asked.filter((line) => line === 'GET /old')).toHaveLength(1);
  pass(2 * DAY);
  await crawler.crawl();
  expect(asked.filter((line) => line === 'GET /old')).toHaveLength(2);
});
