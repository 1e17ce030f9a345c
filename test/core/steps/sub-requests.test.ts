import { describe, expect, it } from 'vitest';
import type { Exchange, ExchangeRequest } from '../../../src/core/ports/fetch-protocol.ts';
import {
  HostGates,
  type PageAnswer,
  ResourceCache,
  type WithRendering,
} from '../../../src/core/steps/render/rendering.ts';
import { SubRequests } from '../../../src/core/steps/render/sub-requests.ts';

const ORIGIN = 'http://a.org';

interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly truncated?: boolean;
}

/** The requests of a page on `a.org`; what is asked for at `/private` is refused by settings. */
function page(answers: Readonly<Record<string, Answer>>, keep?: (answer: PageAnswer) => Promise<void>) {
  const exchange = async ({ url }: ExchangeRequest): Promise<Exchange> => {
    const { status = 200, headers = {}, truncated = false } = answers[url.slice(ORIGIN.length)] ?? {};
    const body = Buffer.from(url);
    const head = { status, statusText: '', httpVersion: '1.1', headers, rawHeaders: [], remoteAddress: null };
    return { head, wireBody: body, body, truncated, bodyBytes: body.length, receivedBytes: body.length, ms: 1 };
  };
  const deps = {
    clock: { now: () => 1_000 },
    sha256Of: () => 'd'.repeat(64),
    robots: { cachedVerdict: () => ({ allowed: true }) },
    lanes: { resting: () => [], pauseUntil: () => {} },
    protocols: new Map([['http', { schemes: ['http'], exchange, close: async () => {} }]]),
    rendering: {
      ...{ cache: new ResourceCache(), gates: new HostGates(), keep },
      refusalOf: (url: string) => (url.includes('/private') ? 'credentials' : null),
      limits: { maxRequests: 100, maxBytes: 1_000_000, blocked: new Set(['image', 'ping']) },
    },
  } as unknown as WithRendering;
  const options = { probe: 'off', maxBodyBytes: 1_000, timeoutMs: 1_000 } as const;
  const requests = new SubRequests(deps, options, { url: `${ORIGIN}/`, host: 'a.org' });
  const ask = (path: string, type = 'fetch', headers: Record<string, string> = {}, method = 'GET') =>
    requests.answer({ url: ORIGIN + path, method, type, headers });
  return { requests, ask };
}

describe('what a page asks for', () => {
  it('is kept as it came, each redirect with it, and is what the page needs', async () => {
    const kept: string[] = [];
    const { requests, ask } = page({ '/old.js': { status: 302, headers: { location: '/new.js' } } }, async (answer) => {
      kept.push(`${answer.exchange.head.status} ${answer.url} for ${answer.from}`);
    });
    await ask('/old.js', 'script');
    await ask('/data.json#part');
    await requests.kept();
    expect(kept).toEqual(
      ['302 /old.js', '200 /new.js', '200 /data.json'].map(
        (line) => `${line.replace(' ', ` ${ORIGIN}`)} for ${ORIGIN}/`,
      ),
    );
    expect(requests.needed).toEqual([`${ORIGIN}/old.js`, `${ORIGIN}/data.json`]);
  });

  it('is needed where the page is only rendered without it, and kept by nobody', async () => {
    const kept: string[] = [];
    const { requests, ask } = page({}, async ({ url }) => void kept.push(url));
    expect([await ask('/picture.png', 'image'), await ask('/beacon', 'ping'), await ask('/private', 'image')]).toEqual([
      null,
      null,
      null,
    ]);
    expect([kept, requests.needed]).toEqual([[], [`${ORIGIN}/picture.png`]]);
  });

  it.each<[string, Answer, Record<string, string>, string]>([
    ['/part', { status: 206 }, {}, 'GET'],
    ['/cut', { truncated: true }, {}, 'GET'],
    ['/stream', { headers: { 'content-type': 'text/event-stream' } }, {}, 'GET'],
    ['/own', {}, { authorization: 'Bearer of.the.page' }, 'GET'],
    ['/head', {}, {}, 'HEAD'],
    ['/sent', {}, {}, 'POST'],
  ])('is not kept where it is no whole answer to a plain GET: %s', async (path, answer, headers, method) => {
    const kept: string[] = [];
    const { requests, ask } = page({ [path]: answer }, async ({ url }) => void kept.push(url));
    await ask(path, 'fetch', headers, method);
    await requests.kept();
    expect(kept).toEqual([]);
    expect(requests.needed.filter((url) => !/\/(?:part|cut)$/.test(url))).toEqual([]);
  });

  it('is noted as confirmed where a 304 says so, and a fault of the disk is one of the visit', async () => {
    const kept: PageAnswer[] = [];
    const data = page({ '/data.json': { status: 304 } }, async (answer) => void kept.push(answer));
    const input = { url: `${ORIGIN}/data.json`, digest: 'e'.repeat(32), etag: '"1"', lastModified: null };
    expect(await data.requests.isSame(input)).toBe(true);
    expect(kept).toMatchObject([{ url: input.url, confirms: input.digest }]);
    const faulty = page({}, () => Promise.reject(new Error('no space')));
    await faulty.ask('/a.json');
    await expect(faulty.requests.kept()).rejects.toThrow('no space');
  });

  it('is neither noted nor kept without requisites', async () => {
    const { requests, ask } = page({});
    await ask('/a.js', 'script');
    await ask('/picture.png', 'image');
    expect(requests.needed).toEqual([]);
  });
});
