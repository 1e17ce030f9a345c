import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { collectNear, enter, lastScopeMask, layOut, makeTables, visitNear } from '../../src/page/near/bucket-tables.ts';
import {
  FingerprintTables,
  fingerprintDistance,
  hammingDistance,
  type Neighbour,
  parseFingerprint,
  permuted,
  tableKey,
} from '../../src/page/near/fingerprint-tables.ts';

/** By the definition, bit by bit. */
const distanceOf = (a: string, b: string): number =>
  (BigInt(`0x${a}`) ^ BigInt(`0x${b}`)).toString(2).replaceAll('0', '').length;

const flipped = (hex: string, bits: readonly number[]): string =>
  bits
    .reduce((value, bit) => value ^ (1n << BigInt(bit)), BigInt(`0x${hex}`))
    .toString(16)
    .padStart(16, '0');

const CENTRES = ['fd851af90bc24962', '0000000000000000', 'ffffffffffffffff', '00000000fd851af9'];
/** Around few centres, so that near ones, misses by one bit and equal ones are common. */
const hex = fc
  .record({ centre: fc.constantFrom(...CENTRES), bits: fc.array(fc.nat(63), { maxLength: 5 }) })
  .map(({ centre, bits }) => flipped(centre, bits));
const hexes = fc.array(hex, { maxLength: 40 });
const byId = (found: readonly Neighbour[]): Neighbour[] => found.toSorted((a, b) => a.id - b.id);

function tablesOf(all: readonly string[]): FingerprintTables {
  const tables = new FingerprintTables();
  for (const [id, each] of all.entries()) tables.add(parseFingerprint(each), id);
  return tables;
}

/** A pass over all. */
const nearOf = (all: readonly string[], question: string, distance: number): Neighbour[] =>
  all
    .map((each, id) => ({ id, distance: distanceOf(each, question) }))
    .filter((neighbour) => neighbour.distance <= distance);

describe('fingerprints', () => {
  it.each(['', 'fd851af90bc2496', 'fd851af90bc249620', 'FD851AF90BC24962', ' fd851af90bc24962', 'fd851af90bc2496g'])(
    '%j is none',
    (text) => {
      expect(() => parseFingerprint(text)).toThrow(`16 hex digits was expected, got "${text}"`);
    },
  );

  it('their distance is the number of bits in which they differ', () => {
    fc.assert(
      fc.property(hex, hex, (a, b) => {
        expect(hammingDistance(a, b)).toBe(distanceOf(a, b));
        expect(fingerprintDistance(parseFingerprint(a), parseFingerprint(b))).toBe(distanceOf(a, b));
      }),
    );
  });

  it('a table has a quarter of them as its key, and in front', () => {
    const text = '0123456789abcdef';
    expect([0, 1, 2, 3].map((table) => tableKey(parseFingerprint(text), table))).toEqual([
      0x0123, 0x4567, 0x89ab, 0xcdef,
    ]);
    expect([0, 1, 2, 3].map((table) => permuted(text, table))).toEqual([
      '0123456789abcdef',
      '4567012389abcdef',
      '89ab45670123cdef',
      'cdef456789ab0123',
    ]);
    for (const table of [0, 1, 2, 3]) expect(permuted(permuted(text, table), table)).toBe(text);
  });
});

describe('tables of fingerprints', () => {
  it('find what a pass over all finds, each once', () => {
    fc.assert(
      fc.property(hexes, hex, fc.nat(3), fc.constantFrom(1, 2), (all, question, distance, step) => {
        const tables = tablesOf(all);
        expect(tables.size).toBe(all.length);
        const asked = parseFingerprint(question);
        const expected = nearOf(all, question, distance);
        expect(byId(tables.near(asked, distance))).toEqual(expected);
        const isWanted = (id: number): boolean => id % step === 0;
        const wanted = expected.filter(({ id }) => isWanted(id));
        expect(byId(tables.near(asked, distance, isWanted))).toEqual(wanted);
        const [nearest = null] = wanted.toSorted((a, b) => a.distance - b.distance || a.id - b.id);
        expect(tables.nearest(asked, distance, isWanted)).toEqual(nearest);
      }),
      { numRuns: 200 },
    );
  });

  it('have no bound for those that are alike', () => {
    const tables = new FingerprintTables();
    for (let id = 0; id < 1_000; id++) tables.add(parseFingerprint(flipped(CENTRES[0]!, [id % 64])), id);
    expect(tables.near(parseFingerprint(CENTRES[0]!), 1)).toHaveLength(1_000);
    expect(tables.nearest(parseFingerprint(flipped(CENTRES[0]!, [5])), 3)).toEqual({ id: 5, distance: 0 });
  });

  it('refuse a distance at which they would miss some', () => {
    expect(() => tablesOf([]).near(parseFingerprint(CENTRES[0]!), 4)).toThrow('at most 3 bits was expected, got 4');
  });
});

describe('tables with fixed places', () => {
  /** Tables in which both have the same key, and at most three bits differ in the half outside of it. */
  const sharedBuckets = (a: string, b: string): number[] =>
    [0, 1, 2, 3].filter((table) => {
      const [key, half] = [4 * table, table < 2 ? 8 : 0];
      return (
        a.slice(key, key + 4) === b.slice(key, key + 4) &&
        distanceOf(a.slice(half, half + 8), b.slice(half, half + 8)) <= 3
      );
    });
  const columnsOf = (all: readonly string[]) => {
    const both = all.map(parseFingerprint);
    return { high: Int32Array.from(both, ({ high }) => high), low: Int32Array.from(both, ({ low }) => low) };
  };
  const filled = (all: readonly string[], rows: readonly number[]) => {
    const columns = columnsOf(all);
    const tables = makeTables(all.length);
    // What an earlier use has left is gone.
    layOut(tables, columns, all.length);
    for (const row of rows) enter(tables, columns, row);
    layOut(tables, columns, all.length);
    for (const row of rows) enter(tables, columns, row);
    return tables;
  };

  it('find those inserted whose other half is near, once for each table: all within three bits', () => {
    const tables = makeTables(1);
    expect([tables.starts, tables.ends, tables.others, tables.rows].map(({ length }) => length)).toEqual([
      262_144, 262_144, 4, 4,
    ]);
    fc.assert(
      fc.property(hexes, hex, fc.constantFrom(1, 2), (all, question, step) => {
        const rows = [...all.keys()].filter((row) => row % step === 0);
        const found: number[] = [];
        const { high, low } = parseFingerprint(question);
        collectNear(filled(all, rows), high | 0, low | 0, found);
        expect(found.sort((a, b) => a - b)).toEqual(
          rows.flatMap((row) => sharedBuckets(all[row]!, question).map(() => row)),
        );
        const near = rows.filter((row) => distanceOf(all[row]!, question) <= 3);
        expect(near.filter((row) => !found.includes(row))).toEqual([]);
      }),
      { numRuns: 30 },
    );
  });

  it('against each other as one by one', () => {
    fc.assert(
      fc.property(hexes, hexes, (own, others) => {
        const tables = filled(own, [...own.keys()]);
        const pairs: string[] = [];
        visitNear(tables, filled(others, [...others.keys()]), (a, b) => pairs.push(`${a} ${b}`));
        const oneByOne = others.flatMap((each, b) => {
          const found: number[] = [];
          const { high, low } = parseFingerprint(each);
          collectNear(tables, high | 0, low | 0, found);
          return found.map((a) => `${a} ${b}`);
        });
        expect(pairs.sort()).toEqual(oneByOne.sort());
      }),
      { numRuns: 30 },
    );
  });

  it('are masked by scope: alike within one, unlike between two', () => {
    const maskOf = lastScopeMask();
    const scopes = ['', 'a.org', 'a.org', 'b.org', '', 'a.org', 'b.org'];
    const masks = scopes.map((scope) => JSON.stringify(maskOf(scope)));
    for (const [at, scope] of scopes.entries()) expect(masks[at]).toBe(JSON.stringify(lastScopeMask()(scope)));
    expect(new Set(masks).size).toBe(3);
    const { id, high, low } = maskOf('a.org');
    expect(new Set([id, high, low]).size).toBe(3);
  });
});
