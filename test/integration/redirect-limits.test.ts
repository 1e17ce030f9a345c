import { describe, expect, it } from 'vitest';
import { startScripted } from '../site/scripted-server.ts';
import { DAY, seed, visiting } from './visiting.ts';

/** `/0` leads to `/1`, and so on to `/<hops>`, which is a page. */
const chain = (hops: number, ...settings: string[]) =>
  visiting(
    ({ url = '' }, response) => {
      const hop = Number(url.slice(1));
      if (hop >= hops) response.writeHead(200, { 'content-type': 'text/html' }).end('<p>the last page');
      else response.writeHead(302, { location: `/${hop + 1}` }).end();
    },
    ...settings,
  );

const paths = (from: number, to: number): string[] =>
  Array.from({ length: to - from + 1 }, (_, i) => `GET /${from + i}`);

describe('what a round has left for targets of redirects', () => {
  it('a chain goes on in the next round where the round is full, and is fetched once', async () => {
    const { crawler, origin, asked } = await chain(9);
    const full = await crawler.crawl({ ...seed(`${origin}/0`), topN: 4, rounds: 1 });
    expect(full.rounds).toMatchObject([{ generated: 1, redirected: 4, followed: 3 }]);
    expect(asked).toEqual(paths(0, 3));
    const rest = await crawler.crawl({ topN: 4, rounds: 2 });
    expect(rest.rounds).toMatchObject([
      { generated: 1, redirected: 4, followed: 3 },
      { generated: 1, redirected: 1, fetched: 1, followed: 1 },
    ]);
    expect(asked).toEqual(paths(0, 9));
  });

  it('the limit of a chain holds over its rounds', async () => {
    const { crawler, origin, asked } = await chain(99, 'fetch.maxRedirects=7');
    const { rounds } = await crawler.crawl({ ...seed(`${origin}/0`), topN: 3 });
    expect(rounds.map(({ redirected }) => redirected)).toEqual([3, 3, 2]);
    expect(asked).toEqual(paths(0, 7));
    expect(await crawler.record(`${origin}/7`)).toMatchObject({ lastError: { code: 'redirect-limit' }, depth: 7 });
  });

  it('the budget of a run is spent on them as well', async () => {
    const { crawler, origin, asked } = await chain(9);
    const { rounds } = await crawler.crawl({ ...seed(`${origin}/0`), budget: 6, topN: 4 });
    expect(asked).toEqual(paths(0, 5));
    expect(rounds).toMatchObject([{ followed: 3 }, { followed: 1 }]);
  });

  it('the budget of a day is spent on them as well', async () => {
    const { crawler, origin, asked, pass } = await chain(9, 'generate.budgetPerDay=4');
    await crawler.crawl(seed(`${origin}/0`));
    expect(asked).toEqual(paths(0, 3));
    pass(DAY);
    await crawler.crawl();
    // Known pages, which are not due, take a part of the second day.
    expect(asked).toHaveLength(8);
  });

  it('the caps of hosts and domains hold for the list with what joins it', async () => {
    const capped = await chain(9, 'generate.maxPerHost=3');
    await capped.crawler.crawl({ ...seed(`${capped.origin}/0`, `${capped.origin}/9`), rounds: 1 });
    expect(capped.asked.sort()).toEqual(['GET /0', 'GET /1', 'GET /9']);
    const { crawler, origin, asked } = await chain(9, 'generate.maxPerDomain=2');
    await crawler.crawl({ ...seed(`${origin}/0`), rounds: 1 });
    expect(asked).toEqual(paths(0, 1));
  });

  it('what generate was told to leave out does not join', async () => {
    const { crawler, origin, asked } = await chain(9);
    await crawler.crawl(seed(`${origin}/1`));
    const before = asked.length;
    await crawler.touch([`${origin}/0`, `${origin}/1`]);
    await crawler.inject(seed(`${origin}/0`).seeds);
    const { rounds } = await crawler.crawl({ rounds: 1, generate: { status: ['unfetched'] } });
    expect(rounds).toMatchObject([{ generated: 1, redirected: 1, followed: 0 }]);
    expect(asked.slice(before)).toEqual(paths(0, 0));
  });

  it('no new target joins while new URLs are kept out', async () => {
    const { crawler, origin, asked } = await chain(9, 'updatedb.additions=false');
    await crawler.crawl(seed(`${origin}/0`));
    expect(asked).toEqual(paths(0, 0));
    expect(await crawler.record(`${origin}/1`)).toBeNull();
  });

  it('with fetch.followRedirects=false each target waits for the next round', async () => {
    const { crawler, origin, asked } = await chain(99, 'fetch.followRedirects=false');
    const { rounds } = await crawler.crawl(seed(`${origin}/0`));
    expect([rounds.length, asked.length]).toEqual([21, 21]);
  });

  it('the steps one by one leave targets to the next round: fetch has no crawl db', async () => {
    const { crawler, origin, asked } = await chain(2);
    await crawler.inject(seed(`${origin}/0`).seeds);
    for (const hop of [0, 1, 2]) {
      await crawler.generate();
      expect(await crawler.fetch({ parse: true })).toMatchObject({ attempted: 1, followed: 0 });
      await crawler.updatedb();
      expect(asked).toEqual(paths(0, hop));
    }
  });

  it('a target that the time limit of the round cuts off is fetched in the next one, once', async () => {
    const { crawler, origin, asked } = await chain(3, 'fetch.delay=5s', 'fetch.timeLimit=8s');
    const { rounds } = await crawler.crawl(seed(`${origin}/0`));
    expect(rounds.length).toBeGreaterThan(1);
    expect(asked).toEqual(paths(0, 3));
    expect(await crawler.stats()).toMatchObject({ leased: 0, urls: 4 });
  });
});

describe('the depth of a target', () => {
  it('a seed that redirects within its site stands for the page that it leads to', async () => {
    const { crawler, origin, asked } = await visiting(({ url }, response) => {
      const location = { '/': '/en', '/en': '/en/' }[url ?? ''];
      if (location !== undefined) response.writeHead(302, { location }).end();
      else response.writeHead(200, { 'content-type': 'text/html' }).end('<a href="/child">a page');
    });
    const { rounds } = await crawler.crawl({ ...seed(`${origin}/`), maxLayers: 1 });
    expect(asked).toEqual(['GET /', 'GET /en', 'GET /en/']);
    expect(rounds).toMatchObject([{ fetched: 1, followed: 2 }]);
    expect(await crawler.record(`${origin}/en/`)).toMatchObject({ state: 'fetched', depth: 2 });
    expect(await crawler.record(`${origin}/child`)).toBeNull();
  });

  it('a seed that leads to another site does not, and neither does a link', async () => {
    const other = await startScripted(() => ({ status: 200, body: 'page' }), '127.0.0.2');
    const { crawler, origin, asked } = await visiting(({ url }, response) => {
      const location = { '/away': `${other.origin}/b`, '/linked': '/moved' }[url ?? ''];
      if (location !== undefined) response.writeHead(302, { location }).end();
      else response.writeHead(200, { 'content-type': 'text/html' }).end('<a href="/linked">one</a>');
    });
    const seeds = seed(`${origin}/away`, `${origin}/`);
    await crawler.inject(seed(`${other.origin}/`).seeds);
    await crawler.crawl({ ...seeds, maxLayers: 1 });
    expect(other.received.map(({ path }) => path)).not.toContain('/b');
    await crawler.touch([`${origin}/`]);
    await crawler.crawl({ generate: { status: ['unfetched'] }, maxLayers: 2 });
    expect(asked).toContain('GET /linked');
    expect(asked).not.toContain('GET /moved');
    await other.close();
  });
});
