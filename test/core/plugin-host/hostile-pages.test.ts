import { randomFillSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { DEFAULT_PLUGIN_LIST } from '../../../src/core/plugin-host/loading/plugin-list.ts';
import { createInlinePageParser } from '../../../src/core/plugin-host/parsing/page-parser.ts';

const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const parser = await createInlinePageParser(
  {
    list: DEFAULT_PLUGIN_LIST,
    baseDir: process.cwd(),
    signature: 'simhash',
    limits: { maxTextChars: 100_000, maxOutlinks: 10_000, storeText: true },
    agent: 'incrawl',
    intervals: { intervalMs: 1, minIntervalMs: 1, maxIntervalMs: 1 },
  },
  log,
);
const parsed = (body: Uint8Array, contentType = 'text/html') =>
  parser.live({ index: 0, url: 'https://a.example/', metadata: {}, headers: {}, contentType, body });
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
/** Seeded by nothing: what random bytes are does not matter, only that they are no text. */
const noise = (length: number): Uint8Array => randomFillSync(new Uint8Array(length));

describe('the whole chain of parser, filters and signature takes bounded work', () => {
  it.each<[string, () => Uint8Array]>([
    ['100,000 nested tags', () => bytes(`${'<div>'.repeat(100_000)}words at the bottom`)],
    ['100,000 nested tags of many kinds', () => bytes('<b><ul><li><table><tr><td><span>x'.repeat(15_000))],
    ['50 MB in one line', () => bytes(`<p>${'word '.repeat(10_000_000)}`)],
    ['50 MB without a space', () => new Uint8Array(50_000_000).fill(0x61)],
    ['200,000 links', () => bytes('<a href="/page">link</a> '.repeat(200_000))],
    ['200,000 blocks that look alike', () => bytes('<div class="card"><p>x</p></div>'.repeat(200_000))],
    ['100,000 classes', () => bytes(Array.from({ length: 100_000 }, (_, i) => `<p class="c${i}">w</p>`).join(''))],
    ['5 MB of Chinese without punctuation', () => bytes('太陽能電池板的價格下降了'.repeat(140_000))],
    ['bytes of no encoding', () => Uint8Array.from({ length: 300_000 }, (_, i) => 0x80 + (i % 0x80))],
    ['random bytes', () => noise(1_000_000)],
    ['nothing', () => new Uint8Array()],
    ['zeros', () => new Uint8Array(1_000_000)],
    ['no text', () => bytes('<html><body><img src=x></body></html>')],
  ])('%s', async (_title, body) => {
    const { record, result } = await parsed(body());
    expect(['parsed', 'parse-failed']).toContain(record.outcome.kind);
    expect(record.text.length).toBeLessThanOrEqual(100_000);
    expect(record.outlinks.length).toBeLessThanOrEqual(10_000);
    expect(result.blocks.length).toBeLessThanOrEqual(2_000);
    expect(result.mainText?.length ?? 0).toBeLessThanOrEqual(3_000_000);
  });

  it('keeps no NUL in what is exported', async () => {
    const { record } = await parsed(bytes('<title>a\0 title</title><p>some \0text</p>'));
    expect(record).toMatchObject({ text: 'some text', outcome: { title: 'a title' } });
    expect((await parsed(bytes('plain \0text'), 'text/plain')).record).toMatchObject({ text: 'plain text' });
  });

  it('says of a page without words that it has no signature', async () => {
    expect((await parsed(new Uint8Array())).record.outcome).toMatchObject({ kind: 'parsed', signature: null });
  });
});

describe('what is cut to its longest length is not cut within a character', () => {
  const HALF = /\p{Surrogate}/u;
  it.each<[string, string, string]>([
    [
      'title and text of a page',
      'text/html',
      `<title>${'a'.repeat(511)}😀</title><p>${'a'.repeat(99_999)}😀 and more.</p>`,
    ],
    ['title and text of a text', 'text/plain', `${'a'.repeat(255)}😀\n${'a'.repeat(99_742)}😀 and more.`],
    [
      'titles in a feed',
      'application/rss+xml',
      `<rss><channel><item><title>${'a'.repeat(255)}😀</title><link>/a</link></item></channel></rss>`,
    ],
  ])('%s', async (_title, type, body) => {
    const { record } = await parsed(bytes(body), type);
    expect(record.text.length).toBeGreaterThan(200);
    for (const text of [JSON.stringify(record.outcome), record.text, ...record.outlinks.map(({ anchor }) => anchor)]) {
      expect(text).not.toMatch(HALF);
      expect(text).not.toContain('\\ud83d');
    }
  });
});
