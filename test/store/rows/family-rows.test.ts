import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { HostShares } from '../../../src/core/domain/url/families/family-shares.ts';
import type { DomainFamilies } from '../../../src/core/domain/url/families/stored-families.ts';
import {
  decodeFamilies,
  decodeShares,
  encodeFamilies,
  encodeShares,
  familiesKey,
  readFamilies,
  readShares,
  scanFamilies,
  sharesKey,
  sharesRange,
  voidShares,
} from '../../../src/store/rows/codecs/family-rows.ts';
import { NO_TALLY } from '../../../src/store/rows/codecs/row-codecs.ts';
import { pack, unpack } from '../../../src/store/rows/rows.ts';
import { MemoryRows } from './memory-rows.ts';

/**
 * Values on the right are what rows of the present format hold. Another layout is another format of the crawl db: it
 * needs a step of migration.
 */
const HOST = 'www.a.example';
const PRINT = '0123456789abcdef';
const SKETCH = `0001f4${PRINT.repeat(4)}`;

const shares = (change: Partial<HostShares> = {}): HostShares => ({
  ...{ host: HOST, part: 0, urls: 10, unfetched: 3, emptied: [], isCut: false },
  ...{ sample: null, families: [], prints: [], waiting: [], ...change },
});

describe('the shares of a host', () => {
  it.each([
    ['of nothing', shares(), [10, 3, null, [], [], [], [], false]],
    ['that are cut', shares({ isCut: true }), [10, 3, null, [], [], [], [], true]],
    [
      'with a sample and families',
      shares({
        sample: { url: 'https://www.a.example/1', families: ['f', 'g'] },
        families: [{ name: 'f', entered: 1, visits: 2, worthwhile: 3, lastAt: 4, trialsLeft: 5 }],
      }),
      [10, 3, ['https://www.a.example/1', 'f', 'g'], [['f', 1, 2, 3, 4, 5]], [], [], [], false],
    ],
    [
      'with prints without sketches',
      shares({ prints: [{ family: 'f', prints: [PRINT, 'fedcba9876543210'] }] }),
      [10, 3, null, [], [['f', Buffer.from(`${PRINT}fedcba9876543210`, 'hex')]], [], [], false],
    ],
    [
      'with prints of which one has a sketch',
      shares({ prints: [{ family: 'f', prints: [PRINT, PRINT + SKETCH] }] }),
      [
        ...[10, 3, null, []],
        [['f', Buffer.from(PRINT + PRINT, 'hex'), Buffer.from('0'.repeat(SKETCH.length) + SKETCH, 'hex')]],
        ...[[], [], false],
      ],
    ],
    [
      'with waiting pages',
      shares({
        waiting: [
          { family: { name: 'f', quota: 20 }, pages: ['https://www.a.example/2', 'https://www.a.example/3'] },
          { family: null, pages: ['https://www.a.example/4'] },
        ],
        emptied: ['g', ''],
      }),
      [
        ...[10, 3, null, [], []],
        [
          ['f', 20, 'https://www.a.example/2', 'https://www.a.example/3'],
          [null, 0, 'https://www.a.example/4'],
        ],
        ...[['g', ''], false],
      ],
    ],
  ] as [string, HostShares, unknown[]][])('%s', (_name, value, tuple) => {
    expect(unpack(encodeShares(value))).toEqual(tuple);
    expect(decodeShares(sharesKey(value), pack(tuple))).toEqual(value);
  });

  it('have the number of their part in the key, in its order', () => {
    expect(sharesKey({ host: HOST, part: 12 })).toBe('gexample.a.www.::#00000012');
    expect(decodeShares(sharesKey({ host: HOST, part: 12 }), encodeShares(shares())).part).toBe(12);
    expect(sharesRange(HOST)).toEqual({ gte: 'gexample.a.www.::#00000000', lt: 'gexample.a.www.::$' });
    expect(sharesRange(HOST, 1).gte).toBe('gexample.a.www.::#00000001');
    const parts = fc.nat(99_999_999);
    fc.assert(
      fc.property(parts, parts, (a, b) => {
        const [first, second] = [sharesKey({ host: HOST, part: a }), sharesKey({ host: HOST, part: b })];
        expect(first < second).toBe(a < b);
        const { gte, lt } = sharesRange(HOST, b);
        expect(first >= gte && first < lt).toBe(a >= b);
      }),
    );
  });

  it('are refused, with their host, where they are none', () => {
    const key = sharesKey({ host: HOST, part: 0 });
    const reason = /^the counts of like URLs of www\.a\.example cannot be read: ./;
    expect(() => decodeShares(key, Buffer.from('text'))).toThrow(
      expect.objectContaining({ code: 'db-corrupt', message: expect.stringMatching(reason), cause: expect.any(Error) }),
    );
  });

  it('are read whole: the first part with all changes since', async () => {
    const rows = new MemoryRows();
    const put = (value: HostShares): void => void rows.values.set(sharesKey(value), encodeShares(value));
    put(shares());
    put(shares({ part: 1, urls: 11 }));
    put(shares({ part: 2, urls: 12 }));
    put(shares({ host: 'alone.example', urls: 7 }));
    put(shares({ host: 'gap.example' }));
    put(shares({ host: 'gap.example', part: 2 }));
    put(shares({ host: 'late.example', part: 1 }));
    rows.values.set(sharesKey({ host: 'torn.example', part: 0 }), Buffer.from('text'));
    const hosts = [HOST, 'none.example', 'alone.example', 'gap.example', 'late.example', 'torn.example'];
    const [joined, none, alone, ...unreadable] = await readShares(rows.open(), hosts);
    expect(joined).toMatchObject({ host: HOST, urls: 12 });
    expect(none).toBeUndefined();
    expect(alone).toEqual(shares({ host: 'alone.example', urls: 7 }));
    expect(unreadable).toEqual([undefined, undefined, undefined]);
  });

  it('become void with the first part written again, and without records of the host', async () => {
    const rows = new MemoryRows();
    const keys = (host: string): string[] => [0, 1, 2].map((part) => sharesKey({ host, part }));
    const hosts = ['whole.example', 'more.example', 'empty.example', 'left.example', 'full.example'];
    for (const key of hosts.flatMap(keys)) rows.values.set(key, encodeShares(shares()));
    const written = [shares({ host: 'whole.example' }), shares({ host: 'more.example', part: 3 })];
    const known = new Map([
      ['empty.example', { tally: NO_TALLY, facts: null }],
      ['left.example', null],
      ['full.example', { tally: NO_TALLY.with(1, 1), facts: null }],
    ]);
    expect(await voidShares(rows.open(), written, known)).toEqual([
      ...keys('whole.example').slice(1),
      ...keys('empty.example'),
      ...keys('left.example'),
    ]);
  });
});

describe('the families of a domain', () => {
  const families: DomainFamilies = {
    ...{ domain: 'a.example', appliedAt: 1_700_000_000_000 },
    families: [
      { leader: '/x?a=1', size: 9, isNoise: false, similarityToNoise: 0.5 },
      {
        ...{ leader: '/y?b=1', size: 8, isNoise: true, similarityToNoise: 1 },
        visited: { template: '/y?b=*', visits: 7 },
      },
    ],
  };
  const tuple = [
    1_700_000_000_000,
    [
      ['/x?a=1', 9, false, 0.5],
      ['/y?b=1', 8, true, 1, '/y?b=*', 7],
    ],
  ];
  const other = { domain: 'b.example', appliedAt: 1, families: [] };

  it('are stored by its key', () => {
    expect(familiesKey('a.example')).toBe('wexample.a.::');
    expect(unpack(encodeFamilies(families))).toEqual(tuple);
    expect(decodeFamilies(familiesKey('a.example'), pack(tuple))).toEqual(families);
  });

  it('have no visits where they are not counted', () => {
    const [at, [, [...visited]]] = tuple as [number, [unknown[], unknown[]]];
    const read = decodeFamilies(familiesKey('a.example'), pack([at, [visited.slice(0, 5)]]));
    expect(read.families[0]?.visited).toEqual({ template: '/y?b=*', visits: 0 });
  });

  it('are read by domain, and in their order', async () => {
    const rows = new MemoryRows();
    for (const each of [other, families]) rows.values.set(familiesKey(each.domain), encodeFamilies(each));
    rows.values.set('x', Buffer.from('no families'));
    expect(await readFamilies(rows.open(), ['b.example', 'none.example', 'a.example'])).toEqual([
      ...[other, undefined, families],
    ]);
    const scanned: DomainFamilies[] = [];
    for await (const each of scanFamilies(rows.open())) scanned.push(each);
    expect(scanned).toEqual([families, other]);
  });

  it('are refused, with their domain, where they are none', () => {
    const reason = /^the link families of a\.example cannot be read: ./;
    expect(() => decodeFamilies(familiesKey('a.example'), Buffer.from('text'))).toThrow(
      expect.objectContaining({ code: 'db-corrupt', message: expect.stringMatching(reason), cause: expect.any(Error) }),
    );
  });
});
