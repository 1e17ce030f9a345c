import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import { PAGE, seed, visiting } from './visiting.ts';

const OTHER = PAGE.replaceAll('words', 'texts');
const DATE = 'Mon, 05 Jan 2026 10:00:00 GMT';
const tagOf = (body: string): string => `"${createHash('sha1').update(body).digest('hex').slice(0, 8)}"`;

/** A crawl of one page, whose next visit is brought forward each time. */
async function visits(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const visited = await visiting(answer);
  const url = `${visited.origin}/page`;
  await visited.crawler.inject(seed(url).seeds);
  return {
    ...visited,
    async visit() {
      await visited.crawler.touch([url]);
      await visited.crawler.crawl({ rounds: 1 });
      return (await visited.crawler.explain(url)).record?.visits.at(-1)?.outcome;
    },
  };
}

it('a 304 of a cache that has validated another version is no proof: the page is fetched whole', async () => {
  let current = PAGE;
  const { visit, asked } = await visits((request, response) => {
    // Any condition is answered by 304, with the tag of the copy that the cache holds by now.
    const headers = { etag: tagOf(current), age: '120', vary: 'Accept-Encoding' };
    if (request.headers['if-none-match'] !== undefined) return response.writeHead(304, headers).end();
    return response.writeHead(200, { ...headers, 'content-type': 'text/html' }).end(current);
  });
  expect(await visit()).toBe('new');
  expect(await visit()).toBe('unchanged-304');
  const before = asked.filter((each) => each.endsWith('/page')).length;
  current = OTHER;
  expect(await visit()).toBe('modified');
  expect(await visit()).toBe('unchanged-304');
  expect(asked.filter((each) => each.endsWith('/page')).length - before).toBe(3);
});

it('equal headers of a body that varies freely do not pass for an equal body', async () => {
  let current = PAGE;
  let vary = 'Accept-Encoding';
  const { visit } = await visits((_request, response) => {
    // The same length and date; conditions are ignored.
    const length = String(Buffer.byteLength(current));
    response.writeHead(200, { 'content-type': 'text/html', 'last-modified': DATE, 'content-length': length, vary });
    response.end(current);
  });
  expect(OTHER).toHaveLength(PAGE.length);
  await visit();
  vary = 'User-Agent, *';
  current = OTHER;
  expect(await visit()).toBe('modified');
});
