import { describe, expect, it } from 'vitest';
import { type CrawlDatum, NO_VALIDATORS, newDatum } from '../../src/core/domain/crawl/states/datum.ts';
import { encodeParsed } from '../../src/core/plugin-host/parsing/encode-parsed.ts';
import { storedPages } from '../../src/operations/state/stored-pages.ts';
import { createMemoryCrawlDb } from '../memory/crawl-db.ts';
import { createMemorySegmentStore } from '../memory/segment-store.ts';

const url = (page: string): string => `http://example.org/${page}`;

/** Each round fetches pages with the bodies given, parses those that are not left out, in the order of `parse`. */
async function crawled(
  rounds: readonly { readonly bodies: Readonly<Record<string, string>>; readonly parse?: readonly string[] }[],
  remembered: Readonly<Record<string, string>>,
) {
  const db = createMemoryCrawlDb();
  const segments = createMemorySegmentStore();
  for (const [round, { bodies, parse }] of rounds.entries()) {
    const pages = Object.keys(bodies);
    const items = pages.map((page, index) => ({
      index,
      url: url(page),
      host: 'example.org',
      partition: 0,
      depth: 0,
      score: 1,
      validators: NO_VALIDATORS,
      digest: null,
      audit: false,
      metadata: {},
    }));
    const { id } = await segments.create({ id: `s${round}`, createdAt: round, hosts: {} }, items);
    const segment = await segments.open(id, 'write');
    for (const [index, page] of pages.entries()) {
      const digest = bodies[page] as string;
      await segment.addFetched(
        {
          index,
          url: url(page),
          host: 'example.org',
          observation: null,
          outcome: {
            kind: 'success',
            at: round,
            requests: 1,
            bodyBytes: 1,
            receivedBytes: 1,
            ms: 1,
            status: 200,
            contentType: 'text/html',
            robotsTag: null,
            validators: NO_VALIDATORS,
            digest,
            truncated: false,
            audit: null,
          },
        },
        null,
      );
    }
    for (const page of parse ?? pages) {
      const index = pages.indexOf(page);
      const { encoded } = encodeParsed({
        index,
        url: url(page),
        outcome: {
          ...{ kind: 'parsed', signature: null, signatureName: 'x', title: null, textChars: 3 },
          ...{ stated: null, places: [], noindex: false, metadata: {} },
        },
        contentType: 'text/html',
        charset: null,
        lang: null,
        canonical: null,
        text: `${page} ${bodies[page]}`,
        outlinks: [],
      });
      await segment.addParsed(index, encoded);
    }
    await segment.close();
  }
  const puts = Object.entries(remembered).map(([page, digest]) => ({
    datum: { ...newDatum({ url: url(page), now: 0, intervalMs: 1 }), state: 'fetched' as const, digest },
    previous: null,
  }));
  await db.write({ puts });
  return async (isWanted: (datum: CrawlDatum) => boolean = () => true) => {
    const found: string[] = [];
    for await (const { parsed, segment } of storedPages({ db, segments }, isWanted)) {
      found.push(`${segment.info.id}: ${parsed?.text ?? '-'}`);
    }
    return found;
  };
}

describe('the current content of pages', () => {
  it('is the one with the digest of the record, each page once, newest segment first', async () => {
    const pages = await crawled(
      [
        { bodies: { a: '1', b: '1', c: '1' } },
        { bodies: { a: '2', c: '2' } },
        // c is again what it was; d is not applied to the crawl db.
        { bodies: { c: '1', d: '9' } },
      ],
      { a: '2', b: '1', c: '1', d: '1' },
    );
    expect(await pages()).toEqual(['s2: c 1', 's1: a 2', 's0: b 1']);
    expect(await pages(({ url: each }) => each === url('b'))).toEqual(['s0: b 1']);
  });

  it('has its parse output whatever the order in which pages were parsed, and none where there is none', async () => {
    const bodies = Object.fromEntries(Array.from({ length: 450 }, (_, i) => [`p${i}`, 'x']));
    const pages = await crawled(
      [
        {
          bodies,
          parse: Object.keys(bodies)
            .filter((page) => page !== 'p7')
            .reverse(),
        },
      ],
      bodies,
    );
    const found = await pages(({ url: each }) => !each.endsWith('0'));
    expect(found).toHaveLength(405);
    expect(found[0]).toBe('s0: p1 x');
    expect(found[6]).toBe('s0: -');
    expect(found[404]).toBe('s0: p449 x');
  });
});
