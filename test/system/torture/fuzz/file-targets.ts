import { deepStrictEqual } from 'node:assert';
import { gzipSync } from 'node:zlib';
import { parseSitemap } from '../../../../plugins/parse-feed/sitemap.ts';
import { DEFAULT_LIMITS, readXmlDocument } from '../../../../plugins/parse-feed/xml-document.ts';
import { CrawlError } from '../../../../src/core/domain/errors.ts';
import { isUrl } from '../../../../src/core/domain/url/canonical/canonical-url.ts';
import { readWarcMember } from '../../../../src/store/files/warc/warc-reader.ts';
import { warcMember } from '../../../../src/store/files/warc/warc-writer.ts';
import { decodeFamilies, decodeShares, familiesKey, sharesKey } from '../../../../src/store/rows/codecs/family-rows.ts';
import { decodeRecord, encodeRecord } from '../../../../src/store/rows/codecs/record-codec.ts';
import {
  decodeCounters,
  decodeHost,
  decodeLinks,
  decodeSegment,
} from '../../../../src/store/rows/codecs/row-codecs.ts';
import { decodeChange } from '../../../../src/store/rows/writing/change-log.ts';
import { type FuzzTarget, holds, textOf } from './target.ts';

const MAX_URLS = 50;

const sitemap: FuzzTarget = {
  name: 'sitemap',
  stepsPerByte: 200,
  words: [
    ...[
      '<?xml version="1.0" encoding="',
      'utf-16',
      '"?>',
      '<urlset>',
      '</urlset>',
      '<url>',
      '</url>',
      '<loc>',
      '</loc>',
    ],
    ...[
      '<sitemapindex>',
      '<sitemap>',
      '<lastmod>',
      '2026-01-01',
      '</lastmod>',
      'http://a.example/',
      '/relative',
      '&amp;',
    ],
    ...[
      '<!DOCTYPE x [<!ENTITY a "b">]>',
      '&a;',
      '<![CDATA[',
      ']]>',
      '<!--',
      '-->',
      '<x:loc xmlns:x="y">',
      '\0',
      '\n',
      '\xff',
    ],
  ],
  check(input) {
    const options = { url: 'https://a.example/sitemap.xml', maxUrls: MAX_URLS, maxBytes: 64 * 1024 };
    const read = parseSitemap(input, options);
    deepStrictEqual(parseSitemap(input, options), read, 'the same each time');
    const isGzip = input[0] === 0x1f && input[1] === 0x8b;
    if (!isGzip) deepStrictEqual(parseSitemap(gzipSync(input), options), read, 'the same in gzip');
    holds(read.urls.length <= MAX_URLS && read.sitemaps.length <= MAX_URLS, 'a bounded number', read.urls.length);
    for (const { loc } of read.urls) holds(isUrl(loc), 'absolute URLs', loc);
    holds(read.errors.length <= input.length + 2, 'no more faults than bytes', read.errors.length);
  },
};

const feed: FuzzTarget = {
  name: 'feed',
  stepsPerByte: 100,
  words: [
    ...[
      '<rss>',
      '<channel>',
      '<item>',
      '</item>',
      '<title>',
      '</title>',
      '<link>',
      '</link>',
      '<description>',
      '</rss>',
    ],
    ...[
      '<feed xmlns="http://www.w3.org/2005/Atom">',
      '<entry>',
      '</entry>',
      '<link href="/a"/>',
      '<updated>',
      '</updated>',
    ],
    ...[
      '<pubDate>',
      'Tue, 03 Jun 2003 09:39:21 GMT',
      '</pubDate>',
      '<content type="html">',
      '&lt;b&gt;',
      '</content>',
      '&#x',
    ],
    ...['<rdf:RDF>', '<guid isPermaLink="false">', '<![CDATA[', ']]>', '<a><b><c>', '</x>', '\0', ' words '],
  ],
  check(input) {
    const text = textOf(input);
    const limits = { ...DEFAULT_LIMITS, maxUrls: MAX_URLS };
    const read = readXmlDocument(text, 'https://a.example/feed', limits);
    deepStrictEqual(readXmlDocument(text, 'https://a.example/feed', limits), read, 'the same each time');
    holds(read.feed.entries.length <= MAX_URLS, 'a bounded number of entries', read.feed.entries.length);
    // Texts are joined by a space, and none takes less than a character.
    holds(read.text.length <= 2 * text.length, 'no more text than the file has', read.text.length, text.length);
    for (const { url } of read.feed.entries) holds(url === null || isUrl(url), 'absolute URLs', url);
    holds(read.faults.length <= text.length + 1, 'no more faults than characters', read.faults.length);
  },
};

const CONTENT = /^content-length$|^transfer-encoding$/i;

/** A response made from the input is read back as it was; the input itself, as a member, is refused or read. */
const warc: FuzzTarget = {
  name: 'warc',
  stepsPerByte: 10,
  words: [
    ...[
      'WARC/1.1\r\n',
      'WARC-Type: response\r\n',
      'WARC-Target-URI: http://a.example/\r\n',
      'Content-Length: 0\r\n',
      '\r\n',
    ],
    ...[
      'HTTP/1.1 200 OK\r\n',
      'WARC-Date: 2026-01-01T00:00:00Z\r\n',
      ': ',
      '\0',
      '\x1f\x8b\x08',
      'WARC-Profile: ',
      '\xff',
      '-1',
    ],
  ],
  async check(input) {
    for (const member of [input, gzipSync(input)]) {
      try {
        const { status, rawHeaders, url } = readWarcMember(member, 'x.warc.gz');
        holds(Number.isInteger(status) && rawHeaders.length % 2 === 0 && url !== '', 'a whole response', status);
      } catch (error) {
        holds(error instanceof CrawlError && error.code === 'segment-corrupt', 'damage is said', String(error));
      }
    }
    const lines = input.toString('latin1').split(/\r?\n/).slice(0, 40);
    // Names are tokens, and values without control characters and surrounding spaces, as in what node:http gives.
    const rawHeaders = lines.flatMap((line) => {
      const [name = '', ...value] = line.split(':');
      return /^[\w!#$%&'*+.^`|~-]+$/.test(name) && !CONTENT.test(name)
        ? [
            name,
            value
              .join(':')
              .replace(/[\0-\x1f\x7f]/g, '')
              .trim(),
          ]
        : [];
    });
    const response = {
      url: `https://a.example/${encodeURIComponent(lines[0] ?? '').slice(0, 100)}`,
      at: Date.UTC(2026, 0, 1),
      httpVersion: '1.1',
      status: 200 + (input.length % 300),
      statusText: 'OK',
      rawHeaders,
      body: new Uint8Array(input),
      truncated: false as const,
      remoteAddress: '192.0.2.1',
      revisit: null,
    };
    const back = readWarcMember(await warcMember(response, 1), 'x.warc.gz');
    deepStrictEqual(
      { ...back, body: Buffer.from(back.body ?? []) },
      { ...response, body: Buffer.from(input) },
      'read back',
    );
  },
};

const DECODERS = [
  (bytes: Buffer) => decodeRecord('https://a.example/', bytes),
  (bytes: Buffer) => decodeChange('!00000000001', bytes),
  (bytes: Buffer) => decodeHost('a.example', bytes),
  (bytes: Buffer) => decodeLinks('https://a.example/', bytes),
  (bytes: Buffer) => decodeFamilies(familiesKey('a.example'), bytes),
  (bytes: Buffer) => decodeShares(sharesKey({ host: 'a.example', part: 1 }), bytes),
  (bytes: Buffer) => decodeSegment('20260101000000-00001', bytes),
  (bytes: Buffer) => decodeCounters(bytes),
];

/**
 * Items that headers of arrays and maps within an input could claim together. The decoder of MessagePack makes room for
 * what a header claims, before it reads: rows made to nest such claims take all memory. Whoever can write rows is
 * trusted (SECURITY.md); damage by chance makes one such header, not many.
 */
function claimedItems(input: Buffer): number {
  let items = 0;
  for (let at = 0; at < input.length; at++) {
    const byte = input[at]!;
    if (byte === 0xdc || byte === 0xde) items += at + 2 < input.length ? input.readUInt16BE(at + 1) : 0;
    if (byte === 0xdd || byte === 0xdf) items += at + 4 < input.length ? input.readUInt32BE(at + 1) : 0;
  }
  return items;
}

const MOST_ITEMS = 2 ** 20;

/** Rows as a disk gives them back. */
const rows: FuzzTarget = {
  name: 'rows',
  stepsPerByte: 150,
  words: [
    '\xc0',
    '\xc1',
    '\xc2',
    '\xc3',
    '\xcb\x7f\xf0\0\0\0\0\0\0',
    '\x9f',
    '\xdd\xff\xff\xff\xff',
    '\xdf\x7f\xff\xff\xff',
    '\xd9\xff',
    '\x01',
    '\xff',
    '\x90',
  ],
  check(input) {
    if (claimedItems(input) > MOST_ITEMS) return;
    for (const decode of DECODERS) {
      try {
        decode(Buffer.from(input));
      } catch (error) {
        holds(error instanceof CrawlError, 'an unreadable row is said', String(error), (error as Error).stack);
      }
    }
    try {
      const datum = decodeRecord('https://a.example/', Buffer.from(input));
      deepStrictEqual(decodeRecord(datum.url, encodeRecord(datum)), datum, 'a record that can be read can be kept');
    } catch (error) {
      if (!(error instanceof CrawlError)) throw error;
    }
  },
};

export const FILE_TARGETS: readonly FuzzTarget[] = [sitemap, feed, warc, rows];
