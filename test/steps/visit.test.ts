import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { NO_HOST_FACTS } from '../../src/ports/crawl-db.ts';
import type { FetchProtocol, ResponseHead } from '../../src/ports/fetch-protocol.ts';
import type { FetchItem, WireResponse } from '../../src/ports/segment-store.ts';
import { visit } from '../../src/steps/visit.ts';

const sha256Of = (body: Uint8Array): string => createHash('sha256').update(body).digest('hex');
const BODY = Buffer.from('<p>the same as ever');

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
  const item: FetchItem = {
    index: 0,
    url: 'http://a.org/',
    host: 'a.org',
    partition: 0,
    depth: 0,
    score: 1,
    metadata: {},
    validators: { etag: null, lastModified: null, contentLength: null },
    digest: sha256Of(BODY).slice(0, 32),
    audit: false,
  };
  const room = {
    clock: { now: () => 0, sleep: async () => {} },
    sha256Of,
    parseRetryAfter: () => null,
    probe: 'auto',
    maxBodyBytes: 1_000,
    timeoutMs: 1_000,
  } as const;
  const { response } = await visit(room, protocol, item, NO_HOST_FACTS);
  return response as WireResponse;
}

describe('what a visit stores', () => {
  it.each<[string, number, Record<string, string>, boolean]>([
    ['a redirect with an empty body', 301, { location: '/b', 'content-length': '0' }, false],
    ['a redirect with a body, which is not read', 302, { location: '/b', 'content-length': '154' }, true],
    ['a 404 without a body', 404, { 'content-length': '0' }, false],
    ['a 404 whose body ends with the connection', 404, {}, true],
    ['a 500 with a chunked body', 500, { 'transfer-encoding': 'chunked' }, true],
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
