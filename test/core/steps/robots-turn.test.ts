import { expect, it } from 'vitest';
import type { FetchProtocol } from '../../../src/core/ports/fetch-protocol.ts';
import type { HostLanes } from '../../../src/core/ports/host-lanes.ts';
import { askRobots } from '../../../src/core/steps/fetch/robots-turn.ts';
import { createRobots } from '../../../src/http/robots/robots.ts';
import { SILENT } from '../../store/leveldb/temporary-db.ts';

it('http and https of a host share a lane, and the longer Crawl-delay holds for both', async () => {
  const head = { status: 200, statusText: '', httpVersion: '1.1', headers: {}, rawHeaders: [], remoteAddress: null };
  const protocol: FetchProtocol = {
    schemes: ['http', 'https'],
    close: async () => {},
    async exchange({ url }) {
      const body = Buffer.from(url.startsWith('http:') ? 'User-agent: *\nCrawl-delay: 10\n' : '');
      return { head, body, wireBody: body, truncated: false, bodyBytes: body.length, receivedBytes: 0, ms: 0 };
    },
  };
  const clock = { now: () => 0, sleep: async () => {} };
  const delays: number[] = [];
  const setDelay = (_host: string, ms: number): void => void delays.push(ms);
  const lanes = { setDelay, pauseUntil: () => {}, ownDelayMs: () => undefined } as unknown as HostLanes;
  const robots = createRobots({
    ...{ protocol, clock, log: SILENT, productToken: 'incrawl', timeoutMs: 1_000 },
    ...{ maxCrawlDelayMs: 30_000, crawlDelayPolicy: 'obey' as const },
  });
  const turn = { spare: () => {}, next: async () => {} };
  for (const url of ['https://a.org/1', 'http://a.org/2', 'https://a.org/3', 'http://a.org/4', 'https://b.org/']) {
    await askRobots({ robots, lanes, clock }, url, new URL(url).host, 5_000, turn);
  }
  expect(delays).toEqual([5_000, 10_000, 10_000, 10_000, 5_000]);
});
