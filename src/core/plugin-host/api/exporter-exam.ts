import { gzipSync } from 'node:zlib';
import { openSink } from '../exporting/export-sink.ts';
import type { ExportDocument, ExportedRequisite, Exporter, ExportTarget, PageContent } from './exporter-api.ts';

/** Throws unless the condition holds. */
export type Check = (condition: boolean, expected: string, found: unknown) => void;

/** A page as an exporter gets it, with nothing known of it but what is given. */
export const madeDocument = (url: string, given: Partial<ExportDocument> = {}): ExportDocument => ({
  url,
  state: 'fetched',
  fetchedAt: null,
  changedAt: null,
  status: 200,
  contentType: 'text/html',
  title: null,
  lang: null,
  text: null,
  signature: null,
  digest: null,
  outlinks: [],
  metadata: {},
  authors: [],
  publishedAt: null,
  modifiedAt: null,
  description: null,
  keywords: [],
  topics: [],
  siteName: null,
  image: null,
  textSource: null,
  nextPage: null,
  pageNumber: null,
  depth: 0,
  ...given,
});

const DOCUMENT = madeDocument('http://example.org/', {
  fetchedAt: '2026-01-01T00:00:00.000Z',
  title: 'A "title",\nwith\ttroubles',
});

/** Hostile content: markup, quotes, line ends, lone surrogates, formulas, reserved file names. */
const DOCUMENTS: readonly ExportDocument[] = [
  DOCUMENT,
  {
    ...DOCUMENT,
    url: 'https://example.org/a/b%20c/CON?x=1&y=%2F..%2F',
    title: '=1+1',
    lang: 'en',
    text: 'Text of a page\r\nin two lines, <b>not bold</b>, \u0000\u202e \ud83d',
    signature: '0123456789abcdef',
    digest: '0123456789abcdef0123456789abcdef',
    changedAt: '2026-01-01T00:00:00.000Z',
    outlinks: ['http://example.org/'],
    metadata: { 'a.b': 1, flag: true, note: 'x,"y"\n' },
    depth: 3,
  },
  { ...DOCUMENT, url: 'http://example.org/missing', status: null, contentType: null, title: null, fetchedAt: null },
];

const BODY = '<!doctype html><title>A title</title><p>Some words.';
const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n';

/** As stored; the response of the second page is no longer there. */
function contentOf(document: ExportDocument): PageContent {
  const body = new TextEncoder().encode(BODY);
  const head = [
    'WARC/1.1',
    'WARC-Type: response',
    'WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-000000000000>',
    'WARC-Date: 2026-01-01T00:00:00Z',
    `WARC-Target-URI: ${document.url}`,
    'Content-Type: application/http; msgtype=response',
    `Content-Length: ${HEAD.length + body.length}`,
    '\r\n',
  ].join('\r\n');
  const response = {
    status: 200,
    at: Date.UTC(2026, 0, 1),
    headers: [['Content-Type', 'text/html']] as const,
    body: async () => body,
    warcRecord: async () => gzipSync(`${head}${HEAD}${BODY}\r\n\r\n`),
  };
  return {
    response: async () => (document.lang === null ? response : null),
    markdown: async () => (document.contentType === null ? null : '# A title\n\nSome words.\n'),
  };
}

const REQUISITE: ExportedRequisite = {
  url: 'http://example.org/style.css?v=3',
  status: 200,
  contentType: 'text/css',
  digest: '0123456789abcdef0123456789abcdef',
};

/**
 * Runs a full export, an incremental one, and one that is abandoned half way.
 * @param place output of exporters that need one
 */
export async function examineExporter(exporter: Exporter, place: string | null, check: Check): Promise<void> {
  check(/^[a-z0-9-]+$/.test(exporter.format), 'a format of lower-case letters, digits and "-"', exporter.format);
  const written: string[] = [];
  const target = (isIncremental: boolean): ExportTarget => ({
    place,
    isIncremental,
    software: 'incrawl/test',
    crawl: { userAgent: 'incrawl/test (+me@example.org)', operator: 'me@example.org', robots: 'classic' },
    write: async (chunk) => {
      check(typeof chunk === 'string' || chunk instanceof Uint8Array, 'text or bytes', chunk);
      written.push(String(chunk));
    },
    partial: (file) => `${file}.partial`,
    async *sorted(lines) {
      const all: string[] = [];
      for await (const line of lines) all.push(line);
      yield* all.sort();
    },
  });
  for (const isIncremental of [false, true]) {
    const sink = await openSink(exporter, target(isIncremental));
    for (const document of DOCUMENTS) await sink.document(Object.freeze(document), contentOf(document));
    const { response } = contentOf({ ...DOCUMENT, url: REQUISITE.url });
    await sink.requisite?.(Object.freeze(REQUISITE), { response });
    if (isIncremental) {
      await sink.removed({ url: DOCUMENT.url, state: 'gone', target: null, contentType: 'text/html' });
      await sink.removed({
        url: 'http://example.org/never',
        state: 'duplicate',
        target: DOCUMENT.url,
        contentType: null,
      });
    }
    await sink.close();
  }
  const givenUp = await openSink(exporter, target(false));
  await givenUp.document(DOCUMENT, contentOf(DOCUMENT));
  await givenUp.abandon?.();
  if ('document' in exporter) check(written.join('').length > 0, 'text', written);
}
