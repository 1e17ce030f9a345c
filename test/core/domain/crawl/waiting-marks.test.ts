import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  decodeMarks,
  encodeMarks,
  type LinkMark,
  NO_MARK,
} from '../../../../src/core/domain/crawl/discovery/waiting-marks.ts';

const noise = (reason: string): LinkMark => ({ ...NO_MARK, noise: reason });
const range = (from: number, to: number, mark: LinkMark): [number, LinkMark][] =>
  Array.from({ length: to - from + 1 }, (_, i) => [from + i, mark]);

describe('marks of links as text', () => {
  it.each<[string, [number, LinkMark][], string]>([
    ['none', [], ''],
    ['links without a mark', range(0, 9, NO_MARK), ''],
    [
      'those with one, the most first',
      [[3, { ...NO_MARK, isNextPage: true }], ...range(5, 60, noise('nav'))],
      'noise:nav 5-60; next 3',
    ],
    ['gaps', [...range(0, 2, noise('nav')), [4, noise('nav')]], 'noise:nav 0-2,4'],
    [
      'several of one link',
      [[7, { noise: 'a b; +next', isNextPage: true, factor: 0.25 }]],
      'noise:a%20b%3B%20%2Bnext+next+x0.25 7',
    ],
  ])('%s', (_, marks, text) => {
    expect(encodeMarks(new Map(marks))).toBe(text);
    expect(decodeMarks(text)).toEqual(new Map(marks.filter(([, mark]) => mark !== NO_MARK)));
  });

  it('come back, whatever their reasons', () => {
    const mark = fc.record({
      noise: fc.option(fc.string({ minLength: 1, maxLength: 12 })),
      isNextPage: fc.boolean(),
      factor: fc.constantFrom(1, 0.2, 2.5, 1e-7, 3e21),
    });
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(300), mark), { maxLength: 20 }), (list) => {
        const marks = new Map(list);
        const expected = [...marks].filter(([, each]) => JSON.stringify(each) !== JSON.stringify(NO_MARK));
        expect(decodeMarks(encodeMarks(marks))).toEqual(new Map(expected));
      }),
    );
  });

  it('are bounded: the rarest are left out', () => {
    const many = new Map([
      ...range(0, 99, noise('nav')),
      ...range(200, 900, NO_MARK).map(([at]) => [at, noise(`r${at}`)] as const),
    ]);
    const text = encodeMarks(many);
    expect(text.length).toBeLessThanOrEqual(2_000);
    expect(decodeMarks(text).get(42)).toEqual(noise('nav'));
    expect(decodeMarks(text).size).toBeGreaterThan(150);
  });

  it.each(['', ' ', 'noise: 3', 'x-1 4', 'xNaN 4', 'noise:%E0%A4 1', 'other 5-2', 'next 1-99999999', '; ;'])(
    'what is no mark does no harm: %j',
    (text) => {
      expect(decodeMarks(text).size).toBeLessThan(3);
      for (const { factor } of decodeMarks(text).values()) expect(factor).toBe(1);
    },
  );
});
