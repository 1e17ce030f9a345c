import { describe, expect, it } from 'vitest';
import { CrawlError, type ErrorCode } from '../../src/core/domain/errors.ts';
import type { Exchange, ExchangeRequest, FetchProtocol } from '../../src/core/ports/fetch-protocol.ts';
import { decodeRobots, fetchRobots, type RobotsAccess } from '../../src/http/robots/robots-fetch.ts';
import { MAX_ROBOTS_BYTES } from '../../src/http/robots/robots-reader.ts';

const NOW = Date.UTC(2026, 0, 1);
const ORIGIN = 'https://a.example';

interface Answer extends Partial<Exchange> {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** What a server answers in turn, and what was asked for; turns of the host are in between. */
async function fetched(...answers: readonly (Answer | Error)[]) {
  const asked: string[] = [];
  const requests: ExchangeRequest[] = [];
  const left = [...answers];
  const protocol: FetchProtocol = {
    schemes: ['http', 'https'],
    close: async () => {},
    async exchange(request) {
      asked.push(request.url);
      requests.push(request);
      const answer = left.shift();
      if (answer === undefined) throw new TypeError(`nothing answers ${request.url}`);
      if (answer instanceof Error) throw answer;
      const { status, headers = {}, ...more } = answer;
      const head = { status, statusText: '', httpVersion: '1.1', headers, rawHeaders: [], remoteAddress: null };
      const nothing = { body: null, wireBody: null, truncated: false, bodyBytes: 0, receivedBytes: 100, ms: 1 };
      return { head, ...nothing, ...more };
    },
  };
  const traffic = { requests: 0, receivedBytes: 0 };
  const clock = { now: () => NOW, sleep: async () => {} };
  const nextTurn = async (): Promise<void> => void asked.push('turn');
  const access: RobotsAccess = await fetchRobots(protocol, ORIGIN, 3_000, traffic, clock, nextTurn);
  return { access, asked, requests, traffic, unused: left.length };
}

const to = (location: string): Answer => ({ status: 301, headers: { location } });
const body = (text: string): Pick<Exchange, 'body'> => ({ body: Buffer.from(text) });
const fault = (code: ErrorCode): CrawlError => new CrawlError(code, `it is ${code}`);
const unreachable = (status: number | null, reason: string, restUntil: number | null = null): RobotsAccess => ({
  ...({ kind: 'unreachable', status, reason, restUntil } as const),
});

it('asks for robots.txt of the origin, with one byte more than is read', async () => {
  const { access, requests, traffic } = await fetched({ status: 200, ...body('Disallow: /') });
  expect(access).toEqual({ kind: 'found', text: 'Disallow: /', status: 200 });
  expect(requests).toEqual([
    {
      ...{ url: 'https://a.example/robots.txt', method: 'GET', timeoutMs: 3_000, maxBodyBytes: MAX_ROBOTS_BYTES + 1 },
      headers: { accept: 'text/plain,*/*;q=0.8' },
    },
  ]);
  expect(traffic).toEqual({ requests: 1, receivedBytes: 100 });
});

const retry = (seconds: number) => ({ headers: { 'retry-after': String(seconds) } });

it.each([
  ['200 without a body', { status: 200 }, { kind: 'found', text: '', status: 200 }],
  ['any other success', { status: 299, ...body('a') }, { kind: 'found', text: 'a', status: 299 }],
  ['a part', { status: 206, ...body('a') }, unreachable(206, 'status 206, a part of it')],
  ['a body that broke off', { status: 200, brokenOff: true }, unreachable(200, 'it broke off before its end')],
  ['400', { status: 400 }, { kind: 'none', status: 400 }],
  ['404', { status: 404, ...retry(60) }, { kind: 'none', status: 404 }],
  ['499', { status: 499 }, { kind: 'none', status: 499 }],
  ['429', { status: 429 }, unreachable(429, 'status 429')],
  ['429 with a pause', { status: 429, ...retry(60) }, unreachable(429, 'status 429', NOW + 60_000)],
  ['503 with a pause', { status: 503, ...retry(60) }, unreachable(503, 'status 503', NOW + 60_000)],
  ['500, whose pause is none', { status: 500, ...retry(60) }, unreachable(500, 'status 500')],
  ['a status that is no answer', { status: 199 }, unreachable(199, 'status 199')],
  ['a redirect to nowhere', { status: 302 }, { kind: 'none', status: 302 }],
  ['a redirect to no URL', to('http://['), { kind: 'none', status: 301 }],
  ['a redirect to another scheme', to('ftp://a.example/'), { kind: 'none', status: 301 }],
  ['304', { status: 304 }, { kind: 'none', status: 304 }],
] as [string, Answer, RobotsAccess][])('an answer: %s', async (_name, answer, access) => {
  expect((await fetched(answer)).access).toEqual(access);
});

describe('redirects', () => {
  it('within the host wait for its next turn, those to other hosts do not', async () => {
    const hops = [to('/a'), to('http://a.example/b'), to('https://b.example/c'), to('https://a.example/d')];
    const { access, asked, traffic } = await fetched(...hops, { status: 200, ...body('x') });
    expect(asked).toEqual([
      'https://a.example/robots.txt',
      ...['turn', 'https://a.example/a'],
      ...['turn', 'http://a.example/b'],
      'https://b.example/c',
      ...['turn', 'https://a.example/d'],
    ]);
    expect(access).toEqual({ kind: 'found', text: 'x', status: 200 });
    expect(traffic).toEqual({ requests: 5, receivedBytes: 500 });
  });

  it('are followed five times', async () => {
    const hops = (count: number): Answer[] => Array.from({ length: count }, (_, i) => to(`/${i}`));
    expect((await fetched(...hops(5), { status: 200 })).access).toMatchObject({ kind: 'found' });
    expect(await fetched(...hops(6), { status: 200 })).toMatchObject({
      access: { kind: 'none', status: 301 },
      unused: 1,
    });
  });

  it.each([300, 399])('status %i is one', async (status) => {
    expect((await fetched({ ...to('/a'), status }, { status: 200, ...body('x') })).access).toMatchObject({ text: 'x' });
  });

  it('a pause that another host asks for is not one of this host', async () => {
    const { access } = await fetched(to('https://b.example/'), { status: 429, ...retry(60) });
    expect(access).toEqual(unreachable(429, 'status 429'));
  });
});

describe('a request that fails', () => {
  it.each(['dns-failed', 'connect-failed', 'tls-failed', 'address-blocked'] as const)('is none: %s', async (code) => {
    const { access, traffic } = await fetched(fault(code));
    expect(access).toEqual({ kind: 'not-asked', code, message: `it is ${code}` });
    expect(traffic).toEqual({ requests: 1, receivedBytes: 0 });
  });

  it.each(['dns-failed', 'address-blocked'] as const)('leaves all denied behind a redirect: %s', async (code) => {
    expect((await fetched(to('/a'), fault(code))).access).toEqual(unreachable(null, `${code}: it is ${code}`));
  });

  it('leaves all denied', async () => {
    expect((await fetched(fault('fetch-timeout'))).access).toEqual(
      unreachable(null, 'fetch-timeout: it is fetch-timeout'),
    );
  });

  it('by this machine, or by a fault of the program, is thrown', async () => {
    await expect(fetched(fault('system-limit'))).rejects.toMatchObject({ code: 'system-limit' });
    await expect(fetched(new RangeError('a fault'))).rejects.toThrow('a fault');
  });
});

it.each([
  ['a mark of UTF-16, low byte first', 'fffe6100', 'a'],
  ['a mark of UTF-16, high byte first', 'feff0061', 'a'],
  ['UTF-16 without a mark, low byte first', '61006200', 'ab'],
  ['UTF-16 without a mark, high byte first', '00610062', 'ab'],
  ['half of a mark', 'ff61', 'ÿa'],
  ['the other half', 'fe61', 'þa'],
  ['one character and a zero', '610062', 'a\0b'],
  ['zeros', '00000000', '\0\0\0\0'],
  ['two zeros in a row', '61000000', 'a\0\0\0'],
  ['a zero before', '00006100', '\0\0a\0'],
  ['a first byte that is no mark', '41fe61', 'Aþa'],
  ['nor this', '41ff61', 'Aÿa'],
  ['a zero at the end', '61626300', 'abc\0'],
  ['a zero in third place', '61620063', 'ab\0c'],
  ['a zero at the beginning', '00616263', '\0abc'],
  ['Latin-1', '61e9', 'aé'],
  ['UTF-8', '61c3a9', 'aé'],
])('robots.txt is read by its bytes: %s', (_name, hex, text) => {
  expect(decodeRobots(Buffer.from(hex, 'hex'))).toBe(text);
});

it('of a file that is too long the line that is cut is left out, and half a character makes no other text', () => {
  const long = Buffer.alloc(MAX_ROBOTS_BYTES + 1, 'a\n');
  long.write('é', MAX_ROBOTS_BYTES - 1);
  const text = decodeRobots(long);
  expect(text).toMatch(/^a\n.*\n?$/s);
  expect(text).not.toContain('Ã');
  const whole = Buffer.alloc(MAX_ROBOTS_BYTES, 'a\n');
  whole.write('b', MAX_ROBOTS_BYTES - 1);
  expect(decodeRobots(whole).endsWith('ab')).toBe(true);
  const torn = Buffer.concat([whole, Buffer.from('b')]);
  expect(decodeRobots(torn).endsWith('ab')).toBe(false);
});

it('a file that is too long ends with its last whole line, also where a character is cut', () => {
  const file = Buffer.alloc(MAX_ROBOTS_BYTES - 1, 'x');
  file.set(Buffer.from('é\n'));
  expect(decodeRobots(Buffer.concat([file, Buffer.from('é\nz')]))).toBe('é\n');
  expect(decodeRobots(Buffer.concat([file, Buffer.from('y')]))).toHaveLength(MAX_ROBOTS_BYTES - 1);
});
