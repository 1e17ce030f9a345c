import { expect, it } from 'vitest';
import type { PageToParse } from '../../../src/core/ports/page-parser.ts';
import type { Segment } from '../../../src/core/ports/segment-store.ts';
import { parseSegment } from '../../../src/core/steps/fetch/parse.ts';

it('gives a parser the metadata of the fetch list, as parsing during the fetch does', async () => {
  const items = [
    { index: 0, metadata: {} },
    { index: 1, metadata: { section: 'news' } },
  ];
  const segment = {
    info: { id: 's' },
    async *fetchList() {
      yield* items;
    },
    async *fetched() {
      // In the order in which they were answered.
      for (const index of [1, 0]) {
        yield { index, url: `https://a.org/${index}`, outcome: { kind: 'success', contentType: null }, warc: {} };
      }
    },
    hasParsed: () => false,
    readResponse: async () => ({ rawHeaders: ['Content-Type', 'text/plain'], body: new Uint8Array(1) }),
    addParsed: async () => {},
  } as unknown as Segment;
  const pages: PageToParse[] = [];
  const parser = {
    pending: 0,
    parse: async (page: PageToParse) => {
      pages.push(page);
      return { encoded: new Uint8Array(0), failed: false, outlinks: 0 };
    },
    close: async () => {},
  };
  await parseSegment({ parser, undoContentCoding: async (body) => body }, segment, { window: 2 });
  expect(pages.map(({ index, metadata }) => [index, metadata])).toEqual([
    [1, { section: 'news' }],
    [0, {}],
  ]);
});
