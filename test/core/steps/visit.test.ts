import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { validatorsOf } from '../../../src/core/domain/crawl/headers/ladder.ts';
import { NO_VALIDATORS } from '../../../src/core/domain/crawl/states/datum.ts';
import type { FetchOutcome } from '../../../src/core/domain/crawl/states/outcome.ts';
import { NO_HOST_FACTS } from '../../../src/core/ports/crawl-db.ts';
import type { FetchProtocol, ResponseHead } from '../../../src/core/ports/fetch-protocol.ts';
import type { FetchItem, WireResponse } from '../../../src/core/ports/segment-store.ts';
import { visit } from '../../../src/core/steps/fetch/visit.ts';
import type { VisitDeps, VisitOptions } from '../../../src/core/steps/fetch/visit-result.ts';

const sha256Of = (body: Uint8Array): string => createHash('sha256').update(body).digest('hex');
const BODY = Buffer.from('<p>the same as ever');

const ITEM: FetchItem = {
  index: 0,
  url: 'http://a.org/',
  host: 'a.org',
  partition: 0,
  depth: 0,
  score: 1,
  metadata: {},
  validators: NO_VALIDATORS,
  digest: sha256Of(BODY).slice(0, 32),
  audit: false,
};
const DEPS: VisitDeps = { clock: { now: () => 0, sleep: async () => {} }, sha256Of };
const OPTIONS: VisitOptions = { probe: 'auto', maxBodyBytes: 1_000, timeoutMs: 1_000 };

/** What is stored of an answer; the protocol obeys `drop`, as the real one does. */
async function storedOf(
  status: number,
  headers: Record<string, string>,
  body: Buffer,
  wireBody: Buffer = body,
): Promise<WireResponse> {
  const head: ResponseHead = {
    status,
    statusText: '',
    httpVersion: '1.1',
    headers,
    rawHeaders: Object.entries(headers).flat(),
    remoteAddress: null,
  };
  const protocol: FetchProtocol = {
    schemes: ['http'],
    close: async () => {},
    async exchange({ onHead }) {
      const isRead = onHead?.(head) !== 'drop';
      const given = isRead ? { body, wireBody } : { body: null, wireBody: null };
      return { head, ...given, truncated: false, bodyBytes: 0, receivedBytes: 0, ms: 0 };
    },
  };
  const { response } = await visit(DEPS, OPTIONS, { protocol, item: ITEM, host: NO_HOST_FACTS });
  return response as WireResponse;
}

describe('the stored response of a visit', () => {
  it.each<[string, number, Record<string, string>, WireResponse['truncated']]>([
    ['a redirect with an empty body', 301, { location: '/b', 'content-length': '0' }, false],
    ['a redirect with a body, which is not read', 302, { location: '/b', 'content-length': '154' }, 'unspecified'],
    ['a 404 without a body', 404, { 'content-length': '0' }, false],
    ['a 404 whose body ends with the connection', 404, {}, 'unspecified'],
    ['a 500 with a chunked body', 500, { 'transfer-encoding': 'chunked' }, 'unspecified'],
  ])('%s', async (_, status, headers, truncated) => {
    const response = await storedOf(status, headers, BODY);
    expect([response.body, response.truncated, response.revisit]).toEqual([null, truncated, null]);
  });

  it('an equal body is a revisit that can be digested, and is digested once', async () => {
    const response = await storedOf(200, {}, BODY);
    expect(response.revisit).toBe('identical-payload-digest');
    expect([response.body, response.bodySha256]).toEqual([BODY, sha256Of(BODY)]);
  });

  it('an equal body under a coding is digested as transferred', async () => {
    const coded = Buffer.from('coded');
    const response = await storedOf(200, { 'content-encoding': 'gzip' }, BODY, coded);
    expect([response.revisit, response.body, response.bodySha256]).toEqual([
      'identical-payload-digest',
      coded,
      undefined,
    ]);
  });
});

const SINCE = { 'last-modified': 'Mon, 02 Nov 2026 10:00:00 GMT', 'content-length': '3' };
const TAG = { etag: '"1"' };

/**
 * A page of known claims is asked for; the server answers as the test says, by method and whether there is a condition.
 */
async function claimed(
  probe: 'headers' | 'head',
  validators: Readonly<Record<string, string>>,
  robotsTag: string | null,
  answer: (method: string, isConditional: boolean) => { status: number; headers: Record<string, string> },
): Promise<{ asked: string[]; outcome: FetchOutcome; turns: number }> {
  const asked: string[] = [];
  const protocol: FetchProtocol = {
    schemes: ['http'],
    close: async () => {},
    async exchange({ method, headers, onHead }) {
      const isConditional = Object.keys(headers).some((name) => name.startsWith('if-'));
      asked.push(isConditional ? `${method} if` : method);
      const head: ResponseHead = {
        ...answer(method, isConditional),
        statusText: '',
        httpVersion: '1.1',
        rawHeaders: [],
        remoteAddress: null,
      };
      const isRead = method === 'GET' && onHead?.(head) !== 'drop';
      const given = isRead ? { body: BODY, wireBody: BODY } : { body: null, wireBody: null };
      return { head, ...given, truncated: false, bodyBytes: 0, receivedBytes: 0, ms: 0 };
    },
  };
  const item: FetchItem = {
    ...ITEM,
    validators: validatorsOf(validators),
    claims: { contentType: 'text/html; charset=utf-8', robotsTag },
  };
  let turns = 0;
  const nextTurn = async (): Promise<void> => {
    turns++;
  };
  const { outcome } = await visit(DEPS, { ...OPTIONS, probe }, { protocol, item, host: NO_HOST_FACTS, nextTurn });
  return { asked, outcome, turns };
}

describe('headers that change while the body stays the same', () => {
  const noindex = { 'x-robots-tag': 'noindex' };
  it.each<['headers' | 'head', Record<string, string>, number, string[]]>([
    ['headers', {}, 200, ['GET']],
    ['headers', SINCE, 200, ['GET if']],
    ['headers', TAG, 304, ['GET if', 'GET']],
    ['head', SINCE, 200, ['HEAD if', 'GET']],
    ['head', { ...SINCE, ...TAG }, 304, ['HEAD if', 'GET']],
  ])('a new tag is found by %s with %j, answered by %i', async (probe, validators, status, requests) => {
    const answer = (_: string, isConditional: boolean) => ({
      status: isConditional ? status : 200,
      headers: { ...validators, ...noindex },
    });
    const { asked, outcome, turns } = await claimed(probe, validators, null, answer);
    expect(asked).toEqual(requests);
    expect(turns).toBe(requests.length - 1);
    expect(outcome).toMatchObject({ kind: 'success', robotsTag: 'noindex' });
    const again = await claimed(probe, validators, 'NoIndex', answer);
    expect(again.asked).toEqual(requests.slice(0, 1));
    expect(again.outcome.kind).toBe('unchanged');
  });

  it.each<[string, Record<string, string>, 'success' | 'unchanged']>([
    ['none', {}, 'unchanged'],
    ['in another spelling', { 'content-type': 'TEXT/html;Charset="UTF8"; x=y' }, 'unchanged'],
    ['of another charset', { 'content-type': 'text/html; charset=koi8-r' }, 'success'],
    ['of another kind', { 'content-type': 'text/plain; charset=utf-8' }, 'success'],
  ])('a type: %s', async (_, type, kind) => {
    const { outcome } = await claimed('headers', SINCE, null, () => ({ status: 200, headers: { ...SINCE, ...type } }));
    expect(outcome.kind).toBe(kind);
  });

  it('a 304 need not repeat the X-Robots-Tag, and its Content-Type is ignored', async () => {
    const headers = { ...TAG, 'content-type': 'text/plain' };
    const { asked, outcome } = await claimed('headers', TAG, 'noindex', () => ({ status: 304, headers }));
    expect(asked).toEqual(['GET if']);
    expect(outcome.kind).toBe('unchanged');
  });

  it('the page is unchanged even where HEAD and GET never agree', async () => {
    const answer = (method: string) => ({ status: 200, headers: method === 'HEAD' ? { ...SINCE, ...noindex } : SINCE });
    const { asked, outcome } = await claimed('head', SINCE, null, answer);
    expect(asked).toEqual(['HEAD if', 'GET']);
    expect(outcome.kind).toBe('unchanged');
  });
});
