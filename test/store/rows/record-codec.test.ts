import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_RESTLESS, type RememberedBlock } from '../../../src/core/domain/crawl/change/block-memory.ts';
import {
  CRAWL_STATES,
  type CrawlDatum,
  DUE_CAUSES,
  NO_VALIDATORS,
  newDatum,
  VISIT_OUTCOMES,
} from '../../../src/core/domain/crawl/states/datum.ts';
import { CrawlError } from '../../../src/core/domain/errors.ts';
import { MAX_BLOCK_PRINTS, MAX_SIBLINGS } from '../../../src/page/diff/block-prints.ts';
import { decodeRecord, encodeRecord, RECORD_VERSION } from '../../../src/store/rows/codecs/record-codec.ts';
import { decodeLinks, encodeLinks } from '../../../src/store/rows/codecs/row-codecs.ts';
import { pack, unpack } from '../../../src/store/rows/rows.ts';
import { visitedDatum } from '../../contracts/crawl-db-exam.ts';
import { anyDatum } from './arbitrary-datum.ts';

const URL_A = 'https://a.example/';

/** What version 1 writes for `visitedDatum(URL_A)`. Once released, it must be readable for ever: never edit it then. */
const VERSION_1 =
  '3AAlAQHLQni8/laAAAC5aHR0cHM6Ly9yZWZlcnJlci5leGFtcGxlLwLDyz/4AAAAAAAAy0J4vVDUqgAAzgUmXADOBSZcAJaqcGx1' +
  'Z2luLmtleaV2YWx1ZaVjb3VudMtABAAAAAAAAKRmbGFnwgGTrWZldGNoLXRpbWVvdXSqYWZ0ZXIgNjAgc8tCeLz+YrUAAMzIy0J4' +
  'vP5u6gAAt2h0dHBzOi8vdGFyZ2V0LmV4YW1wbGUvqXRleHQvaHRtbMtCeLz+buoAAKVXLyJ4Ir1UdWUsIDE0IE5vdiAyMDIzIDIy' +
  'OjEzOjIwIEdNVM2QAMQQABEiM0RVZneImaq7zN3u/8QIASNFZ4mrze+pc2ltaGFzaC8xtUVpbiBUaXRlbCDigJMgdMOtdHVsb5XL' +
  'P+AAAAAAAADOO5rKAMs/0AAAAAAAAALAnMtCeLz+Vp9AAADAwGTNA+jOAAGErAEDw3jNB9DNBNKWxBL/////AQAAAIMHAAAAAgAA' +
  'AICRs2JvZHk+bWFpbj5hcnRpY2xlPnCRs2JvZHk+bWFpbj5zZWN0aW9uPnDEDAEAAAcEBBwBIKvN780LuMQLAQL//wEAAQGP//+6' +
  'b3RoZXJib3Q6IG5vaW5kZXgKbm9mb2xsb3eVpXB0LUJSzmVT8P/AqEphbmUgRG9lqE/igJlOZWlsxAj+3LqYdlQyEKZsZW5ndGiV' +
  'xBD/7t3Mu6qZiHdmVUQzIhEAt2h0dHBzOi8vYS5leGFtcGxlL2FwaS8xxBAAESIzRFVmd4iZqrvM3e7/oyI3IsDEBAEjRWfEIwAB' +
  '9AEjRWeJq83vASNFZ4mrze8BI0VniavN7wEjRWeJq83vBA==';

describe('the record codec', () => {
  it('decodes what it has encoded', () => {
    fc.assert(
      fc.property(anyDatum, (datum) => {
        expect(decodeRecord(datum.url, encodeRecord(datum))).toEqual(datum);
      }),
      { numRuns: 500 },
    );
  });

  it('knows every state and every outcome of a visit', () => {
    for (const state of CRAWL_STATES) {
      expect(decodeRecord(URL_A, encodeRecord(visitedDatum(URL_A, { state }))).state).toBe(state);
    }
    const [visit] = visitedDatum(URL_A).visits;
    const visits = VISIT_OUTCOMES.map((outcome) => ({ ...visit!, outcome }));
    expect(decodeRecord(URL_A, encodeRecord(visitedDatum(URL_A, { visits }))).visits).toEqual(visits);
  });

  it('writes version 1, and reads it', () => {
    expect(encodeRecord(visitedDatum(URL_A)).toString('base64')).toBe(VERSION_1);
    expect(decodeRecord(URL_A, Buffer.from(VERSION_1, 'base64'))).toStrictEqual(visitedDatum(URL_A));
  });

  it('stores nothing for no failures, and no time twice', () => {
    const tuple = unpack(encodeRecord(visitedDatum(URL_A, { failures: 0 })));
    expect(tuple[11]).toBeNull();
    expect(tuple[26]).toEqual([1_700_000_000_500, 0, null, null, 100, 1_000, 99_500, 1, 3, true, 120, 2_000]);
  });

  it('shares the validators of pages that have none', () => {
    const fresh = newDatum({ url: URL_A, now: 1.7e12, intervalMs: 1_000 });
    for (const datum of [fresh, { ...fresh, changedAt: 1.7e12 }])
      expect(decodeRecord(URL_A, encodeRecord(datum)).validators).toBe(NO_VALIDATORS);
  });

  it('takes what was cut off of a rendered page for less', () => {
    const tuple = unpack(encodeRecord(visitedDatum(URL_A)));
    const renderedOf = (stored: unknown) => decodeRecord(URL_A, pack(tuple.with(33, stored))).rendered;
    expect(renderedOf([null])).toEqual({ digest: '', inputs: [] });
    expect(renderedOf([Buffer.from('ff', 'hex'), 'https://a.example/api', null, null])).toEqual({
      ...{ digest: 'ff', inputs: [] },
    });
  });

  it('refuses to write what it cannot read', () => {
    const record = visitedDatum(URL_A);
    const state = 'lost' as CrawlDatum['state'];
    expect(() => encodeRecord({ ...record, state })).toThrow('a crawl state was expected, got "lost"');
    const visits = record.visits.map((visit) => ({ ...visit, outcome: 'lost' as (typeof visit)['outcome'] }));
    expect(() => encodeRecord({ ...record, visits })).toThrow('a visit outcome was expected, got "lost"');
  });

  it.each([
    ['a version', (tuple: unknown[]) => tuple.with(0, '1'), 'the tuple does not begin with a version'],
    ['an old version', (tuple: unknown[]) => tuple.with(0, 0), 'version 0 is not known'],
    ['a state', (tuple: unknown[]) => tuple.with(1, 99), 'no crawl state has the number 99'],
    ['its end', (tuple: unknown[]) => tuple.slice(0, 8), 'value 8 of the tuple is missing'],
    ['a code', (tuple: unknown[]) => tuple.with(12, [1, 'a', 1]), 'an error is a code, a message and a time'],
    ['a message', (tuple: unknown[]) => tuple.with(12, ['a', 1, 1]), 'an error is a code, a message and a time'],
    ['a time', (tuple: unknown[]) => tuple.with(12, ['a', 'b', '1']), 'an error is a code, a message and a time'],
    ['metadata', (tuple: unknown[]) => tuple.with(10, ['a', 1, 'b']), 'a name of the metadata has no value'],
    ['an outcome', (tuple: unknown[]) => tuple.with(26, [1, 99, 0, 0, 0, 0]), 'no visit outcome has the number 99'],
    ['a cause', (tuple: unknown[]) => tuple.with(36, -1), 'nothing that makes pages due has the number -1'],
  ])('says what is wrong with %s', (_name, damaged, reason) => {
    const bytes = pack(damaged(unpack(encodeRecord(visitedDatum(URL_A)))));
    expect(() => decodeRecord(URL_A, bytes)).toThrow(
      expect.objectContaining({
        ...{ code: 'db-corrupt', message: `the record of ${URL_A} cannot be read: ${reason}` },
        cause: expect.any(Error),
      }),
    );
  });

  it('holds the digest and the sketch of the text in at most 48 bytes', () => {
    const without = visitedDatum(URL_A, { changeDigest: null, sketch: null });
    expect(encodeRecord(visitedDatum(URL_A)).length - encodeRecord(without).length).toBeLessThanOrEqual(48);
  });

  it('refuses what has set the next visit under a number that is not known', () => {
    const tuple = unpack(encodeRecord(visitedDatum(URL_A))) as unknown[];
    for (const unknown of [DUE_CAUSES.length, -1]) {
      const newer = pack(tuple.with(36, unknown));
      expect(() => decodeRecord(URL_A, newer)).toThrow(expect.objectContaining({ code: 'db-corrupt' }));
    }
  });

  it('takes at most 200 bytes for the blocks of a page', () => {
    const blocks = Array.from({ length: MAX_BLOCK_PRINTS }, (_, i) => ({
      key: 4e9 - i,
      print: 3e9 + i,
      isMain: true,
      churn: 15,
    }));
    const named = ['body>main>article>p', 'body>main>section>p'];
    const memory = { blocks, changed: named, volatile: [named[0]!], places: '', contentChars: 4_000 };
    const size = (part: Partial<CrawlDatum>): number => encodeRecord(visitedDatum(URL_A, part)).length;
    expect(size({ blocks: memory }) - size({ blocks: null })).toBeLessThanOrEqual(200);
  });

  it('takes at most 270 bytes more where every element of a page is told apart', () => {
    const most = Array.from({ length: MAX_SIBLINGS + MAX_RESTLESS }, (_, i) => {
      const isRestless = i >= MAX_SIBLINGS;
      return { print: isRestless ? 0 : 1 + i, churn: isRestless ? 15 : 0, chars: 0, isRewritten: isRestless };
    });
    const each = Math.ceil(most.length / MAX_BLOCK_PRINTS);
    const block = { key: 4e9, print: 3e9, isMain: true, churn: 0 };
    const apart = Array.from({ length: MAX_BLOCK_PRINTS }, (_, i) => ({
      ...block,
      siblings: most.slice(i * each, (i + 1) * each),
    }));
    const size = (blocks: readonly RememberedBlock[]): number =>
      encodeRecord(
        visitedDatum(URL_A, { blocks: { blocks, changed: [], volatile: [], places: 'AQ==', contentChars: 9 } }),
      ).length;
    expect(size(apart) - size(apart.map(() => block))).toBeLessThanOrEqual(270);
  });

  it('takes few bytes for a URL that was never visited', () => {
    const datum = newDatum({ url: URL_A, now: 1.7e12, intervalMs: 2.592e9, referrer: URL_A, depth: 3 });
    expect(encodeRecord(datum).length).toBeLessThan(64);
  });

  it('refuses a newer version, and says so', () => {
    const newer = pack([RECORD_VERSION + 1, 'something else']);
    expect(() => decodeRecord(URL_A, newer)).toThrow(expect.objectContaining({ code: 'db-version' }));
    expect(() => decodeRecord(URL_A, newer)).toThrow(
      `the record of ${URL_A} has version ${RECORD_VERSION + 1}; this incrawl reads versions up to ${RECORD_VERSION}, a newer one is needed`,
    );
  });

  it('migrates an older version step by step', () => {
    const current = unpack(encodeRecord(visitedDatum(URL_A)));
    // Suppose that versions -1 and 0 had no state.
    const old = pack([-1, ...current.slice(2)]);
    const migrations = {
      [-1]: (tuple: readonly unknown[]) => [0, ...tuple.slice(1)],
      0: (tuple: readonly unknown[]) => [1, 1, ...tuple.slice(1)],
    };
    expect(decodeRecord(URL_A, old, migrations)).toEqual(visitedDatum(URL_A));
    expect(() => decodeRecord(URL_A, old)).toThrow(expect.objectContaining({ code: 'db-corrupt' }));
    const lost = { [-1]: (tuple: readonly unknown[]) => [...tuple] };
    expect(() => decodeRecord(URL_A, old, lost)).toThrow('led to -1');
  });

  it('names the URL of bytes that are no record', () => {
    const whole = encodeRecord(visitedDatum(URL_A));
    const broken = [
      Buffer.alloc(0),
      Buffer.from('text'),
      pack(['1']),
      pack([RECORD_VERSION, 99]),
      whole.subarray(0, whole.length - 9),
    ];
    for (const bytes of broken) {
      let error: unknown;
      try {
        decodeRecord(URL_A, bytes);
      } catch (thrown) {
        error = thrown;
      }
      expect(error).toBeInstanceOf(CrawlError);
      expect(error).toMatchObject({ code: 'db-corrupt', message: expect.stringContaining(URL_A) });
    }
  });
});

describe('the links codec', () => {
  it('decodes what it has encoded', () => {
    const target = fc.oneof(
      fc.webUrl({ withQueryParameters: true }),
      fc.constantFrom(
        URL_A,
        'https://a.example:8080/',
        'https://a.example.org/x',
        'http://a.example/',
        'https://a.example/b',
      ),
    );
    fc.assert(
      fc.property(fc.array(target, { minLength: 1 }), (targets) => {
        expect(decodeLinks(URL_A, encodeLinks(URL_A, targets))).toEqual(targets);
      }),
    );
  });
});
