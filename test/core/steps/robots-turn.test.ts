import { describe, expect, it } from 'vitest';
import { ERRORS } from '../../../src/core/domain/errors.ts';
import type { FetchProtocol } from '../../../src/core/ports/fetch-protocol.ts';
import type { HostLanes } from '../../../src/core/ports/host-lanes.ts';
import type { Robots, RobotsVerdict } from '../../../src/core/ports/robots.ts';
import { askRobots, denialBy, pauseByRobots, verdictInTurn } from '../../../src/core/steps/fetch/robots-turn.ts';
import { createRobots } from '../../../src/http/robots/robots.ts';
import { SILENT } from '../../store/leveldb/temporary-db.ts';

const NOW = 1_700_000_000_000;
const clock = { now: () => NOW, sleep: async () => {} };
const HOST = 'a.org';
const URL_A = 'https://a.org/1';

const ALLOWED: RobotsVerdict = {
  ...{ allowed: true, code: null, fault: null, rule: null, crawlDelayMs: null },
  ...{ sitemaps: [], status: 200, fetchedAt: NOW - 1_000 },
};
const DENIED: RobotsVerdict = { ...ALLOWED, allowed: false, code: 'robots-denied' };

/** What a turn does with its host, in order. */
function lane(ownDelayMs?: number) {
  const calls: string[] = [];
  const lanes = {
    setDelay: (host: string, ms: number) => void calls.push(`delay ${host} ${ms}`),
    pauseUntil: (host: string, at: number) => void calls.push(`pause ${host} ${at - NOW}`),
    ownDelayMs: () => ownDelayMs,
  } as unknown as HostLanes;
  const turn = { spare: () => void calls.push('spare'), next: async () => void calls.push('next') };
  return { calls, lanes, turn };
}

/** Verdicts by scheme: those in memory, and those that a request for robots.txt gives, in a turn of its own. */
const robotsOf = (cached: Record<string, RobotsVerdict>, asked: Record<string, RobotsVerdict> = {}): Robots => {
  const of = (url: string, from: Record<string, RobotsVerdict>) => from[url.slice(0, url.indexOf(':'))];
  return {
    cachedVerdict: (url: string) => of(url, cached),
    verdict: async (url: string) => of(url, asked)!,
  } as unknown as Robots;
};

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
  const { calls, lanes, turn } = lane();
  const robots = createRobots({
    ...{ protocol, clock, log: SILENT, productToken: 'incrawl', timeoutMs: 1_000 },
    ...{ maxCrawlDelayMs: 30_000, crawlDelayPolicy: 'obey' as const },
  });
  for (const url of ['https://a.org/1', 'http://a.org/2', 'https://a.org/3', 'http://a.org/4', 'https://b.org/']) {
    await askRobots({ robots, lanes, clock }, url, new URL(url).host, 5_000, turn);
  }
  expect(calls.filter((call) => call.startsWith('delay'))).toEqual([
    ...['delay a.org 5000', 'delay a.org 10000', 'delay a.org 10000', 'delay a.org 10000', 'delay b.org 5000'],
  ]);
});

describe('a delay that robots.txt asks for', () => {
  const ask = async (
    verdict: RobotsVerdict,
    { own, twin, last }: { own?: number; twin?: RobotsVerdict; last?: number },
  ) => {
    const { calls, lanes, turn } = lane(own);
    const robots = robotsOf({ https: verdict, ...(twin && { http: twin }) });
    const lastRequestAt = (host: string): number => (host === HOST && last !== undefined ? last : 0);
    const { isSlow } = await askRobots({ robots, lanes, clock, lastRequestAt }, URL_A, HOST, 5_000, turn);
    return [isSlow, ...calls];
  };
  const slow = (crawlDelayMs: number, change: Partial<RobotsVerdict> = {}) => ({ ...ALLOWED, crawlDelayMs, ...change });

  it.each([
    ['is none: the configured one holds', ALLOWED, {}, [false, 'delay a.org 5000']],
    ['is not longer than the configured one', slow(5_000), {}, [false, 'delay a.org 5000']],
    ['is longer: it counts from robots.txt', slow(60_000), {}, [true, 'delay a.org 60000', 'pause a.org 59000']],
    ['counts from a later request', slow(60_000), { last: NOW - 10 }, [true, 'delay a.org 60000', 'pause a.org 59990']],
    ['counts from robots.txt', slow(60_000), { last: NOW - 5e3 }, [true, 'delay a.org 60000', 'pause a.org 59000']],
    ['is shorter than the own one of the host', slow(60_000), { own: 90_000 }, [false, 'delay a.org 90000']],
    ['is longer than a short own one', slow(3_000), { own: 0 }, [true, 'delay a.org 3000', 'pause a.org 2000']],
    ['is that of the other scheme', ALLOWED, { twin: slow(9_000) }, [true, 'delay a.org 9000', 'pause a.org 8000']],
    [
      'is of a scheme that is refused',
      ALLOWED,
      { twin: { ...DENIED, crawlDelayMs: 9_000 } },
      [false, 'delay a.org 5000'],
    ],
    ['of a refused URL makes none wait', { ...DENIED, crawlDelayMs: 9_000 }, {}, [false]],
    ['of the other scheme does not either', DENIED, { twin: slow(9_000) }, [true]],
  ] as const)('%s', async (_name, verdict, more, seen) => expect(await ask(verdict, more)).toEqual(seen));

  it('counts from robots.txt where no earlier request is known', async () => {
    const { calls, lanes, turn } = lane();
    await askRobots({ robots: robotsOf({ https: slow(60_000) }), lanes, clock }, URL_A, HOST, 5_000, turn);
    expect(calls).toContain('pause a.org 59000');
  });

  it('is that of https for a URL of http', async () => {
    const { calls, lanes, turn } = lane();
    const robots = robotsOf({ http: ALLOWED, https: slow(9_000) });
    await askRobots({ robots, lanes, clock }, 'http://a.org/1', HOST, 5_000, turn);
    expect(calls).toContain('delay a.org 9000');
  });
});

describe('a turn of a host', () => {
  const asked = { ...ALLOWED, fetchedAt: NOW };
  const resting = { restUntil: NOW + 1 };
  const run = async (cached: RobotsVerdict | null, verdict: RobotsVerdict = asked) => {
    const { calls, lanes, turn } = lane();
    const robots = robotsOf(cached === null ? {} : { https: cached }, { https: verdict });
    const { isFetched } = await verdictInTurn({ robots, lanes, clock }, { url: URL_A, host: HOST }, 5_000, turn);
    return [isFetched, ...calls.filter((call) => call === 'spare' || call === 'next')];
  };

  it.each([
    ['is the one of the URL where robots.txt is known', ALLOWED, undefined, [false]],
    ['is the one of the URL where robots.txt was fetched at this moment', asked, undefined, [false]],
    ['was used for robots.txt: the URL has the next one', null, asked, [true, 'next']],
    ['is given back for a refused URL', DENIED, undefined, [false, 'spare']],
    ['is not given back where robots.txt was fetched', null, { ...DENIED, fetchedAt: NOW }, [true]],
    ['comes after the longer delay', { ...ALLOWED, crawlDelayMs: 9_000 }, undefined, [false, 'spare', 'next']],
    ['comes after the longer delay that was just learnt', null, { ...asked, crawlDelayMs: 9_000 }, [true, 'next']],
    ['is given back during a pause', { ...ALLOWED, ...resting }, undefined, [false, 'spare']],
    ['is not given back where the answer to robots.txt asked for a pause', null, { ...asked, ...resting }, [true]],
    ['was not used where a copy is stored', null, ALLOWED, [false]],
    ['was not used for an address that is blocked', null, blocked(), [false, 'spare']],
  ] as const)('%s', async (_name, cached, verdict, seen) => expect(await run(cached, verdict)).toEqual(seen));

  function blocked(): RobotsVerdict {
    return { ...DENIED, code: 'address-blocked', fetchedAt: NOW, status: null };
  }

  it('is ended for each redirect of robots.txt within the host', async () => {
    const { calls, lanes, turn } = lane();
    const robots = {
      cachedVerdict: () => undefined,
      async verdict(_url: string, nextTurn: () => Promise<void>) {
        await nextTurn();
        return asked;
      },
    } as unknown as Robots;
    await askRobots({ robots, lanes, clock }, URL_A, HOST, 5_000, turn);
    expect(calls).toEqual(['next', 'delay a.org 5000']);
  });
});

it.each([
  ['a rule', { rule: { line: 7, text: 'Disallow: /x' } }, 'robots-denied', ' (line 7: Disallow: /x)'],
  ['no rule', {}, 'robots-denied', ''],
  ['no code', { code: null }, 'robots-denied', ''],
  ['a failed fetch', { code: 'robots-unreachable', fault: 'status 503' }, 'robots-unreachable', ' (status 503)'],
  [
    'an old copy',
    { rule: { line: 7, text: 'Disallow: /x' }, fault: 'status 503' },
    'robots-denied',
    ' (line 7: Disallow: /x)',
  ],
] as const)('a denial by %s names it', (_name, change, code, detail) => {
  const message = `${ERRORS[code].text}${detail}`;
  expect(denialBy({ ...DENIED, ...change })).toEqual({ code, message });
});

it.each(['dns-failed', 'address-blocked'] as const)('a denial without a request tells why: %s', (code) => {
  expect(denialBy({ ...DENIED, code, fault: 'the reason' })).toEqual({ code, message: 'the reason' });
  expect(denialBy({ ...DENIED, code })).toEqual({ code, message: ERRORS[code].text });
});

it('a pause holds until its end', () => {
  expect(pauseByRobots(ALLOWED, clock)).toBeNull();
  expect(pauseByRobots({ ...ALLOWED, restUntil: NOW }, clock)).toBeNull();
  expect(pauseByRobots({ ...ALLOWED, restUntil: NOW + 1 }, clock)).toBe(NOW + 1);
});
