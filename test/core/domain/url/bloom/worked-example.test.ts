import { describe, expect, it } from 'vitest';
import { BloomLeaf, planBloom } from '../../../../../src/core/domain/url/bloom/bloom-leaf.ts';
import { BloomTree, type TreeShape } from '../../../../../src/core/domain/url/bloom/bloom-tree.ts';
import { createMemorySeenFilter } from '../../../../memory/seen-filter.ts';
import { md5Digests, numbered } from './md5-digests.ts';

const PLAN = planBloom({ urls: 40, bitsPerLeaf: 64, falsePositiveRate: 0.1 });
const create = () => createMemorySeenFilter(PLAN, 'md5');

const bitsOf = (leaf: BloomLeaf): number[] =>
  Array.from({ length: leaf.size }, (_, bit) => bit).filter(
    (bit) => ((leaf.bits[bit >> 3] as number) & (0x80 >> (bit & 7))) !== 0,
  );

/** Loads as the tree nests them. */
function loads(filter: ReturnType<typeof create>): unknown {
  const counts = new Map([...filter.tree.leaves()].map((leaf) => [leaf.id, leaf.count]));
  const below = (shape: TreeShape): unknown => (typeof shape === 'number' ? counts.get(shape) : shape.map(below));
  return filter.tree.shape().map(below);
}

describe('the worked example: m = 64, f = 0.1, n = 40', () => {
  it("the patent's figure: m = 12, k = 3, hashes 0, 3, 6 set bits 0, 3, 6", () => {
    const place = { slot: 0, depth: 0, branches: 0 };
    const leaf = new BloomLeaf({ id: 0, place, size: 12, hashes: 3, capacity: 2 });
    leaf.set(0, 3);
    expect(bitsOf(leaf)).toEqual([0, 3, 6]);
    expect([leaf.has(0, 3), leaf.has(3, 3), leaf.has(0, 5)]).toEqual([true, false, false]);
  });

  it('http://h/0 goes to leaf 1, bits 46, 21, 60', async () => {
    const filter = create();
    const digest = md5Digests(['http://h/0']);
    expect([digest[0], digest[1]]).toEqual([0x752b3b45, 0xb78e4c35]);
    await filter.add(digest);
    const leaf = filter.tree.leafOf(digest, 0);
    expect(leaf.place.slot).toBe(1);
    expect(bitsOf(leaf)).toEqual([21, 46, 60]);
  });

  it('splits at http://h/31 and http://h/48 and ends with loads [9, 13, [12, 6], [9, 11]]', async () => {
    const filter = create();
    await filter.add(md5Digests(numbered(0, 31)));
    expect((await filter.stats()).splits).toBe(0);
    await filter.add(md5Digests(numbered(31, 32)));
    // 8 and 5, of which one took http://h/31 as well.
    expect((await filter.stats()).splits).toBe(1);
    expect((loads(filter) as number[][])[2]?.reduce((sum, load) => sum + load)).toBe(14);
    await filter.add(md5Digests(numbered(32, 40)));
    expect(loads(filter)).toEqual([4, 11, [10, 6], 9]);
    await filter.add(md5Digests(numbered(40, 48)));
    expect((await filter.stats()).splits).toBe(1);
    await filter.add(md5Digests(numbered(48, 60)));
    expect((await filter.stats()).splits).toBe(2);
    expect(loads(filter)).toEqual([9, 13, [12, 6], [9, 11]]);
  });

  it('divides leaf 2 into 8 and 5, leaf 3 into 5 and 8', async () => {
    const filter = create();
    for (const [before, slot, halves] of [
      [31, 2, [8, 5]],
      [48, 3, [5, 8]],
    ] as const) {
      await filter.add(md5Digests(numbered(0, before)));
      const full = [...filter.tree.leaves()].find((leaf) => leaf.place.slot === slot) as BloomLeaf;
      const { kind, leaves } = filter.tree.replacement(full, filter.digestsOf(full));
      expect([kind, leaves.map(({ leaf }) => leaf.count)]).toEqual(['split', halves]);
    }
  });

  it('takes exactly http://h/42 and http://h/49 for known ones, and never loses one', async () => {
    const filter = create();
    const taken: string[] = [];
    for (const url of numbered(0, 60)) {
      const digest = md5Digests([url]);
      if ((await filter.probe(digest))[0] === 1) taken.push(url);
      await filter.add(digest);
    }
    expect(taken).toEqual(['http://h/42', 'http://h/49']);
    expect(await filter.probe(md5Digests(numbered(0, 60)))).toEqual(new Uint8Array(60).fill(1));
    const absent = await filter.probe(md5Digests(numbered(1_000, 11_000)));
    expect(absent.reduce((sum, each) => sum + each)).toBe(698);
  });

  it('keeps the URL set of each leaf, each URL once', async () => {
    const filter = create();
    for (let i = 0; i < 3; i++) await filter.add(md5Digests(numbered(0, 60)));
    const sets = [...filter.tree.leaves()].flatMap((leaf) => [...filter.digestsOf(leaf)]);
    const all = [...md5Digests(numbered(0, 60))];
    expect(sets.sort()).toEqual(all.sort());
    expect((await filter.stats()).urls).toBe(60);
  });

  it('layers are independent: 254 URLs of leaf 3 divide into 120 and 134', async () => {
    const plan = { ...planBloom({ urls: 4_000, bitsPerLeaf: 16_384, falsePositiveRate: 0.01 }), leaves: 4 };
    const filter = createMemorySeenFilter(plan, 'md5');
    await filter.add(md5Digests(numbered(0, 1_000)));
    const leaf = [...filter.tree.leaves()][3] as BloomLeaf;
    expect(leaf.count).toBe(254);
    const { leaves } = filter.tree.replacement({ ...leaf, capacity: 254 } as BloomLeaf, filter.digestsOf(leaf));
    expect(leaves.map((each) => each.leaf.count)).toEqual([120, 134]);
  });

  it('fails loudly where a split would put all into one half', () => {
    const tree = new BloomTree(PLAN);
    const leaf = [...tree.leaves()][0] as BloomLeaf;
    // H = 0, 4, 8.. times 8: slot 0, and the first digits of H div 4 are zero.
    const digests = Uint32Array.from({ length: 4 * 13 }, (_, i) =>
      i % 4 === 1 ? 8 * Math.floor(i / 4) : i % 4 === 2 ? i : 0,
    );
    expect(() => tree.replacement(leaf, digests)).toThrow('cannot be split: its 13 digests all go to one half');
  });
});
