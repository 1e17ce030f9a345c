import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DAY_MS } from '../../../../src/core/domain/time.ts';
import {
  FamilyShares,
  figuresOf,
  RecentPrints,
  type UrlFamily,
} from '../../../../src/core/domain/url/families/family-shares.ts';
import { thinnessOf } from '../../../../src/core/domain/url/families/noise-families.ts';
import { createTextSketcher } from '../../../../src/page/near/page-dimensions.ts';

const OPTIONS = { growth: 4, trial: 10, maxFamilies: 1_000 };
const QUOTA = 100;
const family = (name: string, quota = QUOTA): UrlFamily => ({ name, quota });

/** URLs that have entered after rounds in which all that entered is visited, and a share of the visits is of worth. */
function grown(worthwhile: number, rounds: number, found = Number.POSITIVE_INFINITY): number {
  const shares = new FamilyShares(OPTIONS);
  const families = [family('a.org|x')];
  let [entered, visited] = [0, 0];
  for (let round = 0; round < rounds; round++) {
    while (entered < found && shares.judge(families, 0).verdict === 'enters') {
      shares.enter(families, 0);
      entered++;
    }
    for (; visited < entered; visited++) {
      const isGood = Math.floor((visited + 1) * worthwhile) > Math.floor(visited * worthwhile);
      shares.visit(families, Number(isGood));
    }
  }
  return entered;
}

describe('the share of a family', () => {
  it.each([
    [0, 100, 100],
    [0.1, 100, 110],
    [0.3, 140, 160],
    [0.45, 400, 600],
  ])('ends where %d of the visits are of worth, however many rounds', (worthwhile, least, most) => {
    const entered = grown(worthwhile, 200);
    expect(entered).toBeGreaterThanOrEqual(least);
    expect(entered).toBeLessThanOrEqual(most);
  });

  it.each([0.55, 0.7, 1])('never ends where %d of the visits are of worth', (worthwhile) => {
    expect(grown(worthwhile, 60, 2_000)).toBe(2_000);
  });

  it('five thousand pages of worth enter within four rounds', () => {
    expect([1, 2, 3, 4].map((rounds) => grown(1, rounds, 5_000))).toEqual([100, 500, 2_100, 5_000]);
  });

  it('without any visit it has its quota', () => {
    expect(grown(1, 1)).toBe(QUOTA);
  });

  it('a family that is known well decides without the broader ones', () => {
    const shares = new FamilyShares(OPTIONS);
    const [good, trap, site] = [family('a.org|good'), family('a.org|trap'), family('a.org', 200)];
    for (let i = 0; i < QUOTA; i++) {
      for (const narrow of [good, trap]) {
        shares.enter([narrow, site], 0);
        shares.visit([narrow, site], Number(narrow === good));
      }
    }
    expect(shares.judge([trap, site], 0).verdict).toBe('waits');
    expect(shares.judge([good, site], 0).verdict).toBe('enters');
    for (let i = 0; i < 1_000; i++) shares.enter([trap, site], 0);
    expect(shares.judge([good, site], 0)).toMatchObject({ verdict: 'enters', by: { family: 'a.org|good' } });
    expect(shares.judge([family('a.org|other'), site], 0)).toMatchObject({ verdict: 'waits', by: { family: 'a.org' } });
  });

  it('a family without room lets a few in each day', () => {
    const shares = new FamilyShares(OPTIONS);
    const families = [family('a.org|x', 1), family('a.org', 1_000)];
    const entersOn = (now: number): number => {
      for (let entered = 0; ; entered++) {
        const share = shares.judge(families, now);
        if (share.verdict === 'waits') return entered;
        shares.enter(families, now, share);
      }
    };
    expect([0, DAY_MS - 1, DAY_MS, DAY_MS, 2 * DAY_MS - 1, 2 * DAY_MS].map(entersOn)).toEqual([1, 0, 10, 0, 0, 10]);
  });

  it('none has more than its limit, but for trials, whatever the visits bring', () => {
    const step = fc.record({ name: fc.constantFrom('a', 'b', 'c'), worth: fc.constantFrom(0, 0.5, 1) });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
        const shares = new FamilyShares({ ...OPTIONS, trial: 0 });
        for (const { name, worth } of steps) {
          const families = [family(name, 5), family('all', 20)];
          const share = shares.judge(families, 0);
          if (share.verdict === 'enters') shares.enter(families, 0, share);
          else {
            const by = share.by;
            expect(by !== null && by.entered >= by.limit, by === null ? '' : figuresOf(by)).toBe(true);
          }
          shares.visit(families, worth);
        }
      }),
    );
  });

  it('further families than are counted are judged by the broader ones', () => {
    const shares = new FamilyShares({ ...OPTIONS, maxFamilies: 1 });
    const site = family('a.org', 3);
    shares.enter([site], 0);
    for (let i = 0; i < 2; i++) shares.enter([family(`a.org|${i}`, 1), site], 0);
    expect(shares.size).toBe(1);
    expect(shares.judge([family('a.org|0', 1), site], 0)).toMatchObject({ verdict: 'waits', by: { family: 'a.org' } });
  });
});

describe('what a page has beside its links', () => {
  it.each([
    [undefined, 50, 0, null],
    [100, 50, 0, null],
    [99, 7, 0, 'link-list'],
    [73, 7, 0, 'link-list'],
    [73, 5, 0, 'link-list'],
    [73, 4, 0, 'little-text'],
    [73, 2, 5, 'index'],
    [20, 1, 30, 'index'],
    [20, 0, 1, 'little-text'],
    [0, 0, 0, 'little-text'],
  ] as const)('%d characters, %d links beside it and %d elsewhere', (chars, beside, elsewhere, thin) => {
    expect(thinnessOf(chars, () => ({ beside, elsewhere }))).toBe(thin);
  });
});

describe('prints of the last visits', () => {
  const sketchOf = createTextSketcher();
  const sketched = (text: string) => sketchOf({ mainText: text, text });
  const words = (from: number, count: number) => Array.from({ length: count }, (_, i) => `word${from + i}`).join(' ');
  const far = (n: number) => mixed(n).repeat(4);
  const mixed = (n: number): string => (Math.imul(n + 1, 0x9e3779b1) >>> 16).toString(16).padStart(4, '0');

  it('find a text that differs in a date, and none that shares half its words', () => {
    const prints = new RecentPrints();
    const dated = (date: string) => sketched(`${words(0, 80)} ${date} ${words(80, 80)}`);
    expect(prints.isNear(far(1), dated('Sun 17 May 2026'))).toBe(false);
    expect(prints.isNear(far(2), dated('Mon 18 May 2026'))).toBe(true);
    expect(prints.isNear(far(3), sketched(`${words(0, 80)} ${words(900, 80)}`))).toBe(false);
    // Pages without a sketch are not alike for that.
    expect(prints.isNear(far(4))).toBe(false);
    expect(prints.isNear(far(5))).toBe(false);
    // So it goes on where a process ends.
    expect(new RecentPrints(prints.prints()).isNear(far(6), dated('Tue 19 May 2026'))).toBe(true);
  });

  it('find those within three bits, and forget the oldest of more than 32', () => {
    const prints = new RecentPrints();
    expect(prints.isNear('00000000000000ff')).toBe(false);
    expect(prints.isNear('80000000000100fe')).toBe(true);
    expect(prints.isNear('80000000001100fe')).toBe(false);
    // No two of these are near each other, or near the first.
    const others = Array.from({ length: 31 }, (_, i) => ((i + 1) * 0x0f0f0f1).toString(16).padStart(8, '0').repeat(2));
    for (const other of others) prints.isNear(other);
    expect(prints.isNear('00000000000000ff')).toBe(false);
  });
});
