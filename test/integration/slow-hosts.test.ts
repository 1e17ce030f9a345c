import { expect, it } from 'vitest';
import { DAY, PAGE, seed, visiting } from './visiting.ts';

it('a host with a Crawl-delay of a day ends the crawl, which says so, and goes on a day later', async () => {
  const { crawler, origin, asked, sentAt, robots, now, reopen } = await visiting((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE);
  });
  robots((_request, response) => response.end('User-agent: *\nCrawl-delay: 999999\n'));
  const { host } = new URL(origin);
  const startedAt = now();
  const first = await crawler.crawl(seed(`${origin}/1`, `${origin}/2`, `${origin}/3`));
  expect(first).toMatchObject({
    stoppedBy: 'hosts-waiting',
    waiting: { hosts: 1, urls: 3, next: [{ host, urls: 3 }] },
  });
  const notBefore = Date.parse(first.waiting?.next[0]?.notBefore ?? '');
  expect(notBefore).toBeGreaterThanOrEqual(startedAt + DAY);
  expect(now() - startedAt).toBeLessThan(60_000);
  expect([asked, sentAt.length]).toEqual([[], 1]);
  expect(await crawler.stats()).toMatchObject({ leased: 0, due: 3 });

  const { why } = await crawler.explain(`${origin}/1`);
  const delay = 'the Crawl-delay of its robots.txt is 86400 s';
  const turn = `Its host must not be contacted before ${new Date(notBefore).toISOString()} (${delay})`;
  expect(why.join('\n')).toContain(turn);
  expect(why.join('\n')).toContain('host-waits');

  // Another process, before the turn of the host: nothing is asked, and no round is played.
  const early = await (await reopen(DAY / 2)).crawl();
  expect(early).toMatchObject({ stoppedBy: 'hosts-waiting', rounds: [] });
  expect(sentAt).toHaveLength(1);
  for (let day = 1; day <= 6; day++) {
    await (await reopen(DAY + 60_000)).crawl();
    expect(sentAt.length).toBeLessThanOrEqual(1 + day);
  }
  // A copy of robots.txt that is three days old costs a turn as well.
  expect([...asked].sort()).toEqual(['GET /1', 'GET /2', 'GET /3', 'GET /child']);
  expect(sentAt).toHaveLength(6);
  const gaps = sentAt.slice(1).map((at, i) => at - (sentAt[i] as number));
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(DAY);
});

it('a host whose turn comes within crawl.hostWait is waited for, without empty rounds', async () => {
  const { crawler, origin, asked, sentAt, robots } = await visiting((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/plain' }).end('words');
  });
  robots((_request, response) => response.end('User-agent: *\nCrawl-delay: 600\n'));
  const { stoppedBy, rounds } = await crawler.crawl(seed(`${origin}/1`, `${origin}/2`, `${origin}/3`));
  expect([stoppedBy, rounds.length, asked.length]).toEqual(['nothing-due', 1, 3]);
  const gaps = sentAt.slice(1).map((at, i) => at - (sentAt[i] as number));
  expect(Math.min(...gaps)).toBeGreaterThanOrEqual(600_000);
});
