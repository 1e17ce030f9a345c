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
    expect(await open().verdict(`${site.origin}/a`)).toMatchObject({ allowed: true, code: null, status });
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
    const warnings: string[] = [];
    const fail = async (): Promise<never> => {
      throw new Error('disk');
    };
    const robots = open({
      store: { load: fail, save: fail },
      log: { ...silent, warn: (message) => void warnings.push(message) },
    });
    expect(await robots.verdict(`${site.origin}/private`)).toMatchObject({ code: 'robots-denied' });
    expect(warnings).toHaveLength(2);
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
