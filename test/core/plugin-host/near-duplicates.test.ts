import { describe, expect, it } from 'vitest';
import { FRESH_KINDS, OTHER_SAME_TEMPLATE, pagePairs } from '../../../bench/near/pairs.ts';
import { DEFAULT_PLUGIN_LIST } from '../../../src/core/plugin-host/loading/plugin-list.ts';
import { createInlinePageParser } from '../../../src/core/plugin-host/parsing/page-parser.ts';
import { hammingDistance } from '../../../src/page/near/fingerprint-tables.ts';

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** A small run of `npm run bench -- --only neardup`, with bounds that chance does not reach. */
describe('pages from HTML to signature', async () => {
  const parser = await createInlinePageParser(
    {
      list: DEFAULT_PLUGIN_LIST,
      baseDir: process.cwd(),
      signature: 'simhash',
      limits: { maxTextChars: 1, maxOutlinks: 1, storeText: false },
      agent: 'incrawl',
      intervals: { intervalMs: 1, minIntervalMs: 1, maxIntervalMs: 1 },
    },
    silent,
  );
  const signatureOf = async (html: string): Promise<string> => {
    const body = new TextEncoder().encode(html);
    const page = { index: 0, url: 'https://a.example/', metadata: {}, headers: {}, contentType: 'text/html', body };
    const { outcome } = (await parser.live(page)).record;
    return outcome.kind === 'parsed' ? (outcome.signature ?? '') : '';
  };
  const pairs = pagePairs(24, 5);
  const distances = async (kinds: readonly string[]): Promise<number[]> => {
    const found: number[] = [];
    for (const { kind, before, after } of pairs) {
      if (kinds.includes(kind)) found.push(hammingDistance(await signatureOf(before), await signatureOf(after)));
    }
    return found;
  };

  it('adverts, dates, counters and navigation leave the signature', async () => {
    const found = await distances(FRESH_KINDS);
    expect(found.filter((distance) => distance === 0).length).toBeGreaterThanOrEqual(0.93 * found.length);
  });

  it('the same article in another template is within three bits', async () => {
    const found = await distances(['another template']);
    expect(found.filter((distance) => distance <= 3).length).toBeGreaterThanOrEqual(0.9 * found.length);
  });

  it('an edit of a twentieth moves it, and another article of the template is far away', async () => {
    const edited = await distances(['5 % of the words']);
    expect(edited.filter((distance) => distance > 0).length).toBeGreaterThanOrEqual(0.95 * edited.length);
    expect(Math.min(...(await distances([OTHER_SAME_TEMPLATE])))).toBeGreaterThan(12);
  });
});
