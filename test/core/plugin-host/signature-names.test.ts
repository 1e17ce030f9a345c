import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { pagePairs } from '../../../bench/near/pairs.ts';
import type { ParseOutcome } from '../../../src/core/domain/crawl/states/outcome.ts';
import { DEFAULT_PLUGIN_LIST, parsePluginList } from '../../../src/core/plugin-host/loading/plugin-list.ts';
import { createInlinePageParser } from '../../../src/core/plugin-host/parsing/page-parser.ts';

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

async function signer(list = DEFAULT_PLUGIN_LIST) {
  const parser = await createInlinePageParser(
    {
      list,
      baseDir: process.cwd(),
      signature: 'simhash',
      limits: { maxTextChars: 1, maxOutlinks: 1, storeText: false },
      agent: 'incrawl',
      intervals: { intervalMs: 1, minIntervalMs: 1, maxIntervalMs: 1 },
    },
    silent,
  );
  return async (text: string, contentType = 'text/html'): Promise<Extract<ParseOutcome, { kind: 'parsed' }>> => {
    const body = new TextEncoder().encode(text);
    const page = { index: 0, url: 'https://a.example/', metadata: {}, headers: {}, contentType, body };
    const { outcome } = (await parser.live(page)).record;
    if (outcome.kind !== 'parsed') throw new Error(outcome.message);
    return outcome;
  };
}

describe('the name of a signature', () => {
  it('contains the versions of the text extraction and of the signature', async () => {
    const [shipped, plain] = [
      await signer(),
      await signer(parsePluginList('plugins:\n  - parse-html\n  - parse-text\n  - signature-simhash\n', 'list')),
    ];
    const kernel = expect.stringMatching(/^simhash64x2-w3-d3\.2\.1\.1-v\d+-icu\d+\+[a-z0-9.-]+$/);
    const page = '<title>A title</title><p>Some words about nothing in particular.</p>';
    const names = [await shipped(page), await plain(page), await plain('Some words', 'text/plain')].map(
      ({ signatureName }) => signatureName,
    );
    expect(names).toEqual([kernel, kernel, kernel]);
    expect(names.map((name) => name.split('+')[1])).toEqual(['html1.main5', 'html1', 'text1']);
  });

  it('moves when the signatures do: who changes them moves CONTENT_VERSION, PAGE_SIGNER_VERSION or the content of a plugin, and both lines here', async () => {
    const sign = await signer();
    // Every fifth page is Chinese, whose words hang on the ICU of the runtime.
    const pages = pagePairs(10, 3).filter(({ before }) => !before.includes('lang="zh"'));
    const signed = await Promise.all(pages.map(({ after }) => sign(after)));
    const all = createHash('sha256')
      .update(signed.map(({ signature, changeSignature }) => `${signature} ${changeSignature}`).join(' '))
      .digest('hex');
    expect(pages.length).toBeGreaterThan(100);
    expect(signed[0]?.signatureName.replace(/-icu\d+/, '')).toBe('simhash64x2-w3-d3.2.1.1-v3+html1.main5');
    expect(all.slice(0, 16)).toBe('ba172f29245eaa59');
  });
});
