import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  endHash,
  inlinksOf,
  joinedLevels,
  levelsOfLink,
  withInlinks,
} from '../../../../src/core/domain/crawl/discovery/inlinks.ts';
import { newDatum } from '../../../../src/core/domain/crawl/states/datum.ts';

/** What so many links of a site to one of its pages say. */
function levelsOf(target: string, links: number): number {
  let levels = 0;
  for (let i = 0; i < links; i++) {
    levels = joinedLevels(levels, levelsOfLink(endHash(`http://a.example/p/${i}`), endHash(target)));
  }
  return levels;
}
const targets = Array.from({ length: 400 }, (_, i) => `http://a.example/target/${i}`);

describe('levels of links', () => {
  it.each([64, 256, 1_024, 8_192])('of %i links tell their number by a factor of four, as a rule', (links) => {
    const counts = targets.map((target) => inlinksOf(levelsOf(target, links)));
    const near = counts.filter((inlinks) => inlinks >= links / 4 && inlinks <= links * 4);
    // About 64 is the first number that is told: half of the pages with as many links have it.
    expect(near.length / counts.length).toBeGreaterThan(links === 64 ? 0.5 : 0.9);
  });

  it('of few links tell none: one or two never, a handful of pages in a thousand never', () => {
    for (const links of [1, 2]) for (const target of targets) expect(inlinksOf(levelsOf(target, links))).toBe(0);
    const many = Array.from({ length: 2_000 }, (_, i) => `http://a.example/other/${i}`);
    expect(many.filter((target) => inlinksOf(levelsOf(target, 8)) > 0).length).toBeLessThan(20);
  });

  it('say the same of the same link for ever', () => {
    const levels = Array.from({ length: 400 }, (_, i) => levelsOfLink(endHash(`http://a/${i}`), endHash('http://b/')));
    expect(
      levels
        .filter((each) => each > 0)
        .map((each) => each.toString(16))
        .join(' '),
    ).toBe('2 3000 2 2 20 30 2000 20 2 20 200 40 5 2 3000 300 200 2000 200 2000 200 200 3000 20 2 20 2 2000 20');
  });
});

describe('factors of a page', () => {
  const factors = (inlinks: number) => ({ score: inlinks ** 0.5, visit: inlinks ** 0.25 });
  const page = newDatum({ url: 'http://a.example/', now: 0, intervalMs: 1, score: 0.5, metadata: { note: 'x' } });
  const level = fc.integer({ min: 2, max: 15 });
  const link = fc.tuple(level, fc.integer({ min: 0, max: 3 })).map(([of, share]) => of << (4 * share));

  it('are those of all its links, in whatever order and however often they came', () => {
    fc.assert(
      fc.property(fc.array(link, { minLength: 1, maxLength: 12 }), (links) => {
        let datum = page;
        for (const each of [...links, ...links.toReversed()]) datum = withInlinks(datum, each, factors) ?? datum;
        const all = links.reduce(joinedLevels, 0);
        const inlinks = inlinksOf(all);
        const { score, visit } = inlinks === 0 ? { score: 1, visit: 1 } : factors(inlinks);
        const known = inlinks === 0 ? {} : { inlinks, inlinkScore: score, inlinkWeight: visit };
        expect(datum.metadata).toEqual({ note: 'x', inlinkLevels: all, ...known });
        expect(datum.score).toBeCloseTo(0.5 * score, 6);
      }),
    );
  });

  it('come when three of four shares of the links agree', () => {
    const two = withInlinks(page, 0x0022, factors);
    expect([two?.score, two?.metadata.inlinks]).toEqual([0.5, undefined]);
    const three = two && withInlinks(two, 0x0f00, factors);
    expect([three?.score, three?.metadata.inlinks]).toEqual([4, 64]);
    expect(three && withInlinks(three, 0x0122, factors)).toBeNull();
  });
});
