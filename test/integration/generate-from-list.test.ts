import { expect, it } from 'vitest';
import { seed, visiting } from './visiting.ts';

const list = (...lines: string[]) => [{ name: 'urls.txt', lines }];

async function site() {
  const visited = await visiting(({ url = '' }, response) => {
    const html = (body: string) => response.writeHead(200, { 'content-type': 'text/html' }).end(body);
    if (url === '/r') response.writeHead(302, { location: '/t' }).end();
    else if (url === '/none') response.writeHead(404).end();
    else if (url === '/a') html('<title>a</title><p>a page with a link</p><a href="/b">b</a> <a href="/c">c</a>');
    else html(`<title>${url}</title><p>the page at ${url}</p>`);
  });
  const at = (...paths: string[]) => paths.map((path) => visited.origin + path);
  return { ...visited, at };
}

it('fetches a list without injecting it: records are made with the visits', async () => {
  const { crawler, asked, at } = await site();
  const made = await crawler.generateFromList(list(...at('/a', '/b', '/r', '/none', '/a')));
  expect(made).toMatchObject({ due: 4, selected: 4, hosts: 1, list: { urls: 5, underWay: 0, errors: [] } });
  expect(await crawler.stats()).toMatchObject({ urls: 0, leased: 0 });
  expect(await crawler.record(at('/a')[0]!)).toBeNull();
  const { rounds } = await crawler.crawl();
  expect(rounds[0]).toMatchObject({ segment: made.segment, new: 3, gone: 1, redirected: 1, followed: 1 });
  expect([...asked].sort()).toEqual(['GET /a', 'GET /b', 'GET /c', 'GET /none', 'GET /r', 'GET /t']);
  const [a, b, r, none, t] = await Promise.all(at('/a', '/b', '/r', '/none', '/t').map((url) => crawler.record(url)));
  expect(a).toMatchObject({ state: 'fetched', seed: false, depth: 0, referrer: null, visits: [{ outcome: 'new' }] });
  expect(b).toMatchObject({ state: 'fetched', depth: 0, referrer: null });
  expect(r).toMatchObject({ state: 'redir_temp', target: at('/t')[0] });
  expect(none).toMatchObject({ state: 'gone' });
  expect(t).toMatchObject({ state: 'fetched', referrer: at('/r')[0] });
  expect(await crawler.stats()).toMatchObject({ urls: 6, hosts: 1, leased: 0 });
  expect(await crawler.updatedb({ segment: made.segment ?? '' })).toMatchObject({ applied: 0, new: 0 });
});

it('visits known pages by their records, leases them, and leaves out what another segment has', async () => {
  const { crawler, at, asked, reopen } = await site();
  await crawler.crawl(seed(...at('/k')));
  await crawler.inject(seed(...at('/new')).seeds);
  const first = await crawler.generate();
  expect(first.selected).toBe(1);
  const made = await crawler.generateFromList(list(...at('/k', '/new')));
  expect(made).toMatchObject({ due: 2, selected: 1, list: { underWay: 1 } });
  expect(await crawler.stats()).toMatchObject({ leased: 2 });
  const again = await reopen();
  await again.crawl();
  expect(asked).toEqual(['GET /k', 'GET /new', 'GET /k']);
  const known = await again.record(at('/k')[0]!);
  expect(known).toMatchObject({ seed: true, visits: [{ outcome: 'new' }, { outcome: 'unchanged-digest' }] });
  expect(await again.stats()).toMatchObject({ urls: 2, leased: 0 });
});

it('runs normalisers and filters only where they are asked for, and names bad lines', async () => {
  const { crawler, at } = await site();
  const [url = '', media = ''] = at('/p?b=2&a=1&utm_source=x', '/picture.jpg');
  const lines = list(url, media, 'nonsense', `${url}\tscore=2`, '# a comment', '');
  const plain = await crawler.generateFromList(lines, { dryRun: true });
  expect(plain.urls).toEqual([url, media]);
  expect(plain.list?.errors.map(({ line }) => line)).toEqual([3, 4]);
  const both = await crawler.generateFromList(lines, { dryRun: true, filter: true, normalize: true });
  expect(both.urls).toEqual([at('/p?b=2&a=1')[0]]);
  expect(both).toMatchObject({ segment: null, rejected: { urlFilter: 1 } });
});
