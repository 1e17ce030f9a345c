import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newDatum } from '../../../../src/core/domain/crawl/states/datum.ts';
import { lcsSimilarity } from '../../../../src/core/domain/url/families/lcs.ts';
import {
  FamilyMatcher,
  familiesToKeep,
  type StoredFamily,
} from '../../../../src/core/domain/url/families/stored-families.ts';
import { lowered, released } from '../../../../src/core/steps/update/link-treatment.ts';

const family = (leader: string, isNoise: boolean, size = 9): StoredFamily => {
  return { leader, size, isNoise, similarityToNoise: isNoise ? 0.95 : 0.3 };
};
const ADS = family('/ad/click?campaign=100&slot=1', true);
const NEWS = family('/news/2024/10/harbour-winter-1000.html', false);

describe('families that are kept', () => {
  it('are the noise, and the content that could be mistaken for it', () => {
    const near = family('/ad/clicks-explained?page=100', false);
    expect(familiesToKeep([NEWS, ADS, near])).toEqual([ADS, near]);
    expect(familiesToKeep([NEWS, near])).toEqual([]);
  });

  it('are of five URLs or more, and of bounded number', () => {
    expect(familiesToKeep([family('/ad?1', true, 4)])).toEqual([]);
    const many = Array.from({ length: 2_000 }, (_, i) => family(`/ad/${i}`, i % 2 === 0, 5 + i));
    const kept = familiesToKeep(many);
    expect(kept).toHaveLength(512);
    expect(kept.slice(0, 256).every(({ isNoise, size }) => isNoise && size > 1_400)).toBe(true);
  });
});

describe('a URL and the families', () => {
  it.each([
    ['https://a.org/ad/click?campaign=77777&slot=3', true],
    ['https://www.a.org/ad/click?campaign=100&slot=1', true],
    ['https://a.org/news/2024/11/winter-harbour-1001.html', false],
    ['https://a.org/', false],
  ])('%s: noise %s', (url, isNoise) => {
    const match = new FamilyMatcher([ADS, NEWS]).match(url);
    expect(match === null ? false : match.family === ADS && (match.similarity ?? 0) >= 0.8).toBe(isNoise);
  });

  it('as near to content as to noise it is content', () => {
    expect(new FamilyMatcher([family('/x/1', true), family('/x/1', false)]).match('https://a.org/x/1')).toBeNull();
  });

  it('is of noise exactly when the nearest leader of all is', () => {
    const path = fc
      .string({ unit: fc.constantFrom('/', 'a', 'd', '1', '2', '?'), maxLength: 14 })
      .map((text) => `/${text}`);
    fc.assert(
      fc.property(fc.array(fc.tuple(path, fc.boolean()), { maxLength: 8 }), path, (leaders, text) => {
        const families = leaders.map(([leader, isNoise]) => family(leader, isNoise));
        const best = (isNoise: boolean): number =>
          Math.max(
            0,
            ...families.filter((each) => each.isNoise === isNoise).map(({ leader }) => lcsSimilarity(leader, text)),
          );
        const expected = best(true) >= 0.8 && best(true) > best(false);
        expect(new FamilyMatcher(families).match(`https://a.org${text}`) !== null).toBe(expected);
      }),
      { numRuns: 300 },
    );
  });
});

describe('a record that enters by a link of a noise family', () => {
  const match = { family: ADS, similarity: 0.9 };
  const fresh = newDatum({ url: 'https://a.org/ad/click?campaign=1', now: 1_000, intervalMs: 50, score: 0.7 });
  const noisy = { ...fresh, metadata: { demoted: 'outlinks: noise (navigation)', redirects: 1 } };

  it.each([
    ['demote', 1_000],
    ['defer', 1_050],
  ] as const)('%s: has a tenth of its score, is due at %i, and gets both back', (treatment, dueAt) => {
    for (const datum of [fresh, noisy]) {
      const low = lowered(datum, match, treatment);
      expect(low.score).toBeCloseTo(0.07, 12);
      expect(low.nextFetchAt).toBe(dueAt);
      expect(low.metadata).toMatchObject({
        linkFamily: ADS.leader,
        demoted: datum.metadata.demoted ?? expect.any(String),
      });
      expect(released(low, 1_000)).toEqual(datum);
    }
  });

  it('visited since, it keeps its time', () => {
    const visit = { at: 1_060, outcome: 'new', distance: null, elapsedMs: null, bytes: 1, intervalMs: 50 } as const;
    const visited = { ...lowered(fresh, match, 'defer'), nextFetchAt: 5_000, visits: [visit] };
    expect(released(visited, 1_100)).toMatchObject({ nextFetchAt: 5_000, score: 0.7, metadata: {} });
    expect(released(fresh, 1_100)).toBeNull();
  });
});
