import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ExportDocument, ExportSink, ExportTarget } from 'incrawl/plugin';
import { madeDocument, testHost, testPlugin } from 'incrawl/plugin-testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { documentOf } from './documents.ts';
import plugin from './plugin.ts';

type Stored = Readonly<Record<string, unknown>>;

/** The update handler of a core, as strict as Solr: it ends a request at the first document that it refuses. */
let server: Server;
let place = '';
let core: Map<string, Stored>;
let requests: { target: string; adds: number; deletes: number; bytes: number; authorization: string | undefined }[];
/** Statuses of whole requests, in turn. */
let broken: number[];
/** Keys of documents that are refused. */
let refused: Set<string>;
/** Refused documents are listed in an answer of status 200, as by TolerantUpdateProcessor. */
let isTolerant = false;

const answer = (status: number, more: object = {}): string =>
  JSON.stringify({ responseHeader: { status: status === 200 ? 0 : status, QTime: 1, ...more } });
const fault = (status: number, msg: string): string =>
  JSON.stringify({
    responseHeader: { status, QTime: 1 },
    error: { metadata: [`error-class ${'x'.repeat(300)}`], msg, code: status },
  });

function apply(update: unknown): { adds: number; deletes: number; errors: object[]; fault: string | null } {
  const errors: object[] = [];
  const done = { adds: 0, deletes: 0, errors };
  if (!Array.isArray(update)) {
    const keys = (update as { delete?: unknown }).delete;
    if (!Array.isArray(keys) || keys.some((key) => typeof key !== 'string'))
      return { ...done, fault: 'no such command' };
    for (const key of keys) core.delete(key as string);
    return { ...done, deletes: keys.length, fault: null };
  }
  for (const document of update as Stored[]) {
    const { id } = document;
    const nested = Object.entries(document).find(([, value]) => value === null || isObject(value));
    if (nested !== undefined) return { ...done, fault: `field ${nested[0]}: no value, or an atomic update` };
    if (typeof id !== 'string') return { ...done, fault: 'Document is missing mandatory uniqueKey field: id' };
    if (refused.has(id)) {
      if (!isTolerant) return { ...done, fault: `ERROR: [doc=${id}] unknown field 'x'` };
      errors.push({ type: 'ADD', id, message: 'not today' });
      continue;
    }
    core.set(id, document);
    done.adds++;
  }
  return { ...done, fault: null };
}
const isObject = (value: unknown): boolean => typeof value === 'object' && !Array.isArray(value);

beforeEach(async () => {
  [core, requests, broken, refused, isTolerant] = [new Map(), [], [], new Set(), false];
  server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks);
    const { url: target = '', headers } = request;
    if (request.method !== 'POST' || !target.startsWith('/solr/pages/update?')) return response.writeHead(404).end();
    if (!headers['content-type']?.startsWith('application/json')) return response.writeHead(415).end();
    const status = broken.shift();
    if (status === 0) return request.socket.destroy();
    if (status !== undefined) return response.writeHead(status).end(fault(status, 'trouble'));
    const result = apply(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(body)));
    const { adds, deletes, errors } = result;
    requests.push({ target, adds, deletes, bytes: body.length, authorization: headers.authorization });
    if (result.fault !== null) return response.writeHead(400).end(fault(400, result.fault));
    return response.writeHead(200).end(answer(200, errors.length === 0 ? {} : { errors }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  place = `http://127.0.0.1:${(server.address() as AddressInfo).port}/solr/pages`;
});
afterEach(async () => {
  delete process.env.INCRAWL_SOLR_AUTHORIZATION;
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

const page = (url: string, more: Partial<ExportDocument> = {}): ExportDocument =>
  madeDocument(url, { fetchedAt: '2026-03-01T08:00:00.000Z', text: 'text', ...more });
const url = (name: string): string => `http://e.example/${name}`;
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
const addAll = async (sink: ExportSink, names: readonly string[]): Promise<void> => {
  for (const name of names) await sink.document(page(url(name)), noContent);
};
const names = (from: number, to: number): string[] => Array.from({ length: to - from }, (_, i) => String(from + i));

describe('exporter-solr', () => {
  it('keeps the contract of its kind; pages are there under their URLs, removed ones are not', async () => {
    await testPlugin(plugin, { place, options: { firstPauseMs: 0 } });
    const second = 'https://example.org/a/b%20c/CON?x=1&y=%2F..%2F';
    expect([...core.keys()].sort()).toEqual(['http://example.org/missing', second]);
    const text = 'Text of a page\r\nin two lines, <b>not bold</b>, \u0000\u202e \ufffd';
    expect(core.get(second)).toMatchObject({ title: '=1+1', depth: 3, metadata_a_b: 1, metadata_flag: true, text });
    expect(Object.keys(core.get('http://example.org/missing')!)).not.toContain('title');
    expect(requests.every(({ target }) => target === '/solr/pages/update?wt=json&commitWithin=10000')).toBe(true);
  });

  it('bounds requests by bytes and by pages; adds and deletes go in requests of their own, in order', async () => {
    const sink = await open({ batchBytes: 2_000, batchPages: 3 });
    await addAll(sink, names(0, 4));
    await sink.document(page(url('large'), { text: 'x'.repeat(5_000) }), noContent);
    for (const name of names(5, 8)) await sink.document(page(url(name), { text: 'x'.repeat(900) }), noContent);
    for (const name of ['0', '1', 'never'])
      await sink.removed({ url: url(name), state: 'gone', target: null, contentType: null });
    await sink.close();
    expect(requests.map(({ adds, deletes }) => [adds, deletes])).toEqual([
      [3, 0],
      [1, 0],
      [1, 0],
      [1, 0],
      [1, 0],
      [1, 0],
      [0, 3],
    ]);
    expect(requests.filter(({ bytes }) => bytes > 2_002)).toHaveLength(1);
    expect(core.size).toBe(6);
  });

  it('retries what may pass, and ends at what does not', async () => {
    broken = [503, 0, 429];
    const sink = await open();
    await addAll(sink, ['a']);
    await sink.close();
    expect(core.size).toBe(1);
    broken = [401];
    const other = await open();
    await addAll(other, ['b']);
    await expect(other.close()).rejects.toThrow(/\/solr\/pages\/update answered 401/);
    expect(core.size).toBe(1);
  });

  it('indexes all that the server takes, then says what it refused', async () => {
    refused = new Set(['3', '7', '15'].map(url));
    const sink = await open();
    await addAll(sink, names(0, 16));
    await expect(sink.close()).rejects.toThrow(
      /the server refused 3 documents: http:\/\/e\.example\/3: .*unknown field/,
    );
    expect(core.size).toBe(13);
    expect(requests.length).toBeLessThan(3 * 2 * 5);
  });

  it('reads what a tolerant server lists as refused', async () => {
    [isTolerant, refused] = [true, new Set([url('3')])];
    const sink = await open();
    await addAll(sink, names(0, 8));
    await expect(sink.close()).rejects.toThrow('refused 1 documents: http://e.example/3: not today');
    expect([core.size, requests.length]).toEqual([7, 1]);
  });

  it('ends where all documents are refused', async () => {
    refused = new Set(names(0, 500).map(url));
    const sink = await open();
    await addAll(sink, names(0, 500));
    await expect(sink.close()).rejects.toThrow('refused 100 documents');
    expect(requests.length).toBeLessThan(250);
  });

  it('refuses an address without a core, and an answer of another server', async () => {
    await expect(async () => open({}, { place: new URL('/', place).href })).rejects.toThrow('name of a core');
    await expect(async () => open({}, { place: null })).rejects.toThrow('--output URL');
    server.removeAllListeners('request').on('request', (_asked, response) => response.end('<html>Welcome'));
    const sink = await open();
    await addAll(sink, ['a']);
    await expect(sink.close()).rejects.toThrow('expected the answer of an update handler of Solr, got <html>');
  });

  it('takes credentials from the environment, a processor chain from the address', async () => {
    process.env.INCRAWL_SOLR_AUTHORIZATION = 'Basic abc';
    const sink = await open({ commitWithinMs: 0 }, { place: `${place}/?processor=tolerant` });
    await sink.removed({ url: url('a'), state: 'gone', target: null, contentType: null });
    await sink.close();
    expect(requests).toMatchObject([
      { target: '/solr/pages/update?processor=tolerant&wt=json', authorization: 'Basic abc' },
    ]);
  });

  it('gives fields other names, and leaves some out', () => {
    const options = { idField: 'key', fields: { text: 'content', outlinks: null, metadata_price: 'price_f' } };
    const metadata = { price: 2.5 };
    const document = documentOf(page(url('a'), { outlinks: [url('b')], keywords: ['x'], metadata }), options);
    expect(document).toEqual({
      key: url('a'),
      url: url('a'),
      state: 'fetched',
      fetchedAt: '2026-03-01T08:00:00.000Z',
      status: 200,
      contentType: 'text/html',
      content: 'text',
      keywords: ['x'],
      price_f: 2.5,
      depth: 0,
    });
  });
});
