import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  FEWEST_DESCRIPTORS,
  fewerRequests,
  isOutOfFiles,
  shareDescriptors,
} from '../../../src/core/domain/system-limit.ts';

describe('shareDescriptors', () => {
  it('leaves the configured concurrency and 256 idle connections where there is no limit, or a high one', () => {
    expect(shareDescriptors(null, 50)).toEqual({ concurrency: 50, idleSockets: 256 });
    expect(shareDescriptors(1_024, 50)).toEqual({ concurrency: 50, idleSockets: 256 });
  });

  it('has something left for everything else, at least one request, and never more than configured', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5_000 }), fc.integer({ min: 1, max: 1_000 }), (limit, wanted) => {
        const shares = shareDescriptors(limit, wanted);
        expect(shares === null).toBe(limit < FEWEST_DESCRIPTORS);
        if (shares === null) return;
        const { concurrency, idleSockets } = shares;
        expect(concurrency).toBeGreaterThanOrEqual(1);
        expect(concurrency).toBeLessThanOrEqual(wanted);
        expect(idleSockets).toBeGreaterThanOrEqual(0);
        expect(concurrency + idleSockets).toBeLessThanOrEqual(limit - (FEWEST_DESCRIPTORS - 4));
      }),
    );
  });

  it('the number that the warning expects is the least one that suffices', () => {
    for (const wanted of [1, 50, 199, 200, 1_000]) {
      const expected = Number(/and (\d+) were expected/.exec(fewerRequests(100, wanted, 1))?.[1]);
      expect(shareDescriptors(expected, wanted)?.concurrency).toBe(wanted);
      expect(shareDescriptors(expected - 2, wanted)?.concurrency ?? 0).toBeLessThan(wanted);
    }
  });
});

it('isOutOfFiles goes by codes, in causes and attempts, and never by texts of strangers', () => {
  const coded = (code: string): Error => Object.assign(new Error('x'), { code });
  expect(isOutOfFiles(new Error('connect', { cause: coded('EMFILE') }))).toBe(true);
  expect(isOutOfFiles(new AggregateError([coded('ECONNREFUSED'), coded('ENFILE')]))).toBe(true);
  expect(isOutOfFiles(new Error("certificate's names: EMFILE, too many open files"))).toBe(false);
  expect(isOutOfFiles(coded('ECONNREFUSED'))).toBe(false);
});
