import type { ServerResponse } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CrawlError } from '../../src/core/domain/errors.ts';
import type { FetchProtocol } from '../../src/core/ports/fetch-protocol.ts';
import type { Log } from '../../src/core/ports/log.ts';
import type { RobotsStore, SharedRobots, StoredRobots } from '../../src/core/ports/robots.ts';
import { createGotProtocol } from '../../src/http/exchange/got-protocol.ts';
import { createRobots, type RobotsOptions } from '../../src/http/robots/robots.ts';
import { type RobotsServer, startRobotsServer } from './robots-server.ts';

const MINUTE = 60_000;
const DAY = 24 * 60 * MINUTE;
const silent: Log = { debug() {}, info() {}, warn() {}, error() {} };
const DENY_PRIVATE = 'User-agent: *\nDisallow: /private\nCrawl-delay: 7\nSitemap: /map.xml\n';

describe('createRobots', () => {
  let site: RobotsServer;
  let protocol: FetchProtocol;
  let now = 0;
  const clock = { now: () => now, sleep: async (): Promise<void> => {} };

  beforeEach(async () => {
    now = 1_700_000_000_000;
    site = await startRobotsServer();
    protocol = createGotProtocol({ userAgent: 'incrawl/1', allowAddresses: ['127.0.0.0/8'] });
  });
  afterEach(async () => {
    await protocol.close();
    await site.close();
  });

  const open = (change: Partial<RobotsOptions> = {}): SharedRobots =>
    createRobots({
      protocol,
      clock,
      log: silent,
      productToken: 'incrawl',
      maxCrawlDelayMs: 30_000,
      crawlDelayPolicy: 'obey',
      timeoutMs: 3000,
      ...change,
    });
  const memoryStore = (): RobotsStore & { readonly entries: Map<string, StoredRobots> } => {
    const entries = new Map<string, StoredRobots>();
    return {
      entries,
      load: async (origin) => entries.get(origin),
      save: async (origin, entry) => void entries.set(origin, entry),
    };
  };
  const text =
    (body: string, status = 200) =>
    (_request: unknown, response: ServerResponse) =>
      void response.writeHead(status, { 'content-type': 'text/plain' }).end(body);

  it('a user with its own way to send requests shares rules and counters, and no fetch that is under way', async () => {
    site.answer(text(DENY_PRIVATE));
    const robots = open();
    const asked: string[] = [];
    const own = robots.through((inner) => ({
      ...inner,
      exchange(request) {
        asked.push(request.url);
        if (asked.length === 1) throw new CrawlError('lease-lost', 'another worker asks');
        return inner.exchange(request);
      },
    }));
    const url = `${site.origin}/private/a`;
    const [refused, common] = await Promise.allSettled([own.verdict(url), robots.verdict(url)]);
    expect(refused).toMatchObject({ status: 'rejected', reason: { code: 'lease-lost' } });
    expect(common).toMatchObject({ status: 'fulfilled', value: { allowed: false } });
    expect(await own.verdict(url)).toMatchObject({ allowed: false });
    now += 2 * DAY;
    expect(await own.verdict(url)).toMatchObject({ allowed: false });
    expect(robots.cachedVerdict(url)).toMatchObject({ allowed: false });
    expect(asked).toEqual([`${site.origin}/robots.txt`, `${site.origin}/robots.txt`]);
    expect(robots.stats()).toEqual(own.stats());
    expect(robots.stats().requests).toBe(3);
  });

  it('gives a verdict with rule, delay and sitemaps', async () => {
    site.answer(text(DENY_PRIVATE));
    const robots = open();
    expect(robots.cachedVerdict(`${site.origin}/private/a`)).toBeUndefined();
    expect(await robots.verdict(`${site.origin}/private/a`)).toEqual({
      allowed: false,
      code: 'robots-denied',
      fault: null,
      rule: { line: 2, text: 'Disallow: /private' },
      crawlDelayMs: 7000,
      sitemaps: [`${site.origin}/map.xml`],
      status: 200,
      fetchedAt: now,
    });
    expect(robots.cachedVerdict(`${site.origin}/public`)).toMatchObject({ allowed: true, code: null, rule: null });
    expect(robots.cachedVerdict(`${site.origin}/x`)).toBe(robots.cachedVerdict(`${site.origin}/y`));
    expect(robots.stats()).toMatchObject({ requests: 1 });
    expect(robots.stats().receivedBytes).toBeGreaterThan(DENY_PRIVATE.length);
  });

  it('asks once for many pages, also when they come at the same time, and again after a day', async () => {
    site.answer(text(DENY_PRIVATE));
    const robots = open();
    await Promise.all(Array.from({ length: 20 }, (_, i) => robots.verdict(`${site.origin}/${i}`)));
    now += DAY - 1;
    await robots.verdict(`${site.origin}/`);
    expect(site.asked).toEqual(['/robots.txt']);
    now += 1;
    expect(robots.cachedVerdict(`${site.origin}/`)).toBeUndefined();
    await robots.verdict(`${site.origin}/`);
    expect(site.asked).toHaveLength(2);
  });

  it.each([400, 401, 403, 404, 410, 451])('%i allows all', async (status) => {
    site.answer(text('User-agent: *\nDisallow: /', status));
    const store = memoryStore();
    expect(await open({ store }).verdict(`${site.origin}/a`)).toMatchObject({ allowed: true, code: null, status });
    expect(store.entries.get(site.origin)).toEqual({ text: '', status, fetchedAt: now, usableAt: now });
  });

  it.each([429, 500, 503])('%i denies all, and is asked again after ten minutes', async (status) => {
    site.answer(text('', status));
    const robots = open();
    const denied = { allowed: false, code: 'robots-unreachable', status, fault: `status ${status}` };
    expect(await robots.verdict(`${site.origin}/a`)).toMatchObject(denied);
    now += 10 * MINUTE - 1;
    expect(robots.cachedVerdict(`${site.origin}/b`)).toMatchObject(denied);
    now += 1;
    site.answer(text(''));
    expect(await robots.verdict(`${site.origin}/a`)).toMatchObject({ allowed: true, fault: null });
    expect(site.asked).toHaveLength(2);
  });

  const inTenMinutes = (status: number) => (_request: unknown, response: ServerResponse) =>
    void response.writeHead(status, { 'retry-after': '600' }).end();

  it.each([429, 503])(
    '%i with a Retry-After: its end is told, also by the next process and with a copy',
    async (status) => {
      site.answer(inTenMinutes(status));
      const store = memoryStore();
      const restUntil = now + 10 * MINUTE;
      const denied = {
        allowed: false,
        code: 'robots-unreachable',
        fault: `status ${status}`,
        rule: null,
        crawlDelayMs: null,
        sitemaps: [],
        status,
        fetchedAt: now,
        restUntil,
      };
      expect(await open({ store }).verdict(`${site.origin}/a`)).toEqual(denied);
      expect(store.entries.get(site.origin)).toEqual({
        text: '',
        status,
        fetchedAt: now,
        usableAt: null,
        fault: `status ${status}`,
        restUntil,
      });
      expect(await open({ store }).verdict(`${site.origin}/b`)).toEqual(denied);
      expect(site.asked).toHaveLength(1);

      site.answer(text(DENY_PRIVATE));
      now += 10 * MINUTE;
      const robots = open({ store });
      expect(await robots.verdict(`${site.origin}/a`)).not.toHaveProperty('restUntil');
      site.answer(inTenMinutes(status));
      now += DAY;
      const verdicts = [await robots.verdict(`${site.origin}/a`), await robots.verdict(`${site.origin}/private`)];
      expect(verdicts.map(({ allowed, restUntil }) => [allowed, restUntil])).toEqual([
        [true, now + 10 * MINUTE],
        [false, now + 10 * MINUTE],
      ]);
    },
  );

  it('an answer without a Retry-After asks for no pause', async () => {
    site.answer(text('', 503));
    const store = memoryStore();
    expect(await open({ store }).verdict(`${site.origin}/a`)).not.toHaveProperty('restUntil');
    expect(store.entries.get(site.origin)).not.toHaveProperty('restUntil');
  });

  it('says in the log what it could not get, and whether a copy goes on', async () => {
    const said: unknown[] = [];
    const debug = (message: string, fields?: object): void => void said.push([message, fields]);
    const log: Log = { ...silent, debug, warn: debug };
    const { origin } = site;
    site.answer(text('', 503));
    const robots = open({ log });
    await robots.verdict(`${origin}/a`);
    site.answer(text(''));
    now += DAY;
    await robots.verdict(`${origin}/a`);
    site.answer(text('', 500));
    now += DAY;
    await robots.verdict(`${origin}/a`);
    await open({ log, protocol: createGotProtocol({ userAgent: 'incrawl/1' }) }).verdict(`${origin}/a`);
    const message = '127.0.0.1 is a private or reserved address';
    expect(said).toEqual([
      ['robots.txt unreachable', { origin, reason: 'status 503', hasCopy: false }],
      ['robots.txt unreachable', { origin, reason: 'status 500', hasCopy: true }],
      ['robots.txt could not be requested', { origin, code: 'address-blocked', message }],
    ]);
  });

  it.each<[string, RegExp, (response: ServerResponse) => void]>([
    ['a timeout', /^fetch-timeout: /, () => {}],
    ['a reset', /^fetch-aborted: /, (response) => void response.socket?.resetAndDestroy()],
    ['nonsense', /^protocol-error: /, (response) => void response.socket?.end('nonsense')],
    [
      'a coding that cannot be undone',
      /^content-undecodable: .*zstd/,
      (response) => void response.writeHead(200, { 'content-encoding': 'zstd' }).end('x'),
    ],
  ])('%s denies all', async (_name, fault, misbehave) => {
    site.answer((_request, response) => misbehave(response));
    const verdict = await open({ timeoutMs: 150 }).verdict(`${site.origin}/a`);
    expect(verdict).toMatchObject({ allowed: false, code: 'robots-unreachable', status: null });
    expect(verdict.fault).toMatch(fault);
  });

  it('an origin that was not reached: the code of the connection, for this attempt alone', async () => {
    const store = memoryStore();
    const robots = open({ store });
    await site.close();
    for (let attempts = 1; attempts <= 2; attempts++) {
      expect(await robots.verdict(`${site.origin}/a`)).toMatchObject({
        allowed: false,
        code: 'connect-failed',
        fault: expect.stringMatching(/^connect ECONNREFUSED/),
        status: null,
      });
      expect(robots.cachedVerdict(`${site.origin}/a`)).toBeUndefined();
      expect(robots.stats().requests).toBe(attempts);
    }
    expect(store.entries.size).toBe(0);
    expect(await robots.verdict('http://nowhere.invalid/')).toMatchObject({ allowed: false, code: 'dns-failed' });
    const https = site.origin.replace('http:', 'https:');
    site = await startRobotsServer(Number(new URL(https).port));
    expect(await robots.verdict(`${https}/`)).toMatchObject({ allowed: false, code: 'tls-failed' });
    site.answer(text(DENY_PRIVATE));
    expect(await robots.verdict(`${site.origin}/a`)).toMatchObject({ allowed: true, code: null });
  });

  it('while the origin is not reached, the last usable copy goes on', async () => {
    site.answer(text(DENY_PRIVATE));
    const robots = open({ store: memoryStore() });
    await robots.verdict(`${site.origin}/`);
    await site.close();
    now += 2 * DAY;
    expect(await robots.verdict(`${site.origin}/a`)).toMatchObject({
      allowed: true,
      fault: expect.stringMatching(/^connect-failed: connect ECONNREFUSED/),
    });
    expect(robots.cachedVerdict(`${site.origin}/private`)).toMatchObject({ code: 'robots-denied' });
    now += 29 * DAY;
    expect(await robots.verdict(`${site.origin}/a`)).toMatchObject({ allowed: false, code: 'connect-failed' });
    site = await startRobotsServer();
  });

  it.each(['with a store', 'without'])(
    'while the server fails, the last usable copy goes on for 30 days (%s)',
    async (how) => {
      site.answer(text(DENY_PRIVATE));
      const robots = open(how === 'without' ? {} : { store: memoryStore() });
      await robots.verdict(`${site.origin}/`);
      site.answer(text('', 503));
      now += 29 * DAY;
      expect(await robots.verdict(`${site.origin}/public`)).toMatchObject({
        allowed: true,
        status: 503,
        fault: 'status 503',
      });
      expect(robots.cachedVerdict(`${site.origin}/private`)).toMatchObject({ code: 'robots-denied' });
      now += DAY;
      expect(await robots.verdict(`${site.origin}/public`)).toMatchObject({
        allowed: false,
        code: 'robots-unreachable',
      });
    },
  );

  it('uses the copy of an earlier process', async () => {
    site.answer(text(DENY_PRIVATE));
    const store = memoryStore();
    await open({ store }).verdict(`${site.origin}/`);
    now += DAY / 2;
    expect(await open({ store }).verdict(`${site.origin}/private`)).toMatchObject({ allowed: false });
    expect(site.asked).toHaveLength(1);
  });

  it('goes on without a store that fails', async () => {
    site.answer(text(DENY_PRIVATE));
    const warnings: unknown[] = [];
    const disk = new Error('disk');
    const fail = async (): Promise<never> => {
      throw disk;
    };
    const robots = open({
      store: { load: fail, save: fail },
      log: { ...silent, warn: (message, fields) => void warnings.push([message, fields]) },
    });
    expect(await robots.verdict(`${site.origin}/private`)).toMatchObject({ code: 'robots-denied' });
    expect(warnings).toEqual([
      ['stored robots.txt could not be read, it is fetched again', { origin: site.origin, error: disk }],
      [
        'robots.txt could not be stored, it will be fetched again by the next process',
        { origin: site.origin, error: disk },
      ],
    ]);
  });

  it('follows five redirects, also to another origin, and judges the origin asked first', async () => {
    const other = await startRobotsServer();
    other.answer(text('User-agent: *\nDisallow: /private'));
    site.answer((request, response) => {
      const hop = Number(new URL(request.url ?? '', site.origin).searchParams.get('hop') ?? 0);
      const location = hop < 4 ? `/robots.txt?hop=${hop + 1}` : `${other.origin}/else.txt`;
      response.writeHead(302, { location }).end();
    });
    const robots = open();
    expect(await robots.verdict(`${site.origin}/private`)).toMatchObject({ code: 'robots-denied' });
    expect(robots.cachedVerdict(`${other.origin}/private`)).toBeUndefined();
    expect([site.asked.length, other.asked]).toEqual([5, ['/else.txt']]);
    expect(robots.stats().requests).toBe(6);
    await other.close();
  });

  it.each([
    ['a loop', '/robots.txt'],
    ['no target', undefined],
    ['a target of another scheme', 'ftp://127.0.0.1/robots.txt'],
  ])('a redirect with %s counts as no robots.txt', async (_name, location) => {
    site.answer((_request, response) => void response.writeHead(301, location === undefined ? {} : { location }).end());
    expect(await open().verdict(`${site.origin}/`)).toMatchObject({ allowed: true, status: 301 });
    expect(site.asked.length).toBeLessThanOrEqual(6);
  });

  it('a redirect to a private address is not followed', async () => {
    site.answer((_request, response) => void response.writeHead(302, { location: 'http://10.0.0.1/' }).end());
    expect(await open().verdict(`${site.origin}/`)).toMatchObject({ allowed: false, code: 'robots-unreachable' });
  });

  it('a blocked address is refused as its pages are, and leaves no verdict behind', async () => {
    const closed = createGotProtocol({ userAgent: 'incrawl/1' });
    const store = memoryStore();
    const robots = open({ protocol: closed, store });
    expect(await robots.verdict(`${site.origin}/`)).toMatchObject({
      allowed: false,
      code: 'address-blocked',
      fault: '127.0.0.1 is a private or reserved address',
    });
    expect([robots.cachedVerdict(`${site.origin}/`), store.entries.size]).toEqual([undefined, 0]);
    await expect(
      closed.exchange({ url: `${site.origin}/`, method: 'GET', headers: {}, maxBodyBytes: 1000, timeoutMs: 1000 }),
    ).rejects.toMatchObject({ code: 'address-blocked' });
    expect(site.asked).toEqual([]);
    site.answer(text(DENY_PRIVATE));
    expect(await open({ store }).verdict(`${site.origin}/private`)).toMatchObject({ code: 'robots-denied' });
    // A copy from when the address was allowed neither helps nor is lost.
    expect(await open({ protocol: closed, store }).verdict(`${site.origin}/a`)).toMatchObject({ allowed: true });
    now += 2 * DAY;
    expect(await open({ protocol: closed, store }).verdict(`${site.origin}/a`)).toMatchObject({
      allowed: false,
      code: 'address-blocked',
    });
    expect(store.entries.get(site.origin)).toMatchObject({ status: 200 });
  });

  it('a delay beyond the limit is obeyed or leaves the host out, as configured', async () => {
    site.answer(text('User-agent: *\nCrawl-delay: 60\nDisallow: /private'));
    expect(await open().verdict(`${site.origin}/a`)).toMatchObject({ allowed: true, crawlDelayMs: 60_000 });
    const strict = open({ crawlDelayPolicy: 'skip' });
    expect(await strict.verdict(`${site.origin}/a`)).toMatchObject({ allowed: false, code: 'crawl-delay-too-long' });
    expect(await strict.verdict(`${site.origin}/private`)).toMatchObject({ allowed: false, code: 'robots-denied' });
  });

  it('a delay up to the limit leaves nothing out, and without one none is told', async () => {
    const strict = open({ crawlDelayPolicy: 'skip' });
    site.answer(text('User-agent: *\nCrawl-delay: 30'));
    expect(await strict.verdict(`${site.origin}/a`)).toMatchObject({ allowed: true, crawlDelayMs: 30_000 });
    now += DAY;
    site.answer(text('User-agent: *\nDisallow: /private'));
    expect(await strict.verdict(`${site.origin}/a`)).toMatchObject({ allowed: true, crawlDelayMs: null });
  });

  it.each([
    ['below an hour: a day', 3_599, DAY],
    ['an hour: two delays longer', 3_600, DAY + 120 * MINUTE],
    ['a day: two delays longer', 86_400, 3 * DAY],
  ])('how long a file with a delay is used, %s', async (_name, seconds, ms) => {
    site.answer(text(`User-agent: *\nCrawl-delay: ${seconds}`));
    const robots = open();
    await robots.verdict(`${site.origin}/`);
    now += ms - 1;
    expect(robots.cachedVerdict(`${site.origin}/`)).toBeDefined();
    now += 1;
    expect(robots.cachedVerdict(`${site.origin}/`)).toBeUndefined();
  });

  it('a clock that was set back keeps no file for ever', async () => {
    site.answer(text(DENY_PRIVATE));
    const robots = open();
    await robots.verdict(`${site.origin}/`);
    now -= 1;
    expect(robots.cachedVerdict(`${site.origin}/`)).toBeUndefined();
    await robots.verdict(`${site.origin}/`);
    expect(site.asked).toHaveLength(2);
  });

  it('keeps 10,000 origins in memory, and 32 MB of their files', async () => {
    const file = 'User-agent: *\nDisallow: /private\n'.padEnd(1024 * 1024, '#');
    const stored = (text: string): RobotsStore => ({
      load: async () => ({ text, status: 200, fetchedAt: now, usableAt: now }),
      save: async () => {},
    });
    const known = async (store: RobotsStore, origins: number): Promise<number> => {
      const robots = open({ store });
      const urls = Array.from({ length: origins }, (_, i) => `http://h${i}.example/`);
      for (const url of urls) await robots.verdict(url);
      return urls.filter((url) => robots.cachedVerdict(url) !== undefined).length;
    };
    expect(await known(stored(file), 34)).toBe(32);
    expect(await known(stored(''), 10_010)).toBe(10_000);
    expect(site.asked).toEqual([]);
  });

  it('reads no more than 500 KiB', async () => {
    const filler = `User-agent: *\nDisallow: /first\n`.padEnd(500 * 1024, '# filler\n');
    site.answer(text(`${filler}\nDisallow: /last\n`));
    const robots = open();
    expect(await robots.verdict(`${site.origin}/first`)).toMatchObject({ allowed: false });
    expect(await robots.verdict(`${site.origin}/last`)).toMatchObject({ allowed: true });
  });

  it('a rule that lies across the end of 500 KiB is left out, and a character there spoils no other', async () => {
    const across = (head: string, tail: string, before: number): string => {
      const filler = 500 * 1024 - before - Buffer.byteLength(head) - 2;
      return `${head}#${'x'.repeat(filler)}\n${tail}`;
    };
    site.answer(text(across('User-agent: *\n', 'Disallow: /private\nAllow: /\n', 'Disallow: /'.length)));
    expect(await open().verdict(`${site.origin}/page`)).toMatchObject({ allowed: true });
    site.answer(text(across('User-agent: *\nDisallow: /f\u00fcr-uns\n', '\u00fc\n', 1)));
    expect(await open().verdict(`${site.origin}/f%C3%BCr-uns`)).toMatchObject({ allowed: false });
  });

  it('one that broke off may have forbidden anything, so nothing is allowed for now; an older copy goes on', async () => {
    const whole = 'User-agent: *\nDisallow: /private\nDisallow: /desk\n';
    const torn: Parameters<RobotsServer['answer']>[0] = (_request, response) => {
      response.writeHead(200, { 'content-length': whole.length });
      response.write('User-agent: *\nDisallow: /private\n', () => response.destroy());
    };
    site.answer(torn);
    expect(await open().verdict(`${site.origin}/desk`)).toMatchObject({
      code: 'robots-unreachable',
      fault: 'it broke off before its end',
    });
    site.answer(text(whole));
    const robots = open();
    await robots.verdict(`${site.origin}/desk`);
    site.answer(torn);
    now += 2 * DAY;
    expect(await robots.verdict(`${site.origin}/desk`)).toMatchObject({ code: 'robots-denied' });
    expect(await robots.verdict(`${site.origin}/else`)).toMatchObject({ allowed: true });
  });

  it.each(['', '/', '?q=private', '/#x'])('a URL that ends in %j has the origin before it', async (end) => {
    site.answer(text('User-agent: *\nDisallow: /?q=private'));
    const verdict = await open().verdict(site.origin + end);
    expect([verdict.allowed, site.asked]).toEqual([end !== '?q=private', ['/robots.txt']]);
  });
});
