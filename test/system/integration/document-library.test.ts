import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defaultConfig } from '../../../src/core/config/load.ts';
import { findPackage } from '../../../src/core/packages/find-package.ts';
import { type Crawler, openCrawler } from '../../../src/crawler/index.ts';
import { madeEpub, madeOpenDocument, madeWord, TYPES } from '../../site/made-office.ts';
import { bookPages, madePdf } from '../../site/made-pdf.ts';
import { madeZip } from '../../site/made-zip.ts';

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const DAY = 86_400_000;
const PDF = 'application/pdf';
/** Scattered, so that no two documents share a run of words. */
const word = (at: number): string => `w${(Math.imul(at, 0x9e37_79b1) >>> 8) % 997}`;
const sentence = (seed: number): string =>
  `The ${Array.from({ length: 10 }, (_, i) => word(seed * 31 + i)).join(' ')} is.`;
const texts = (seed: number): string[] => Array.from({ length: 40 }, (_, i) => sentence(10_000 * seed + i));
const pdf = (seed: number, created: string): Buffer =>
  madePdf({
    pages: bookPages(4, (page, line) => sentence(seed + page * 30 + line)),
    info: { CreationDate: `D:${created}Z` },
  });

interface File {
  readonly type: string;
  body: Buffer;
  /** Answers 304. */
  readonly hasTag?: boolean;
}

/** Files by path; `/` links to all. */
const files = new Map<string, File>();
let log: { readonly path: string; readonly status: number }[] = [];
const server = createServer(({ url: path = '/', headers }, response) => {
  const send = (status: number, body: Buffer | string, more: Record<string, string> = {}): void => {
    log.push({ path, status });
    response.writeHead(status, more).end(body);
  };
  if (path === '/') {
    const links = [...files.keys()].map((each) => `<li><a href="${each}">File ${each}</a></li>`);
    send(200, `<title>Library</title><h1>Library</h1><ul>${links.join('')}</ul>`, { 'content-type': 'text/html' });
    return;
  }
  const file = files.get(path);
  if (file === undefined) return send(404, '');
  const tag = `"${createHash('md5').update(file.body).digest('hex')}"`;
  if (file.hasTag && headers['if-none-match'] === tag) return send(304, '', { etag: tag });
  send(200, file.body, { 'content-type': file.type, ...(file.hasTag ? { etag: tag } : {}) });
});

let crawler: Crawler;
let origin = '';
let now = Date.UTC(2026, 5, 1);
const baseDir = mkdtempSync(join(tmpdir(), 'incrawl-library-'));

async function open(): Promise<Crawler> {
  const settings = [
    'fetch.delay=0',
    'http.allowAddresses=["127.0.0.1"]',
    'fetch.auditShare=0',
    'http.maxBodyBytes=1MiB',
  ];
  const clock = { now: () => now, sleep: async () => {} };
  return openCrawler({ config: defaultConfig(settings), baseDir, dir: join(baseDir, 'crawldb'), log: silent, clock });
}

beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  writeFileSync(join(baseDir, 'rules.txt'), '+.\n');
  writeFileSync(
    join(baseDir, 'plugins.yaml'),
    `plugins:
  - protocol-http
  - urlnormalizer-basic
  - urlfilter-rules: { file: rules.txt }
  - urlfilter-scope
  - parse-html
  - parse-text
  - parse-pdf: { maxMemory: 134217728 }
  - parse-office
  - parsefilter-main-content
  - parsefilter-noise-links
  - signature-simhash
  - schedule-freshness
  - scoring-depth
  - exporter-jsonl
`,
  );
  const bomb = deflateSync(Buffer.alloc(80 << 20, 0x20));
  const add = (path: string, type: string, body: Buffer, hasTag = false): void =>
    void files.set(path, { type, body, hasTag });
  add('/tagged.pdf', PDF, pdf(1, '20240101120000'), true);
  add('/dated.pdf', PDF, pdf(500, '20240101120000'));
  add('/edited.pdf', PDF, pdf(900, '20240101120000'), true);
  add('/saved.pdf', 'application/octet-stream', pdf(1300, '20240101120000'), true);
  add('/report.docx', TYPES.word, madeWord(texts(1), '<dc:title>Report</dc:title>'), true);
  add('/packed', 'application/zip', madeWord(texts(2), '<dc:title>Packed</dc:title>'), true);
  const body = texts(3)
    .map((text) => `<text:p>${text}</text:p>`)
    .join('');
  add(
    '/notes.odt',
    TYPES.text,
    madeOpenDocument(`<office:text>${body}</office:text>`, '<dc:title>Notes</dc:title>'),
    true,
  );
  add(
    '/book.epub',
    TYPES.epub,
    madeEpub(
      [
        texts(4)
          .map((text) => `<p>${text}</p>`)
          .join(''),
      ],
      '<dc:title>Book</dc:title>',
    ),
    true,
  );
  add('/table.csv', 'text/csv; charset=windows-1252', Buffer.from('Ort,Preis\nKöln,3\n', 'latin1'), true);
  add('/read.md', 'text/markdown', Buffer.from(`# Read me\n\n${texts(5).join('\n\n')}\n\n[more](/linked.md)\n`), true);
  add('/secret.pdf', PDF, madePdf({ pages: [], password: 'secret' }), true);
  add(
    '/large.pdf',
    PDF,
    Buffer.concat([pdf(1700, '20240101120000').subarray(0, 900), Buffer.alloc(2 << 20, 0x41)]),
    true,
  );
  add('/bomb.pdf', PDF, madePdf({ pages: [{ lines: [], content: { data: bomb, filters: ['FlateDecode'] } }] }), true);
  add('/bomb.odt', TYPES.text, madeZip([{ name: 'content.xml', data: Buffer.alloc(80 << 20, 0x20) }]), true);
  add('/old.docx', TYPES.word, Buffer.from('d0cf11e0a1b11ae10000', 'hex'), true);
  crawler = await open();
});
afterAll(async () => {
  await crawler?.close();
  server.closeAllConnections();
  server.close();
  rmSync(baseDir, { recursive: true, force: true });
});

const BROKEN = ['/secret.pdf', '/large.pdf', '/bomb.pdf', '/bomb.odt', '/old.docx'];

const record = (path: string) => crawler.record(origin + path);
const isInstalled = findPackage('pdfjs').length > 0;

describe.skipIf(!isInstalled)(
  'a library of documents (skipped unless "incrawl packages install pdfjs" was run)',
  () => {
    it('is parsed at the first crawl; what cannot be read says why and costs no other', {
      timeout: 120_000,
    }, async () => {
      const { totals } = await crawler.crawl({ seeds: [{ name: 'test', lines: [`${origin}/`] }] });
      expect(totals.fetched).toBe(files.size + 1);
      const states = await Promise.all([...files.keys()].map(async (path) => [path, (await record(path))?.state]));
      const failing = states.filter(([, state]) => state !== 'fetched').map(([path]) => path);
      expect(failing).toEqual(BROKEN);
      const faultOf = async (path: string) => (await record(path))?.lastError?.message ?? '';
      expect(await faultOf('/secret.pdf')).toContain('asks for a password');
      expect(await faultOf('/large.pdf')).toContain('cut off after 1048576 bytes (is http.maxBodyBytes too small?)');
      expect(await faultOf('/bomb.pdf')).toMatch(/memory.* allows/);
      expect(await faultOf('/bomb.odt')).toContain('times as large');
      expect(await faultOf('/old.docx')).toContain('encrypted, or of a format before 2007');
    });

    it('has titles, and types by content', async () => {
      const titles = await Promise.all(['/report.docx', '/packed', '/notes.odt', '/book.epub', '/read.md'].map(record));
      expect(titles.map((each) => each?.title)).toEqual(['Report', 'Packed', 'Notes', 'Book', 'Read me']);
      expect(await record('/saved.pdf')).toMatchObject({ state: 'fetched', metadata: { 'parse-pdf.pages': 4 } });
      expect(await record('/dated.pdf')).toMatchObject({ publishedAt: '2024-01-01T12:00:00.000Z' });
      expect(await record('/linked.md')).toMatchObject({ state: 'gone' });
    });

    it('is asked for what changed at the second crawl, and a PDF that was only written anew is no change', async () => {
      files.get('/dated.pdf')!.body = pdf(500, '20250202120000');
      files.get('/edited.pdf')!.body = pdf(60_000, '20250202120000');
      now += 40 * DAY;
      log = [];
      await crawler.crawl();
      const bodies = log.filter(({ path, status }) => status === 200 && files.has(path)).map(({ path }) => path);
      // What could not be parsed is asked for without a condition, as it may be parsed now.
      expect(bodies.sort()).toEqual(['/dated.pdf', '/edited.pdf', ...BROKEN].sort());
      expect(log.filter(({ status }) => status === 304).length).toBe(files.size - bodies.length);
      const [dated, edited] = await Promise.all([record('/dated.pdf'), record('/edited.pdf')]);
      expect(dated?.visits.at(-1)?.distance).toBe(0);
      expect(dated?.publishedAt).toBe('2025-02-02T12:00:00.000Z');
      expect(edited?.visits.at(-1)?.distance).toBeGreaterThan(10);
    });
  },
);
