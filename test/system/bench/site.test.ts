import { spawn } from 'node:child_process';
import { get, type IncomingHttpHeaders } from 'node:http';
import { join, resolve } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CodedBodies, codingFor } from '../../../bench/crawl/coded-bodies.ts';
import type { Site, SiteChange, SiteLog } from '../../../bench/crawl/site-process.ts';

const SITE = join(resolve(import.meta.dirname, '../../..'), 'dist/bench/crawl/site.js');

interface Answer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

describe('codings of the bench site', () => {
  it.each([
    [0, 'gzip, br', 'identity'],
    [1, 'gzip, br', 'gzip'],
    [1, '', 'identity'],
    [2, 'gzip, br', 'br'],
    [2, 'gzip', 'gzip'],
    [2, 'deflate', 'identity'],
    [7, 'gzip, br', 'br'],
  ] as const)('host %i, accepted: %s', (host, accepted, coding) => {
    expect(codingFor(host, accepted)).toBe(coding);
  });

  it('a changed page is not answered by the body kept before', () => {
    let text = 'one';
    const bodies = new CodedBodies(() => text, true);
    expect(String(bodies.bodyOf(1, 0, 'identity'))).toBe('one');
    text = 'two';
    expect(String(bodies.bodyOf(1, 0, 'identity'))).toBe('one');
    expect(String(bodies.bodyOf(1, 1, 'identity'))).toBe('two');
  });
});

describe('the bench site', () => {
  const site: Site = { pages: 100, hosts: 5, make: 'light' };
  const child = spawn(process.execPath, [SITE, JSON.stringify(site)], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  let origins: string[] = [];
  const ask = (page: number, headers: Record<string, string> = {}): Promise<Answer> =>
    new Promise((done, fail) => {
      get(`${origins[page % 5]}/page/${page}.html`, { headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () =>
          done({ status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) }),
        );
      }).on('error', fail);
    });
  const control = async <Value>(path: string): Promise<Value> =>
    (await fetch(`${origins[0]}/control/${path}`)).json() as Promise<Value>;
  const all = { 'accept-encoding': 'gzip, br' };

  beforeAll(async () => {
    const line = await new Promise<string>((done) => child.stdout?.once('data', (chunk) => done(String(chunk))));
    origins = JSON.parse(line) as string[];
  });
  afterAll(() => child.disconnect());

  it('sends the same page plain, by gzip and by Brotli, each with its length and its entity tag', async () => {
    // Page 12 lies on a host of Brotli and answers 304.
    const [plain, gzip, br] = [await ask(12), await ask(12, { 'accept-encoding': 'gzip' }), await ask(12, all)];
    expect([plain, gzip, br].map(({ headers }) => headers['content-encoding'])).toEqual([undefined, 'gzip', 'br']);
    expect(gunzipSync(gzip.body)).toEqual(plain.body);
    expect(brotliDecompressSync(br.body)).toEqual(plain.body);
    for (const { headers, body } of [plain, gzip, br]) expect(Number(headers['content-length'])).toBe(body.length);
    expect(new Set([plain, gzip, br].map(({ headers }) => headers.etag)).size).toBe(3);
    expect((await ask(12, { ...all, 'if-none-match': br.headers.etag! })).status).toBe(304);
    expect((await ask(12, { ...all, 'if-none-match': gzip.headers.etag! })).status).toBe(200);
  });

  it('by page answers 304 to an entity tag, to neither, to both', async () => {
    const statuses = [];
    for (const page of [30, 31, 32]) {
      const { etag = '"-"', 'last-modified': since = 'Thu, 01 Jan 1970 00:00:00 GMT' } = (await ask(page)).headers;
      const answers = [await ask(page, { 'if-none-match': etag }), await ask(page, { 'if-modified-since': since })];
      statuses.push(answers.map(({ status }) => status));
    }
    expect(statuses).toEqual([
      [304, 200],
      [200, 200],
      [304, 304],
    ]);
  });

  it('counts pages, pages sent twice, and bodies of pages that had not changed', async () => {
    await control('log');
    const bytes = (await ask(3)).body.length + (await ask(4)).body.length + (await ask(4)).body.length;
    const first = await control<SiteLog>('log');
    expect(first).toEqual({ requests: 3, bodyBytes: bytes, pages: 2, twice: 1, needless: 1 });
    const change = await control<SiteChange>('change');
    // Pages 10, 31, 52, 73 and 94 change, one on each host; 42, 45, .. 99 are removed.
    expect(change).toMatchObject({ changed: 5, removed: 20 });
    expect((await ask(99)).status).toBe(404);
    const sent = [await ask(31, all), await ask(52, all), await ask(3), await ask(4)].map(({ body }) => body.length);
    expect(change.bytes).toBeGreaterThan(sent[0]! + sent[1]!);
    expect(await control<SiteLog>('log')).toMatchObject({ pages: 4, twice: 0, needless: 1 });
  });
});
