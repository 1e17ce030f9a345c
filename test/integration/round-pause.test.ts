import { expect, it } from 'vitest';
import { roundPause } from '../../src/operations/loop/host-rests.ts';
import { systemClock } from '../../src/operations/system/clock.ts';
import { PAGE, seed, visiting } from './visiting.ts';

const HOUR = 3_600_000;

it('lies between two rounds, and not behind the last one', async () => {
  const { crawler, origin, asked, sentAt, now } = await visiting((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE);
  }, 'crawl.pause=1h');
  const { stoppedBy, rounds } = await crawler.crawl(seed(`${origin}/`));
  expect([stoppedBy, rounds.length, asked]).toEqual(['nothing-due', 2, ['GET /', 'GET /child']]);
  const [first = 0, last = 0] = [sentAt[0], sentAt.at(-1)];
  expect(last - first).toBeGreaterThanOrEqual(HOUR);
  expect(now() - first).toBeLessThan(2 * HOUR);
});

it('ends at once when the crawl is stopped', async () => {
  const stop = new AbortController();
  const log = { debug: () => {}, info: () => stop.abort(), warn: () => {}, error: () => {} };
  const deps = { config: { crawl: { pauseMs: HOUR } }, runtime: { clock: systemClock, log } };
  await roundPause(deps as never, async () => true, stop.signal);
  expect(stop.signal.aborted).toBe(true);
});
