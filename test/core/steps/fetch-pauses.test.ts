import { expect, it } from 'vitest';
import type { Exchange, FetchProtocol } from '../../../src/core/ports/fetch-protocol.ts';
import { fetchSegment } from '../../../src/core/steps/fetch/fetch.ts';
import { createHostLanes } from '../../../src/http/lanes/host-lanes.ts';
import { createRobots } from '../../../src/http/robots/robots.ts';
import { fetchItem } from '../../contracts/segment-records.ts';
import { createMemorySegmentStore } from '../../memory/segment-store.ts';
import { VirtualClock } from '../../simulation/crawl/virtual-clock.ts';

const LOG = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const ANSWERS: Readonly<Record<string, { ms: number; status: number; headers: Record<string, string> }>> = {
  '/robots.txt': { ms: 10, status: 404, headers: {} },
  '/0': { ms: 10, status: 503, headers: { 'retry-after': '4000' } },
  '/1': { ms: 50, status: 304, headers: {} },
  '/2': { ms: 10, status: 304, headers: {} },
};

it('a Retry-After on one connection of a host holds for the other one, and is told at once', async () => {
  const clock = new VirtualClock(0);
  const requests: string[] = [];
  const protocol: FetchProtocol = {
    schemes: ['http'],
    async exchange({ url }): Promise<Exchange> {
      const { pathname } = new URL(url);
      requests.push(pathname);
      const { ms, status, headers } = ANSWERS[pathname]!;
      await clock.sleep(ms);
      const head = { status, statusText: '', httpVersion: '1.1', headers, rawHeaders: [], remoteAddress: null };
      return { head, wireBody: null, body: null, truncated: false, bodyBytes: 0, receivedBytes: 0, ms };
    },
    close: async () => {},
  };
  const robots = createRobots({
    ...{ protocol, clock, log: LOG, productToken: 'incrawl', maxCrawlDelayMs: 0 },
    ...{ crawlDelayPolicy: 'obey' as const, timeoutMs: 1_000 },
  });
  const lanes = createHostLanes({ clock, concurrency: 2, connectionsPerHost: 2, defaultDelayMs: 100 });
  const segments = createMemorySegmentStore();
  const validators = { etag: '"a"', lastModified: null, contentLength: null };
  const items = [0, 1, 2].map((index) => ({
    ...fetchItem(index),
    ...{ url: `http://a.example/${index}`, host: 'a.example', validators, digest: '0'.repeat(32), audit: false },
  }));
  await segments.create({ id: 's1', createdAt: 0, hosts: {} }, items);
  const segment = await segments.open('s1', 'write');
  const options = {
    ...{ probe: 'off' as const, maxBodyBytes: 1_000, timeoutMs: 1_000, window: 10, delayMs: 100, timeLimitMs: 0 },
    ...{
      hostWaitMs: 300_000,
      turnWaitMs: 300_000,
      hostFailureLimit: 10,
      failureLimit: 10,
      patienceMs: 60_000,
      missingIntervalsMs: [],
    },
  };
  const deps = { clock, log: LOG, lanes, robots, protocols: new Map([['http', protocol]]), sha256Of: () => '' };
  const rests: [string, number, number][] = [];
  const onRest = async (host: string, until: number): Promise<void> => {
    rests.push([host, until - clock.now(), segment.fetchedCount]);
  };
  await clock.drive(fetchSegment(deps, segment, { ...options, onRest }), () => false);
  expect(rests).toEqual([['a.example', 4_000_000, 0]]);
  expect(requests).toEqual(['/robots.txt', '/0', '/1']);
  expect((await segment.findFetched('http://a.example/2'))?.outcome).toMatchObject({
    kind: 'denied',
    code: 'http-throttled',
  });
});
