import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ExportDocument, ExportSink, ExportTarget } from 'incrawl/plugin';
import { madeDocument, testHost, testPlugin } from 'incrawl/plugin-testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { idOf } from './bulk.ts';
import plugin from './plugin.ts';

/** A server with the bulk interface of OpenSearch and Elasticsearch over a map. */
let server: Server;
let place = '';
let stored: Map<string, ExportDocument>;
let requests: { path: string; actions: number; bytes: number; authorization: string | undefined }[];
/** Status by id, once: what the server does instead of taking the action. */
let trouble: Map<string, number[]>;
/** Statuses of whole requests, in turn. */
let broken: number[];

beforeEach(async () => {
  [stored, requests, trouble, broken] = [new Map(), [], new Map(), []];
  server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request.setEncoding('utf8')) body += chunk;
    const status = broken.shift();
    if (status !== undefined) return response.writeHead(status).end();
    const lines = body.split('\n');
    if (lines.pop() !== '') return response.writeHead(400).end('the body must end in a line feed');
    const items: object[] = [];
    while (lines.length > 0) {
      const [[kind, { _id: id }] = ['', { _id: '' }]] = Object.entries(
        JSON.parse(lines.shift() as string) as Record<string, { _id: string }>,
      );
      const document = kind === 'index' ? (JSON.parse(lines.shift() as string) as ExportDocument) : null;
      const refusal = trouble.get(id)?.shift();
      const isThere = stored.has(id);
      if (refusal !== undefined) {
        items.push({ [kind]: { status: refusal, error: { type: 'trouble', reason: 'not today' } } });
        continue;
      }
      if (document === null) stored.delete(id);
      else stored.set(id, document);
      items.push({ [kind]: { status: document !== null ? 201 : isThere ? 200 : 404 } });
    }
    const { url = '', headers } = request;
    requests.push({ path: url, actions: items.length, bytes: body.length, authorization: headers.authorization });
    const errors = items.some((item) => Object.values(item as Record<string, { status: number }>)[0]?.status !== 201);
    return response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ errors, items }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  place = `http://127.0.0.1:${(server.address() as AddressInfo).port}/pages`;
});
afterEach(async () => {
  delete process.env.INCRAWL_SEARCH_AUTHORIZATION;
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

const page = (url: string, text = 'text'): ExportDocument => madeDocument(url, { text });
const noContent = { response: async () => null, markdown: async () => null };

async function open(
  options: Readonly<Record<string, unknown>> = {},
  target: Partial<ExportTarget> = {},
): Promise<ExportSink> {
  const exporter = await plugin.setup(
    testHost,
    plugin.options?.parse({ firstPauseMs: 0, retries: 3, ...options }) as never,
  );
  if (!('open' in exporter)) throw new Error('it opens a sink');
  const write = async (): Promise<void> => {};
  const sorted: ExportTarget['sorted'] = (lines) => lines;
  const partial: ExportTarget['partial'] = (file) => `${file}.partial`;
  const crawl = { userAgent: 'test', operator: '', robots: 'classic' } as const;
  return exporter.open({ place, isIncremental: false, software: 'test', crawl, write, partial, sorted, ...target });
}

describe('exporter-opensearch', () => {
  it('keeps the contract of its kind; pages are there under their URLs, removed ones are not', async () => {
    await testPlugin(plugin, { place, options: { firstPauseMs: 0 } });
    expect([...stored.keys()].sort()).toEqual([
      'http://example.org/missing',
      'https://example.org/a/b%20c/CON?x=1&y=%2F..%2F',
    ]);
    expect(stored.get('https://example.org/a/b%20c/CON?x=1&y=%2F..%2F')).toMatchObject({ title: '=1+1', depth: 3 });
    expect(requests.every(({ path }) => path.startsWith('/pages/_bulk?filter_path='))).toBe(true);
  });

  it('bounds batches by bytes and by pages', async () => {
    const sink = await open({ batchBytes: 2_000, batchPages: 3 });
    for (let i = 0; i < 4; i++) await sink.document(page(`http://e.example/${i}`), noContent);
    await sink.document(page('http://e.example/large', 'x'.repeat(5_000)), noContent);
    for (let i = 5; i < 8; i++) await sink.document(page(`http://e.example/${i}`, 'x'.repeat(900)), noContent);
    await sink.close();
    expect(requests.map(({ actions }) => actions)).toEqual([3, 1, 1, 1, 1, 1]);
    expect(requests.filter(({ bytes }) => bytes > 2_000)).toHaveLength(1);
    expect(stored.size).toBe(8);
  });

  it('sends again what a busy server puts off, and only that', async () => {
    broken = [503, 429];
    trouble.set('http://e.example/b', [429, 503]);
    const sink = await open();
    for (const name of ['a', 'b', 'c']) await sink.document(page(`http://e.example/${name}`), noContent);
    await sink.close();
    expect(requests.map(({ actions }) => actions)).toEqual([3, 1, 1]);
    expect([...stored.keys()]).toEqual(['http://e.example/a', 'http://e.example/c', 'http://e.example/b']);
  });

  it('indexes what it can, then says what was refused', async () => {
    trouble.set('http://e.example/a', [400]);
    const sink = await open();
    for (const name of ['a', 'b']) await sink.document(page(`http://e.example/${name}`), noContent);
    await expect(sink.close()).rejects.toThrow(
      'the server refused 1 documents: http://e.example/a: status 400 trouble: not today',
    );
    expect([...stored.keys()]).toEqual(['http://e.example/b']);
  });

  it('gives up on a server that puts off without end', async () => {
    trouble.set(
      'http://e.example/a',
      Array.from({ length: 9 }, () => 429),
    );
    const sink = await open();
    await sink.document(page('http://e.example/a'), noContent);
    await expect(sink.close()).rejects.toThrow('postponed 1 document 4 times');
  });

  it('takes credentials from the environment, an index from the address', async () => {
    process.env.INCRAWL_SEARCH_AUTHORIZATION = 'ApiKey abc';
    const sink = await open();
    await sink.removed({ url: 'http://e.example/', state: 'gone', target: null, contentType: null });
    await sink.close();
    expect(requests).toMatchObject([{ authorization: 'ApiKey abc', actions: 1 }]);
    await expect(async () => open({}, { place: new URL('/', place).href })).rejects.toThrow('name of an index');
    await expect(async () => open({}, { place: null })).rejects.toThrow('--output URL');
  });

  it('names documents by their URLs, or by a digest where these are too long', () => {
    expect(idOf('http://e.example/')).toBe('http://e.example/');
    expect(idOf(`http://e.example/${'x'.repeat(600)}`)).toMatch(/^sha256:[0-9a-f]{64}$/);
  });
});
