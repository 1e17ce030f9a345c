import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { learnBlocks, rereadBlocks } from '../../../../src/core/domain/crawl/change/block-memory.ts';
import { type ParseSuccess, partsOf, reparsed } from '../../../../src/core/domain/crawl/states/compare-answer.ts';
import { newDatum } from '../../../../src/core/domain/crawl/states/datum.ts';
import type { BlockPrint } from '../../../../src/page/diff/block-prints.ts';
import { anyDatum } from '../../../store/rows/arbitrary-datum.ts';

const parsed = (more: Partial<ParseSuccess> = {}): ParseSuccess => ({
  kind: 'parsed',
  signature: '00ff00ff00ff00ff',
  signatureName: 'simhash/1',
  title: 'Title',
  textChars: 300,
  stated: null,
  places: [],
  noindex: false,
  metadata: {},
  ...more,
});
const block = (path: string, print: number, chars = 100): BlockPrint => ({ path, print, chars, isMain: true });
const page = newDatum({ url: 'https://a.org/', now: 0, intervalMs: 1 });

/** Fields that parsing fills. */
const OF_PARSING = [
  'signature',
  'changeSignature',
  'changeDigest',
  'sketch',
  'signatureName',
  'title',
  'textChars',
  'stated',
  'blocks',
  'metadata',
  'state',
  'lastError',
];

describe('a record whose stored body was parsed anew', () => {
  it('keeps all that a visit shows, in any state, and is the same after a second time', () => {
    fc.assert(
      fc.property(anyDatum, fc.option(fc.constant([block('p', 1)])), (datum, blocks) => {
        const fresh = parsed(blocks === null ? {} : { blocks });
        const after = reparsed(datum, fresh, null);
        const rest = (record: object) => Object.entries(record).filter(([name]) => !OF_PARSING.includes(name));
        expect(rest(after)).toEqual(rest(datum));
        expect(after.state).toBe(datum.state === 'parse_failed' ? 'fetched' : datum.state);
        expect(reparsed(after, fresh, { parsed: fresh, given: {} })).toEqual(after);
      }),
    );
  });

  it('loses metadata that the former parse gave, and no other; a seed keeps what it had before', () => {
    const former = { parsed: parsed({ metadata: { topic: 'a', rank: 1, mark: 'x' } }), given: { topic: 'a' } };
    const metadata = { topic: 'a', rank: 2, mark: 'x', weight: 3, noindex: true };
    const fresh = parsed({ metadata: { mark: 'y' } });
    expect(reparsed({ ...page, metadata }, fresh, former).metadata).toEqual({ rank: 2, mark: 'y', weight: 3 });
    const seed = reparsed({ ...page, metadata, seed: true }, fresh, former);
    expect(seed.metadata).toEqual({ topic: 'a', rank: 2, mark: 'y', weight: 3 });
    expect(reparsed({ ...page, metadata }, fresh, null).metadata).toMatchObject({ topic: 'a', mark: 'y' });
  });

  it('that could not be parsed is fetched; the error of a later visit stays', () => {
    const lastError = { code: 'parse-failed', message: '', at: 1 };
    const failed = { ...page, state: 'parse_failed' as const, lastError };
    expect(reparsed(failed, parsed(), null)).toMatchObject({ state: 'fetched', lastError: null });
    expect(reparsed({ ...failed, failures: 1 }, parsed(), null)).toMatchObject({ state: 'fetched', lastError });
  });
});

describe('blocks read again', () => {
  it('keep what visits have learnt of their places, and learn nothing', () => {
    const article = block('article', 1, 1_000);
    let memory = learnBlocks(null, partsOf(parsed({ blocks: [article, block('quote', 0)] }))).memory;
    for (const print of [1, 2, 3, 4]) {
      memory = learnBlocks(memory, partsOf(parsed({ blocks: [article, block('quote', print)] }))).memory;
    }
    expect(memory.volatile).toEqual(['quote']);
    const found = partsOf(parsed({ blocks: [block('quote', 9), block('aside', 5), article] }));
    const again = rereadBlocks(memory, found);
    expect(again.volatile).toEqual(['quote']);
    expect(again.changed).toEqual(memory.changed);
    const churn = ({ blocks }: typeof memory) => Object.fromEntries(blocks.map(({ print, churn }) => [print, churn]));
    expect(churn(again)).toEqual({ 9: churn(memory)[4], 5: 0, 1: churn(memory)[1] });
    expect(rereadBlocks(again, found)).toEqual(again);
    expect(rereadBlocks(null, partsOf(parsed({ blocks: [article] }))).blocks.map(({ churn }) => churn)).toEqual([0]);
  });
});
