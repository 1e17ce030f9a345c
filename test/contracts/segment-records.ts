import { Packr } from 'msgpackr';
import { NO_VALIDATORS } from '../../src/core/domain/crawl/states/datum.ts';
import type { FetchedRecord, FetchItem, ParsedRecord, WireResponse } from '../../src/core/ports/segment-store.ts';

/** Records for tests of segments. All are made from a position alone. */

export const START = Date.UTC(2026, 0, 5);

export const urlOf = (index: number): string => `https://a.example/page/${index}?q=ü,,,`.replace('ü', '%C3%BC');

export function* fetchItems(count: number): Generator<FetchItem> {
  for (let index = 0; index < count; index++) yield fetchItem(index);
}

export function fetchItem(index: number): FetchItem {
  return {
    index,
    url: urlOf(index),
    host: 'a.example',
    partition: index % 256,
    depth: 1,
    score: 0.5,
    validators: { ...NO_VALIDATORS, etag: `"${index}"` },
    digest: index % 2 === 0 ? null : '0123456789abcdef0123456789abcdef',
    audit: index % 7 === 0,
    metadata: { topic: 'größer', rank: index, kept: true },
  };
}

export function fetchedRecord(index: number, at = START + index): Omit<FetchedRecord, 'warc'> {
  return {
    index,
    url: urlOf(index),
    host: 'a.example',
    outcome: {
      kind: 'success',
      status: 200,
      contentType: 'text/html',
      robotsTag: null,
      validators: { etag: null, lastModified: 'Mon, 05 Jan 2026 00:00:00 GMT', contentLength: 12 },
      digest: '0123456789abcdef0123456789abcdef',
      truncated: false,
      audit: null,
      at,
      requests: 1,
      bodyBytes: 12,
      receivedBytes: 200,
      ms: 3,
    },
    observation: index % 3 === 0 ? { headHits: 1 } : null,
  };
}

export function response(index: number, body: Uint8Array | null = Buffer.from(`<p>page ${index}`)): WireResponse {
  return {
    url: urlOf(index),
    at: START + index,
    httpVersion: '1.1',
    status: 200,
    statusText: 'OK',
    rawHeaders: ['Content-Type', 'text/html', 'Set-Cookie', 'a=1', 'set-cookie', 'b=2; x="é"', 'X-Empty', ''],
    body,
    truncated: false,
    remoteAddress: '203.0.113.7',
    revisit: null,
  };
}

export function parsedRecord(index: number): ParsedRecord {
  return {
    index,
    url: urlOf(index),
    outcome: {
      kind: 'parsed',
      signature: '00ff00ff00ff00ff',
      signatureName: 'simhash/1',
      title: `Page ${index}`,
      textChars: 15,
      stated: null,
      places: [],
      noindex: false,
      metadata: {},
    },
    contentType: 'text/html',
    charset: 'utf-8',
    lang: null,
    canonical: null,
    text: `words of page ${index}`,
    outlinks: [{ url: urlOf(index + 1), anchor: 'next', rel: 'link', nofollow: false }],
  };
}

const packr = new Packr({ useRecords: false });

/** As a parser worker hands it over: one plain MessagePack map. */
export const encodedRecord = (index: number, change: Partial<ParsedRecord> = {}): Uint8Array =>
  new Uint8Array(packr.pack({ ...parsedRecord(index), ...change }));

export async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

/** Bytes by a linear congruential generator. */
export function incompressible(length: number, seed: number): Buffer {
  let state = seed;
  const bytes = Buffer.alloc(length);
  for (let i = 0; i < length; i++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    bytes[i] = state >>> 24;
  }
  return bytes;
}
