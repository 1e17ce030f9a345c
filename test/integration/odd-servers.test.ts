import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { DAY, PAGE, seed, visiting } from './visiting.ts';

const DATE = 'Thu, 01 Jan 2026 00:00:00 GMT';

it('a page whose transfer broke off is fetched whole at the next visit, without the validators of its first part', async () => {
  let whole = false;
  const { crawler, origin, pass } = await visiting((request, response) => {
    if (request.url !== '/') return void response.writeHead(404).end();
    if (request.headers['if-none-match'] !== undefined) return void response.writeHead(304).end();
    response.writeHead(200, {
      'content-type': 'text/html',
      'content-length': PAGE.length,
      etag: '"1"',
      'last-modified': DATE,
    });
    if (whole) response.end(PAGE);
    else response.write(PAGE.slice(0, 1000), () => response.destroy());
  });
  await crawler.crawl(seed(`${origin}/`));
  expect(await crawler.record(`${origin}/child`)).toBeNull();
  expect(await crawler.record(`${origin}/`)).toMatchObject({ etag: null, lastModified: null, contentLength: null });
  whole = true;
  pass(60 * DAY);
  await crawler.crawl();
  expect(await crawler.record(`${origin}/child`)).not.toBeNull();
  expect(await crawler.record(`${origin}/`)).toMatchObject({ etag: '"1"', contentLength: PAGE.length });
});

it.each<[string, (response: ServerResponse) => void]>([
  ['never', () => {}],
  ['with a broken connection', (response) => response.destroy()],
  ['with what is no HTTP', (response) => response.socket?.end('what?\r\n\r\n')],
])('where HEAD is answered %s, the page is still fetched by GET, and HEAD is given up', async (_, onHead) => {
  let version = 1;
  const { crawler, origin, asked, pass } = await visiting((request, response) => {
    if (request.method === 'HEAD') return onHead(response);
    const body = PAGE.replaceAll('page', `page${version}`);
    const headers = { 'content-type': 'text/html', 'content-length': body.length, 'last-modified': DATE };
    response.writeHead(request.url === '/a' ? 200 : 404, headers).end(body);
  });
  await crawler.crawl(seed(`${origin}/a`));
  // The date is not honoured, so that HEAD takes the place of conditions.
  for (let visits = 0; visits < 8; visits++) {
    version += visits > 6 ? 9 : 0;
    pass(200 * DAY);
    await crawler.crawl();
  }
  expect(await crawler.record(`${origin}/a`)).toMatchObject({ failures: 0, title: 'page10' });
  expect(new Set(asked.filter((each) => each.endsWith(' /a')).slice(-2))).toEqual(new Set(['GET /a']));
  expect(asked).toContain('HEAD /a');
});

it('HEAD is given up where its headers always differ from those of a GET that finds the page unchanged', async () => {
  const body = `${PAGE}${Array.from({ length: 8 }, (_, i) => `<a href="/${i}">${i}</a>`).join(' ')}`;
  const coded = gzipSync(body);
  const { crawler, origin, asked, pass } = await visiting((request, response) => {
    const isHead = request.method === 'HEAD';
    response.writeHead(200, {
      'content-type': 'text/html',
      'last-modified': 'Thu, 01 Jan 2026 00:00:00 GMT',
      'content-length': isHead ? body.length : coded.length,
      ...(isHead ? {} : { 'content-encoding': 'gzip' }),
    });
    response.end(isHead ? undefined : coded);
  }, 'schedule.name=fixed');
  await crawler.crawl(seed(`${origin}/0`));
  const heads = async (): Promise<number> => {
    asked.length = 0;
    pass(40 * DAY);
    const { totals } = await crawler.crawl();
    // Each GET is dropped, and its body has come by then.
    expect([totals.generated, totals.skippedByHeaders, totals.bodyBytes]).toEqual([9, 9, 9 * coded.length]);
    expect(totals.bytesReceived).toBeGreaterThan(totals.bodyBytes);
    expect((await crawler.record(`${origin}/1`))?.visits.at(-1)).toMatchObject({ bytes: coded.length });
    return asked.filter((each) => each.startsWith('HEAD')).length;
  };
  expect(await heads()).toBe(3);
  expect(await heads()).toBe(0);
});

it('a HEAD that is answered by 429 is not followed by a GET', async () => {
  const { crawler, origin, asked, pass } = await visiting((request, response) => {
    if (request.method === 'HEAD') return void response.writeHead(429, { 'retry-after': '3600' }).end();
    response.writeHead(200, { 'content-type': 'text/html', 'content-length': PAGE.length, 'last-modified': DATE });
    response.end(PAGE);
  }, 'fetch.probe=head');
  await crawler.crawl({ ...seed(`${origin}/child`), rounds: 1 });
  pass(200 * DAY);
  await crawler.crawl({ rounds: 1 });
  expect(asked).toEqual(['GET /child', 'HEAD /child']);
  expect(await crawler.record(`${origin}/child`)).toMatchObject({ lastError: { code: 'http-throttled' } });
});

it.each([400, 412, 431])(
  'a page whose conditions are answered by %i is asked for without them after that',
  async (status) => {
    const { crawler, origin, asked, pass } = await visiting((request, response) => {
      if (request.headers['if-none-match'] !== undefined) return void response.writeHead(status).end();
      response.writeHead(200, { 'content-type': 'text/html', 'content-length': PAGE.length, etag: '"a,b"' }).end(PAGE);
    });
    await crawler.crawl({ ...seed(`${origin}/child`), rounds: 1 });
    for (let visits = 0; visits < 2; visits++) {
      pass(200 * DAY);
      await crawler.crawl({ rounds: 1 });
    }
    expect(asked).toHaveLength(3);
    expect(await crawler.record(`${origin}/child`)).toMatchObject({ failures: 0, httpStatus: 200 });
  },
);

it('the pause between two requests is kept after robots.txt, and between a HEAD and the GET that follows it', async () => {
  let version = 1;
  const { crawler, origin, asked, sentAt, pass } = await visiting(
    (request, response) => {
      const body = `${PAGE}<p>${'more '.repeat(version)}`;
      const headers = { 'content-type': 'text/html', 'content-length': body.length, 'last-modified': DATE };
      response.writeHead(200, headers).end(request.method === 'HEAD' ? undefined : body);
    },
    'fetch.delay=5s',
    'fetch.probe=head',
  );
  await crawler.crawl({ ...seed(`${origin}/a`, `${origin}/b`), rounds: 1 });
  pass(200 * DAY);
  version++;
  await crawler.crawl({ rounds: 1 });
  expect(asked).toEqual(expect.arrayContaining(['HEAD /a', 'HEAD /b', 'GET /child']));
  expect(sentAt.length).toBe(asked.length + 2);
  const pauses = sentAt.slice(1).map((at, i) => at - (sentAt[i] as number));
  expect(pauses.every((pause) => pause >= 5_000)).toBe(true);
  expect(await crawler.segmentRecord(`${origin}/a`)).toMatchObject({ fetched: { outcome: { requests: 2, ms: 0 } } });
});

it('the pause between two requests is kept where robots.txt has moved within its host', async () => {
  const { crawler, origin, sentAt, robots } = await visiting((request, response) => {
    if (request.url === '/rules') return void response.end('User-agent: *\nDisallow: /private\n');
    response.writeHead(200, { 'content-type': 'text/html' }).end('<p>page');
  }, 'fetch.delay=5s');
  robots((_request, response) => response.writeHead(301, { location: '/rules' }).end());
  const { totals } = await crawler.crawl(seed(`${origin}/a`, `${origin}/private`));
  expect(totals).toMatchObject({ fetched: 1, robotsDenied: 1 });
  expect(sentAt).toHaveLength(3);
  const pauses = sentAt.slice(1).map((at, i) => at - (sentAt[i] ?? 0));
  expect(Math.min(...pauses)).toBeGreaterThanOrEqual(5_000);
});

it('a sitemap whose host is written otherwise is asked for in the turn of its host, and once', async () => {
  const { crawler, origin, robots, asked, sentAt } = await visiting(
    (_request, response) => void response.writeHead(200, { 'content-type': 'text/plain' }).end(`${origin}/child\n`),
    'fetch.delay=5',
  );
  const map = `${origin}/map.txt`;
  const spellings = [map.replace('http:', 'HTTP:'), map.replace('127.0.0.1', '127.1'), `${map}#top`, 'http://a..b/'];
  robots((_request, response) => response.end(spellings.map((each) => `Sitemap: ${each}\n`).join('')));
  await crawler.inject(seed(`${origin}/`).seeds);
  const [read] = await crawler.sitemaps();
  expect(read?.sitemaps).toMatchObject([
    { sitemap: map, error: null, added: 1 },
    { sitemap: 'http://a..b/', error: expect.stringContaining('empty or too long label') },
  ]);
  expect(asked).toEqual(['GET /map.txt']);
  expect((sentAt[1] ?? 0) - (sentAt[0] ?? 0)).toBeGreaterThanOrEqual(5_000);
});

it('the pause between two requests is kept from one process to the next, but not by a clock set back meanwhile', async () => {
  const { crawler, origin, sentAt, now, pass, reopen } = await visiting(
    (_request, response) => void response.writeHead(404).end(),
    'fetch.delay=5s',
  );
  const round = { rounds: 1, topN: 1 };
  await crawler.crawl({ ...round, ...seed(`${origin}/a`, `${origin}/b`, `${origin}/c`) });
  pass(1000);
  await (await reopen()).crawl(round);
  // A run without requests leaves the pause as it is.
  await reopen();
  const next = await reopen();
  await next.crawl(round);
  expect(sentAt.slice(1).map((at, i) => at - (sentAt[i] as number))).toEqual([5_000, 5_000, 5_000]);
  const setBack = await reopen(-DAY);
  const start = now();
  await setBack.crawl({ ...round, ...seed(`${origin}/d`) });
  expect(sentAt[4]).toBe(start);
});

it('a network that is down ends a crawl of hosts that were never asked before, one host that is down does not', async () => {
  const { crawler, origin } = await visiting((_request, response) => void response.end(), 'fetch.failureLimit=3');
  // The server listens on one address alone.
  const down = (host: string, path = ''): string => `${origin.replace('127.0.0.1', host)}/${path}`;
  const one = await crawler.crawl(seed(...Array.from('abcdef', (path) => down('127.0.0.2', path))));
  expect(one).toMatchObject({ stoppedBy: 'nothing-due', totals: { failed: 6, robotsDenied: 0 } });
  expect(one.totals.failures).toMatchObject([{ code: 'connect-failed', visits: 6 }]);
  expect(await crawler.record(down('127.0.0.2', 'a'))).toMatchObject({
    failures: 1,
    lastError: { code: 'connect-failed', message: expect.stringContaining('ECONNREFUSED') },
  });
  const all = await crawler.crawl(seed(...['3', '4', '5', '6'].map((last) => down(`127.0.0.${last}`))));
  expect(all.stoppedBy).toBe('failure-limit');
});

it('a chain of redirects without end is followed for twenty, or as many as are allowed', async () => {
  let hops = 0;
  const endless = async (...settings: string[]) =>
    visiting((_request, response) => response.writeHead(302, { location: `/loop/${++hops}` }).end(), ...settings);
  const { crawler, origin, asked } = await endless();
  const { rounds, totals, stoppedBy } = await crawler.crawl(seed(`${origin}/loop`));
  expect([asked.length, rounds.length, totals.redirected, stoppedBy]).toEqual([21, 1, 21, 'nothing-due']);
  expect(await crawler.record(`${origin}/loop/20`)).toMatchObject({
    state: 'redir_temp',
    depth: 20,
    failures: 0,
    target: `${origin}/loop/21`,
    lastError: { code: 'redirect-limit', message: expect.stringContaining('after 20 redirects in a row') },
    metadata: { redirects: 20 },
  });
  expect(await crawler.record(`${origin}/loop/19`)).toMatchObject({ lastError: null });
  expect(await crawler.record(`${origin}/loop/21`)).toBeNull();
  const none = await endless('fetch.maxRedirects=0');
  await none.crawler.crawl(seed(`${none.origin}/loop`));
  expect(none.asked).toEqual(['GET /loop']);
});

it('a page that moves after it was fetched begins a new chain of redirects', async () => {
  let hasMoved = false;
  const { crawler, origin, asked, pass } = await visiting((request, response) => {
    const { url = '' } = request;
    const isPage = hasMoved ? url === '/c' : url === '/b';
    if (isPage) return void response.writeHead(200, { 'content-type': 'text/html' }).end(`<p>page ${url}`);
    response.writeHead(301, { location: url === '/a' ? '/b' : '/c' }).end();
  }, 'fetch.maxRedirects=1');
  await crawler.crawl(seed(`${origin}/a`));
  expect(asked).toEqual(['GET /a', 'GET /b']);
  hasMoved = true;
  pass(200 * DAY);
  await crawler.crawl();
  expect(await crawler.record(`${origin}/b`)).toMatchObject({ state: 'redir_perm', lastError: null });
  expect(await crawler.record(`${origin}/c`)).toMatchObject({ state: 'fetched', metadata: { redirects: 1 } });
});

it('pages that robots.txt forbids cost no pause', async () => {
  const { crawler, origin, asked, now } = await visiting(
    (_request, response) => void response.writeHead(404).end(),
    'fetch.delay=5s',
  );
  const start = now();
  const pages = Array.from({ length: 50 }, (_, i) => `${origin}/private/${i}`);
  const { totals } = await crawler.crawl({ ...seed(...pages, `${origin}/open`), rounds: 1 });
  expect([totals.robotsDenied, asked]).toEqual([50, ['GET /open']]);
  expect(now() - start).toBeLessThanOrEqual(10_000);
});

it.each([
  ['User-agent: *\nDisallow: /\nCrawl-delay: 86400\n', 'obey', 'robots-denied'],
  ['User-agent: *\nCrawl-delay: 86400\n', 'skip', 'crawl-delay-too-long'],
])('what is refused by %j (%s) does not wait for the delay', async (text, policy, code) => {
  const { crawler, origin, robots, asked, now } = await visiting(
    (_request, response) => void response.end(),
    `fetch.crawlDelayPolicy=${policy}`,
  );
  robots((_request, response) => response.end(text));
  const before = now();
  const { totals } = await crawler.crawl(seed(`${origin}/1`, `${origin}/2`, `${origin}/3`));
  expect(totals.failures).toMatchObject([{ code, visits: 3 }]);
  expect(asked).toEqual([]);
  expect(now() - before).toBeLessThan(60_000);
});

it('a page that is allowed waits for the delay since robots.txt was asked for, though others were refused meanwhile', async () => {
  const { crawler, origin, robots, asked, sentAt } = await visiting(
    (_request, response) => void response.writeHead(200, { 'content-type': 'text/html' }).end('<p>page</p>'),
    'fetch.delay=1',
  );
  robots((_request, response) => response.end('User-agent: *\nDisallow: /private\nCrawl-delay: 20\n'));
  await crawler.crawl(
    seed(`${origin}/private/1\tscore=9`, `${origin}/private/2\tscore=8`, `${origin}/a`, `${origin}/b`),
  );
  expect(asked).toHaveLength(2);
  const gaps = sentAt.slice(1).map((at, i) => at - (sentAt[i] as number));
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(20_000);
  expect(Math.max(...gaps)).toBeLessThan(22_000);
});

it('a host that asks for an hour of rest has it, in further rounds and runs too, and then goes on', async () => {
  const HOUR = DAY / 24;
  let isBusy = true;
  const { crawler, origin, asked, sentAt, pass, now } = await visiting((_request, response) => {
    if (isBusy) return void response.writeHead(503, { 'retry-after': '3600' }).end();
    response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE);
  }, 'fetch.delay=5s');
  const round = { rounds: 1, topN: 1 };
  await crawler.crawl({ ...round, ...seed(...Array.from('abcdef', (name) => `${origin}/${name}`)) });
  const restUntil = now() + HOUR;
  for await (const host of crawler.hosts()) expect(Date.parse(host.restUntil ?? '')).toBeLessThanOrEqual(restUntil);
  await crawler.crawl(round);
  pass(HOUR / 2);
  await crawler.crawl(round);
  const requests = sentAt.length;
  const [read] = await crawler.sitemaps([origin]);
  expect(read?.sitemaps).toMatchObject([{ error: expect.stringContaining('asked for a pause until') }]);
  expect(sentAt).toHaveLength(requests);
  expect(asked).toHaveLength(1);
  isBusy = false;
  pass(HOUR / 2);
  await crawler.crawl(round);
  expect(asked).toHaveLength(2);
  expect((sentAt.at(-1) ?? 0) - (sentAt[1] ?? 0)).toBeGreaterThanOrEqual(HOUR);
  for await (const host of crawler.hosts()) expect(host.restUntil).toBeNull();
});

it('a coded body that broke off is read from the segment as it was from the wire', async () => {
  const coded = gzipSync(`<title>torn</title><p>${Array.from({ length: 20_000 }, (_, i) => i * i).join(' ')}</p>`);
  const { crawler, origin, pass } = await visiting((_request, response) => {
    const headers = { 'content-type': 'text/html', 'content-encoding': 'gzip', 'content-length': coded.length };
    response.writeHead(200, headers);
    response.write(coded.subarray(0, 20_000), () => response.destroy());
  });
  await crawler.inject(seed(`${origin}/torn`).seeds);
  for (let failures = 0; failures < 2; failures++) {
    await crawler.crawl();
    pass(9 * DAY);
  }
  await crawler.generate();
  await crawler.fetch({ parse: false });
  expect(await crawler.parse()).toMatchObject({ parsed: 1, failed: 0 });
  await crawler.updatedb();
  expect(await crawler.record(`${origin}/torn`)).toMatchObject({ state: 'fetched', title: 'torn' });
  expect((await crawler.segmentRecord(`${origin}/torn`))?.response?.body).toContain('<title>torn');
});
