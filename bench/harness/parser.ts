/** The chain of plugins from a page's bytes to its record, in this thread. */
import type { PluginList } from '../../src/core/plugin-host/loading/plugin-list.ts';
import { createInlinePageParser } from '../../src/core/plugin-host/parsing/page-parser.ts';
import { silent } from './places.ts';

export const PAGE_LIMITS = { maxDepth: 512, maxAttributes: 256, maxNodes: 500_000 };

export const inlineParser = (list: PluginList) =>
  createInlinePageParser(
    {
      list,
      baseDir: process.cwd(),
      signature: 'simhash',
      limits: { maxTextChars: 1_000_000, maxOutlinks: 10_000, storeText: true },
      agent: 'incrawl',
      intervals: { intervalMs: 1, minIntervalMs: 1, maxIntervalMs: 1 },
    },
    silent,
  );

/** A page as it came from a server. @param contentType `null`: by its bytes and address */
export const pageOf = (
  body: Uint8Array,
  index = 0,
  url = 'https://a.example/page',
  contentType: string | null = 'text/html; charset=utf-8',
) => ({ index, url, metadata: {}, headers: {}, contentType, body });
