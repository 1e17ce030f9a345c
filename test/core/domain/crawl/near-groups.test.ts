import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nearGroups } from '../../../../src/core/domain/crawl/near/group-rows.ts';
import {
  type Fingerprint,
  FingerprintTables,
  fingerprintDistance,
  parseFingerprint,
  permuted,
  TABLES,
} from '../../../../src/page/near/fingerprint-tables.ts';

const A = 'fd851af90bc24962';
const THREE_FLIPS = '7d859af98bc24962';
const FOUR_FLIPS = '7d859af98bc2c962';
const FAR = '027ae506f43db69d';

const word = fc.integer({ min: 0, max: 0xffff_ffff });
const anyFingerprint: fc.Arbitrary<Fingerprint> = fc.record({ high: word, low: word });
/** A fingerprint and what up to five flips make of it. */
const flipped = (bits: readonly number[], { high, low }: Fingerprint): Fingerprint => {
  let [h, l] = [high, low];
  for (const bit of bits) {
    if (bit < 32) l = (l ^ (2 ** bit)) >>> 0;
    else h = (h ^ (2 ** (bit - 32))) >>> 0;
  }
  return { high: h, low: l };
};

describe('four tables', () => {
  it('hold the fingerprint with each of its parts in front, and give it back', () => {
    const groups = Array.from({ length: TABLES }, (_, table) => permuted(A, table));
    expect(groups).toEqual([A, '1af9fd850bc24962', '0bc21af9fd854962', '49621af90bc2fd85']);
    expect(groups.map((group, table) => permuted(group, table))).toEqual([A, A, A, A]);
  });

  it('three flips in three parts are found by the fourth table alone, four flips in four parts by none', () => {
    const tables = new FingerprintTables();
    tables.add(parseFingerprint(A), 7);
    expect(tables.near(parseFingerprint(THREE_FLIPS), 3)).toEqual([{ id: 7, distance: 3 }]);
    expect(fingerprintDistance(parseFingerprint(A), parseFingerprint(FOUR_FLIPS))).toBe(4);
    expect(tables.near(parseFingerprint(FOUR_FLIPS), 3)).toEqual([]);
    expect(() => tables.near(parseFingerprint(A), 4)).toThrow(RangeError);
    expect(() => parseFingerprint('xyz')).toThrow(TypeError);
  });

  it('find all within three bits, each once, as comparing with every one does', () => {
    const near = fc.tuple(anyFingerprint, fc.array(fc.array(fc.nat(63), { maxLength: 5 }), { maxLength: 30 }));
    fc.assert(
      fc.property(
        near,
        fc.array(anyFingerprint, { maxLength: 10 }),
        fc.integer({ min: 0, max: 3 }),
        ([base, flips], others, distance) => {
          const all = [...flips.map((bits) => flipped(bits, base)), ...others];
          const tables = new FingerprintTables();
          for (const [id, fingerprint] of all.entries()) tables.add(fingerprint, id);
          const brute = all.flatMap((fingerprint, id) => {
            const own = fingerprintDistance(fingerprint, base);
            return own <= distance ? [{ id, distance: own }] : [];
          });
          const byId = (a: { id: number }, b: { id: number }): number => a.id - b.id;
          expect(tables.near(base, distance).sort(byId)).toEqual(brute.sort(byId));
          const least = brute.sort((a, b) => a.distance - b.distance || a.id - b.id)[0] ?? null;
          expect(tables.nearest(base, distance)).toEqual(least);
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe('groups', () => {
  const groupsOf = (hexes: readonly string[], options: Partial<Parameters<typeof nearGroups>[2]> = {}) =>
    nearGroups(hexes.keys(), (page) => parseFingerprint(hexes[page]!), { distance: 3, ...options });

  it('the published example: a batch of one against a library of four', () => {
    const library = [A, THREE_FLIPS, FOUR_FLIPS, FAR];
    // The batch goes first, and only it leads.
    const found = groupsOf([A, ...library], { leads: (page) => page === 0 });
    expect([...found]).toEqual([
      [1, { id: 0, distance: 0 }],
      [2, { id: 0, distance: 3 }],
    ]);
  });

  it('a batch is compared with itself first', () => {
    expect([...groupsOf([A, THREE_FLIPS], { leads: () => true }).keys()]).toEqual([1]);
    expect(groupsOf([]).size).toBe(0);
  });

  it('a chain is not one group: only nearness to the representative counts', () => {
    const [first, second, third] = ['0000000000000000', '0000000000000007', '000000000000003f'];
    const found = groupsOf([first!, second!, third!]);
    expect([...found]).toEqual([[1, { id: 0, distance: 3 }]]);
  });

  it('pages of different scopes are never grouped', () => {
    expect(groupsOf([A, A, A], { mayRepeat: (a, b) => a % 2 === b % 2 }).get(2)).toEqual({ id: 0, distance: 0 });
    expect(groupsOf([A, A], { mayRepeat: () => false }).size).toBe(0);
  });

  it('no page repeats one that repeats another, and every one within the distance of a representative does', () => {
    fc.assert(
      fc.property(
        anyFingerprint,
        fc.array(fc.array(fc.nat(63), { maxLength: 4 }), { maxLength: 25 }),
        (base, flips) => {
          const all = flips.map((bits) => flipped(bits, base));
          const found = nearGroups(all.keys(), (page) => all[page]!, { distance: 3 });
          for (const { id } of found.values()) expect(found.has(id)).toBe(false);
          const leaders = [...all.keys()].filter((page) => !found.has(page));
          for (const [i, leader] of leaders.entries()) {
            for (const other of leaders.slice(i + 1)) {
              expect(fingerprintDistance(all[leader]!, all[other]!)).toBeGreaterThan(3);
            }
          }
        },
      ),
    );
  });
});
