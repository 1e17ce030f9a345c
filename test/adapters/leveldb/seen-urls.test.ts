import { describe, expect, it } from 'vitest';
import { createSeenUrls } from '../../../src/adapters/leveldb/seen-urls.ts';
import { seenUrlsContract } from '../../contracts/seen-urls.contract.ts';

seenUrlsContract('cached', (hasMany) => createSeenUrls({ hasMany }));
seenUrlsContract('cached, full at ten', (hasMany) => createSeenUrls({ hasMany, cacheSize: 10 }));
seenUrlsContract('cached, without a cache', (hasMany) => createSeenUrls({ hasMany, cacheSize: 0 }));

describe('the cache of seen URLs', () => {
  it('reads a known URL once and a new one every time', async () => {
    const asked: string[][] = [];
    const seen = createSeenUrls({
      hasMany: async (urls) => {
        asked.push([...urls]);
        return urls.map((url) => url.endsWith('/known'));
      },
    });
    const urls = ['https://a.example/known', 'https://a.example/new', 'https://a.example/new'];
    for (let i = 0; i < 3; i++) expect(await seen.probe(urls)).toEqual([true, false, false]);
    expect(asked).toEqual([
      ['https://a.example/known', 'https://a.example/new'],
      ['https://a.example/new'],
      ['https://a.example/new'],
    ]);
    expect(seen.stats()).toEqual({ probes: 9, cacheHits: 2, reads: 4 });
  });
});
