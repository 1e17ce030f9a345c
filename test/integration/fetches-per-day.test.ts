import { describe, expect, it } from 'vitest';
import { type Answer, DAY, seed, visiting } from './visiting.ts';

const HOUR = DAY / 24;
const bound = (fetchesPerDay: number) => (host: string) =>
  `hosts=[{"match":"${host}","fetchesPerDay":${fetchesPerDay}}]`;

const pages: Answer = ({ url }, response) => {
  response.setHeader('content-type', 'text/html');
  response.end(`<title>${url}</title><main><p>Words of ${url}, which no other page has: ${'x'.repeat(99)}</p></main>`);
};
const numbered = (origin: string, count: number): string[] =>
  Array.from({ length: count }, (_, i) => `${origin}/${i + 1}`);

describe('fetchesPerDay of a host', () => {
  it('holds over rounds and runs of a day, is told with its time, and begins anew with the day', async () => {
    const { crawler, origin, asked, reopen } = await visiting(pages, bound(3));
    const { host } = new URL(origin);
    const first = await crawler.crawl({ ...seed(...numbered(origin, 8)), topN: 2 });
    expect(asked).toHaveLength(3);
    const reason = 'hosts[0].fetchesPerDay: 3 of 3 asked today';
    const notBefore = '2026-06-02T00:00:00.000Z';
    expect(first).toMatchObject({
      stoppedBy: 'hosts-waiting',
      waiting: { hosts: 1, urls: 5, next: [{ host, urls: 5, notBefore, reason }] },
    });
    const left = numbered(origin, 8).find((url) => !asked.includes(`GET ${new URL(url).pathname}`)) as string;

    const same = await reopen(20 * HOUR);
    expect(await same.crawl()).toMatchObject({ stoppedBy: 'hosts-waiting', rounds: [] });
    expect(asked).toHaveLength(3);
    const { why } = await same.explain(left);
    expect(why).toContain(`No round selects it today: ${reason}; again at ${notBefore}.`);
    expect(why.join('\n')).toContain(`host-day-used (${reason}; again at ${notBefore})`);
    expect(await same.generate({ dryRun: true })).toMatchObject({
      selected: 0,
      rejected: { hostDay: 5, hostWaits: 0 },
    });

    await (await reopen(4 * HOUR)).crawl();
    expect(asked).toHaveLength(6);
    const third = await reopen(DAY);
    expect((await third.crawl()).stoppedBy).toBe('nothing-due');
    expect([...asked].sort()).toEqual(numbered('GET ', 8));
    expect((await third.explain(left)).why.join('\n')).not.toContain('fetchesPerDay');
  });

  it('a crawl waits for the next day where that is near', async () => {
    const { crawler, origin, asked, pass, now } = await visiting(pages, bound(3));
    const startedAt = now();
    pass(23.5 * HOUR);
    expect((await crawler.crawl(seed(...numbered(origin, 5)))).stoppedBy).toBe('nothing-due');
    expect(asked).toHaveLength(5);
    expect(now()).toBeGreaterThanOrEqual(startedAt + DAY);
  });

  it('counts a round once that a process has left to the next', async () => {
    const { crawler, origin, asked, reopen } = await visiting(pages, bound(3));
    await crawler.inject([{ name: 'test', lines: numbered(origin, 8) }]);
    expect(await crawler.generate({ topN: 2 })).toMatchObject({ selected: 2 });
    expect(await crawler.generate()).toMatchObject({ selected: 1, rejected: { hostDay: 5 } });
    await (await reopen(HOUR)).crawl();
    expect(asked).toHaveLength(3);
  });

  it('gives back visits that sent no request', async () => {
    let isResting = true;
    const { crawler, origin, asked, reopen } = await visiting((request, response) => {
      if (isResting) response.writeHead(429, { 'retry-after': String(2 * 3_600) }).end();
      else pages(request, response);
    }, bound(4));
    const first = await crawler.crawl({ ...seed(...numbered(origin, 8)), rounds: 1 });
    expect(first.rounds).toMatchObject([{ generated: 4 }]);
    expect(asked).toHaveLength(1);
    isResting = false;
    await (await reopen(3 * HOUR)).crawl();
    expect(asked).toHaveLength(4);
  });

  it('counts the targets of redirects, and leaves those beyond it to the next day', async () => {
    const { crawler, origin, asked, reopen } = await visiting(({ url = '' }, response) => {
      const hop = Number(url.slice(1));
      response.writeHead(302, { location: `/${hop + 1}` }).end();
    }, bound(3));
    await crawler.crawl(seed(`${origin}/1`));
    expect(asked).toEqual(['GET /1', 'GET /2', 'GET /3']);
    await (await reopen(DAY)).crawl();
    expect(asked.slice(3)).toEqual(['GET /4', 'GET /5', 'GET /6']);
  });

  it('counts a list of the operator, which goes by no bound', async () => {
    const { crawler, origin, asked } = await visiting(pages, bound(3));
    const sources = [{ name: 'test', lines: numbered(origin, 4) }];
    await crawler.inject([{ name: 'test', lines: numbered(origin, 8) }]);
    expect(await crawler.generateFromList(sources)).toMatchObject({ selected: 4 });
    await crawler.crawl();
    expect(asked).toHaveLength(4);
  });

  it('bounds a host under a budget, too', async () => {
    const { crawler, origin, asked, reopen } = await visiting(pages, bound(3), 'generate.budgetPerDay=100');
    await crawler.crawl(seed(...numbered(origin, 8)));
    expect(asked).toHaveLength(3);
    await (await reopen(DAY)).crawl();
    expect(asked).toHaveLength(6);
  });
});
