import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { hostOf } from '../../../src/core/domain/url/canonical/url-key.ts';
import { NO_HOST_FACTS } from '../../../src/core/ports/crawl-db.ts';
import type { FetchProtocol } from '../../../src/core/ports/fetch-protocol.ts';
import type { StoredRobots } from '../../../src/core/ports/robots.ts';
import { type FetchOptions, fetchSegment } from '../../../src/core/steps/fetch/fetch.ts';
import type { FetchSummary } from '../../../src/core/steps/summaries.ts';
import { createHostLanes } from '../../../src/http/lanes/host-lanes.ts';
import { createRobots } from '../../../src/http/robots/robots.ts';
import { JumpingClock } from '../../contracts/host-lanes.contract.ts';
import { fetchItem } from '../../contracts/segment-records.ts';
import { createMemorySegmentStore } from '../../memory/segment-store.ts';
import { SILENT } from '../../store/leveldb/temporary-db.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

interface World {
  readonly clock: JumpingClock;
  readonly segments: ReturnType<typeof createMemorySegmentStore>;
  /** Requests of each host, robots.txt among them, ms since the epoch. */
  readonly asked: Map<string, number[]>;
  /** Pages of each host that were answered. */
  readonly pages: Map<string, number>;
  readonly kept: Map<string, StoredRobots>;
}

/** A segment with so many URLs of each host, in turns. */
async function world(hosts: Readonly<Record<string, number>>): Promise<World> {
  const segments = createMemorySegmentStore();
  const urls: string[] = [];
  for (let n = 0; n < Math.max(...Object.values(hosts)); n++) {
    for (const [host, count] of Object.entries(hosts)) if (n < count) urls.push(`http://${host}/${n}`);
  }
  const items = urls.map((url, index) => ({ ...fetchItem(index), url, host: hostOf(url), audit: false }));
  const facts = Object.fromEntries(Object.keys(hosts).map((host) => [host, NO_HOST_FACTS]));
  await segments.create({ id: 's1', createdAt: 0, hosts: facts }, items);
  return { clock: new JumpingClock(), segments, asked: new Map(), pages: new Map(), kept: new Map() };
}

/** A run of one process: its lanes and robots.txt verdicts are new. */
async function run(
  { clock, segments, asked, pages, kept }: World,
  delays: Readonly<Record<string, number>>,
  options: Partial<FetchOptions> = {},
): Promise<FetchSummary & { readonly ms: number }> {
  const protocol: FetchProtocol = {
    schemes: ['http'],
    close: async () => {},
    async exchange({ url }) {
      const host = hostOf(url);
      asked.set(host, [...(asked.get(host) ?? []), clock.now()]);
      const isPage = !url.endsWith('/robots.txt');
      if (isPage) pages.set(host, (pages.get(host) ?? 0) + 1);
      const delay = delays[host];
      const body = Buffer.from(isPage ? 'page' : delay === undefined ? '' : `User-agent: *\nCrawl-delay: ${delay}\n`);
      const headers = { 'content-type': 'text/plain' };
      const head = { status: 200, statusText: '', httpVersion: '1.1', headers, rawHeaders: [], remoteAddress: null };
      return { head, body, wireBody: body, truncated: false, bodyBytes: body.length, receivedBytes: 9, ms: 0 };
    },
  };
  const store = {
    load: async (origin: string) => kept.get(origin),
    save: async (origin: string, entry: StoredRobots) => void kept.set(origin, entry),
  };
  const robots = createRobots({
    ...{ protocol, store, clock, log: SILENT, productToken: 'incrawl', timeoutMs: 1_000 },
    ...{ maxCrawlDelayMs: 30_000, crawlDelayPolicy: 'obey' as const },
  });
  const lanes = createHostLanes({ clock, concurrency: 50, connectionsPerHost: 1, defaultDelayMs: SECOND });
  const sha256Of = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');
  const segment = await segments.open('s1', 'write');
  const startedAt = clock.now();
  let summary: FetchSummary | Error | null = null;
  fetchSegment({ clock, log: SILENT, lanes, robots, protocols: new Map([['http', protocol]]), sha256Of }, segment, {
    ...{ probe: 'off', maxBodyBytes: 1_000, timeoutMs: 1_000, window: 2_000, delayMs: SECOND, timeLimitMs: 0 },
    ...{ hostFailureLimit: 10, failureLimit: 100, patienceMs: MINUTE, missingIntervalsMs: [] },
    ...{ hostWaitMs: 5 * MINUTE, turnWaitMs: HOUR, ...options },
  }).then(
    (ended) => {
      summary = ended;
    },
    (error: Error) => {
      summary = error;
    },
  );
  await clock.runUntil(() => summary !== null);
  await segment.setState('fetched');
  await segment.close();
  if (summary === null || (summary as unknown) instanceof Error) throw summary;
  return { ...(summary as FetchSummary), ms: clock.now() - startedAt };
}

const gapsOf = ({ asked }: World, host: string): number[] => {
  const times = asked.get(host) ?? [];
  return times.slice(1).map((at, i) => at - (times[i] as number));
};

describe('a round with slow hosts', () => {
  it('does not wait for a Crawl-delay of days: the host is left, and its next turn noted', async () => {
    const here = await world({ 'slow.org': 3, 'a.org': 20, 'b.org': 20 });
    const startedAt = here.clock.now();
    const { ms, left, fetched } = await run(here, { 'slow.org': 999_999 });
    expect([fetched, left]).toEqual([40, 3]);
    expect(ms).toBeLessThan(30 * SECOND);
    const [info] = await here.segments.list();
    expect(info?.turns).toEqual({ 'slow.org': startedAt + DAY });
  });

  it('ends a bounded time after one of its hosts is done; a lone host is not bounded', async () => {
    const here = await world({ 'five.org': 500, 'a.org': 20 });
    const { ms, left } = await run(here, { 'five.org': 5 });
    expect(ms).toBeGreaterThanOrEqual(5 * MINUTE);
    expect(ms).toBeLessThan(5 * MINUTE + 30 * SECOND);
    const done = here.pages.get('five.org') ?? 0;
    expect(done).toBeGreaterThan(55);
    expect(left).toBe(500 - done);
    expect(here.pages.get('a.org')).toBe(20);
    expect(Math.min(...gapsOf(here, 'five.org'))).toBeGreaterThanOrEqual(5 * SECOND);

    const alone = await world({ 'six.org': 30 });
    const whole = await run(alone, { 'six.org': 600 });
    expect([whole.left, Math.round(whole.ms / MINUTE)]).toEqual([0, 300]);
  });

  it('is not cut short while its hosts use all connections', async () => {
    const hosts = Array.from({ length: 60 }, (_, i) => `host-${i}.org`);
    const pages = { ...Object.fromEntries(hosts.map((host) => [host, 20])), 'a.org': 1 };
    const delays = Object.fromEntries(hosts.map((host) => [host, 25]));
    const wide = await run(await world(pages), delays, { busyHosts: 50 });
    expect([wide.fetched, wide.left]).toEqual([1_201, 0]);
    // Too few for that: the one that is done waits for them.
    const narrow = await run(await world(pages), delays, { busyHosts: 80 });
    expect(narrow.left).toBeGreaterThan(400);
  });

  it('the time limit holds while every host waits for its turn', async () => {
    const here = await world({ 'slow.org': 20 });
    const { ms, left } = await run(here, { 'slow.org': 600 }, { timeLimitMs: 25 * MINUTE });
    expect(ms).toBeLessThanOrEqual(25 * MINUTE);
    expect(left).toBe(18);
  });

  it('where no round follows, hosts wait for one another, up to the longest single wait', async () => {
    const here = await world({ 'five.org': 100, 'a.org': 1, 'slow.org': 2 });
    const { left, ms } = await run(
      here,
      { 'five.org': 5, 'slow.org': 7_200 },
      { hostWaitMs: Number.POSITIVE_INFINITY },
    );
    expect([left, here.pages.get('five.org')]).toEqual([2, 100]);
    expect(ms).toBeGreaterThan(8 * MINUTE);
  });

  it('a process that goes on with the round keeps the delay since the last request of the one before', async () => {
    const here = await world({ 'slow.org': 4 });
    const delays = { 'slow.org': 86_400 };
    await run(here, delays);
    expect(here.asked.get('slow.org')).toHaveLength(1);
    // Another process, at once: nothing is asked. A day later robots.txt is old, and serves for its next request.
    await run(here, delays);
    expect(here.asked.get('slow.org')).toHaveLength(1);
    for (let day = 0; day < 6; day++) {
      here.clock.pass(DAY + MINUTE);
      await run(here, delays);
    }
    expect(here.pages.get('slow.org')).toBe(4);
    expect(Math.min(...gapsOf(here, 'slow.org'))).toBeGreaterThanOrEqual(DAY);
  });
});
