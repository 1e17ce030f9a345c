import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { startScripted } from '../site/scripted-server.ts';
import { DAY, PAGE, seed, visiting } from './visiting.ts';

type Routes = Readonly<Record<string, string>>;

const html = (response: ServerResponse, body: string): void => {
  response.writeHead(200, { 'content-type': 'text/html' }).end(body);
};

/** Answers by path: what begins with `/` or `http` is redirected to, all else is a page; 404 where nothing is named. */
const answering =
  (routes: Routes) =>
  ({ url = '' }: IncomingMessage, response: ServerResponse): void => {
    const answer = routes[url];
    if (answer === undefined) response.writeHead(404).end();
    else if (/^(\/|http)/.test(answer)) response.writeHead(302, { location: answer }).end();
    else html(response, answer);
  };

const gets = (...paths: string[]): string[] => paths.map((path) => `GET ${path}`);

let servers: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close();
});
const serverAt = async (address: string, ...script: Parameters<typeof startScripted>) => {
  const server = await startScripted(script[0], address);
  servers = [...servers, server];
  return server;
};

describe('the target of a redirect, in the round of the redirect', () => {
  it('is fetched and counted as an item of its own', async () => {
    const { crawler, origin, asked } = await visiting(answering({ '/': '/en/', '/en/': PAGE }));
    const { rounds, totals } = await crawler.crawl({ ...seed(`${origin}/`), rounds: 1 });
    expect(asked).toEqual(gets('/', '/en/'));
    expect(rounds).toMatchObject([
      { generated: 1, fetched: 1, redirected: 1, followed: 1, failed: 0, new: 1, newUrls: 2, requests: 3 },
    ]);
    expect(rounds[0]?.layers).toMatchObject([
      { depth: 0, visited: 1, newUrls: 0 },
      { depth: 1, visited: 1, new: 1, newUrls: 1 },
      { depth: 2, newUrls: 1 },
    ]);
    expect(totals.followed).toBe(1);
    expect(await crawler.segments()).toMatchObject([{ urls: 2, fetched: 2, state: 'updated' }]);
    expect(await crawler.record(`${origin}/`)).toMatchObject({ state: 'redir_temp', target: `${origin}/en/` });
    expect(await crawler.record(`${origin}/en/`)).toMatchObject({
      ...{ state: 'fetched', depth: 1, seed: false, title: 'page' },
      ...{ referrer: `${origin}/`, metadata: { redirects: 1 } },
    });
    expect((await crawler.stats()).leased).toBe(0);
  });

  it('is fetched once, however many redirects lead to it', async () => {
    const many = Array.from({ length: 100 }, (_, i) => `/old/${i}`);
    const routes = Object.fromEntries(many.map((path) => [path, '/new']));
    const { crawler, origin, asked } = await visiting(answering({ ...routes, '/new': PAGE }));
    const { rounds } = await crawler.crawl({ ...seed(...many.map((path) => origin + path)), rounds: 1 });
    expect(asked.filter((each) => each === 'GET /new')).toHaveLength(1);
    expect(rounds).toMatchObject([{ generated: 100, redirected: 100, followed: 1, fetched: 1 }]);
  });

  it('is fetched once where it is in the fetch list as well', async () => {
    const { crawler, origin, asked } = await visiting(answering({ '/a': '/b', '/b': PAGE }));
    const { rounds } = await crawler.crawl({ ...seed(`${origin}/a`, `${origin}/b`), rounds: 1 });
    expect(asked.sort()).toEqual(gets('/a', '/b'));
    expect(rounds).toMatchObject([{ generated: 2, followed: 0 }]);
  });

  it('ends a circle of redirects', async () => {
    const { crawler, origin, asked } = await visiting(answering({ '/a': '/b', '/b': '/c', '/c': '/a' }));
    expect(await crawler.crawl(seed(`${origin}/a`))).toMatchObject({
      rounds: [{ followed: 2 }],
      stoppedBy: 'nothing-due',
    });
    expect(asked).toEqual(gets('/a', '/b', '/c'));
  });

  it('keeps to the delay and the single connection of its host', async () => {
    let open = 0;
    let most = 0;
    const { crawler, origin, sentAt } = await visiting(async ({ url }, response) => {
      most = Math.max(most, ++open);
      await new Promise((resolve) => setTimeout(resolve, 5));
      open--;
      const n = Number(url?.slice(1));
      if (n % 4 === 3) html(response, PAGE);
      else response.writeHead(301, { location: `/${n + 1}` }).end();
    }, 'fetch.delay=5s');
    await crawler.crawl({ ...seed(`${origin}/0`, `${origin}/4`, `${origin}/8`), rounds: 1 });
    expect(sentAt).toHaveLength(13);
    expect(most).toBe(1);
    const pauses = sentAt.slice(1).map((at, i) => at - (sentAt[i] as number));
    expect(Math.min(...pauses)).toBeGreaterThanOrEqual(5_000);
  });

  it('waits in the lane of its own host, which holds up no other', async () => {
    const order: string[] = [];
    const page = { status: 200, headers: { 'content-type': 'text/html' }, body: '<p>a page' };
    const note = (name: string, path: string) => {
      if (path !== '/robots.txt') order.push(name + path);
      return path === '/robots.txt' ? { status: 404 } : page;
    };
    const slow = await serverAt('127.0.0.2', ({ path }) => note('slow', path));
    const from = await serverAt('127.0.0.3', ({ path }) => {
      const moved = path.startsWith('/old');
      return moved ? { status: 301, headers: { location: `${slow.origin}${path}` } } : note('fast', path);
    });
    const { crawler } = await visiting(answering({}));
    const seeds = [`${slow.origin}/0`, ...[1, 2, 3].flatMap((n) => [`${from.origin}/old${n}`, `${from.origin}/${n}`])];
    const { rounds } = await crawler.crawl({ ...seed(...seeds), rounds: 1 });
    expect(order.filter((each) => each.startsWith('slow')).sort()).toEqual([
      'slow/0',
      'slow/old1',
      'slow/old2',
      'slow/old3',
    ]);
    expect(rounds).toMatchObject([{ generated: 7, fetched: 7, redirected: 3, followed: 3 }]);
  });

  it('is left alone where its host asked for a pause in an earlier round', async () => {
    const target = await serverAt('127.0.0.2', ({ path }) =>
      path === '/robots.txt' ? { status: 404 } : { status: 429, headers: { 'retry-after': '86400' } },
    );
    const { crawler, origin } = await visiting(answering({ '/a': `${target.origin}/b` }));
    await crawler.crawl({ ...seed(`${target.origin}/`), rounds: 1 });
    const asked = target.received.length;
    const { rounds } = await crawler.crawl({ ...seed(`${origin}/a`), rounds: 1 });
    expect(rounds).toMatchObject([{ redirected: 1, followed: 1, failures: [{ code: 'http-throttled' }] }]);
    expect(target.received).toHaveLength(asked);
  });

  it.each([
    ['a URL filter refuses it', '/b.zip'],
    ['it is out of scope', 'http://127.0.0.9/'],
    ['it is no URL', 'http://['],
  ])('is not fetched where %s', async (_, location) => {
    const { crawler, origin, asked } = await visiting(answering({ '/a': location }));
    const { rounds } = await crawler.crawl(seed(`${origin}/a`));
    expect(asked).toEqual(gets('/a'));
    expect(rounds).toMatchObject([{ redirected: 1, followed: 0, failed: 0 }]);
  });

  it('is refused by robots.txt as any URL', async () => {
    const { crawler, origin, asked } = await visiting(answering({ '/a': '/private/b' }));
    const { rounds } = await crawler.crawl(seed(`${origin}/a`));
    expect(asked).toEqual(gets('/a'));
    expect(rounds).toMatchObject([{ followed: 1, robotsDenied: 1, failures: [{ code: 'robots-denied' }] }]);
    expect((await crawler.record(`${origin}/private/b`))?.lastError?.code).toBe('robots-denied');
  });

  it('is not asked for while it is known and not due', async () => {
    const { crawler, origin, asked } = await visiting(answering({ '/a': '/b', '/b': '<p>a page' }));
    await crawler.crawl(seed(`${origin}/a`));
    await crawler.touch([`${origin}/a`]);
    expect((await crawler.crawl()).rounds).toMatchObject([{ redirected: 1, followed: 0, requests: 1 }]);
    expect(asked).toEqual(gets('/a', '/b', '/a'));
  });

  it('is asked for by a condition where it is known and has become due', async () => {
    const conditions: unknown[] = [];
    const { crawler, origin, pass } = await visiting(({ url, headers }, response) => {
      if (url === '/a') {
        // After generate has looked at what is due.
        pass(400 * DAY);
        return void response.writeHead(301, { location: '/b' }).end();
      }
      conditions.push(headers['if-none-match']);
      if (headers['if-none-match'] === '"1"') return void response.writeHead(304).end();
      response.writeHead(200, { 'content-type': 'text/html', etag: '"1"' }).end('<p>a page');
    });
    await crawler.crawl(seed(`${origin}/b`));
    const { rounds } = await crawler.crawl({ ...seed(`${origin}/a`), rounds: 1 });
    expect(rounds).toMatchObject([{ generated: 1, redirected: 1, followed: 1, notModified: 1, newUrls: 0 }]);
    expect(conditions).toEqual([undefined, '"1"']);
    expect(await crawler.record(`${origin}/b`)).toMatchObject({ state: 'notmodified', seed: true, depth: 0 });
  });
});
