import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { GroupedPage, NearGroupingOptions } from '../../src/core/ports/near.ts';
import { createFileNearGrouping } from '../../src/published/near-grouping/near-grouping.ts';
import { groupedPage, groupsOf, nearGroupingContract } from '../contracts/near-grouping.contract.ts';
import { createMemoryNearGrouping } from '../memory/near-grouping.ts';
import { temporaryFolders } from '../store/files/temporary-folder.ts';

const newFolder = temporaryFolders();
const OPTIONS: NearGroupingOptions = { distance: 3, minOverlap: 0, prefer: ['score', 'shortest'], isBatch: false };

nearGroupingContract('files', (options) => createFileNearGrouping({ ...options, dir: newFolder() }));
nearGroupingContract('files, in many small blocks', (options) =>
  createFileNearGrouping({ ...options, dir: newFolder(), blockRows: 5, pieceRows: 2, threads: 1 }),
);

/** Pages of a seeded generator: some alone, some near others, some equal. */
function* manyPages(count: number): Generator<GroupedPage> {
  let state = 7;
  const next = (): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state;
  };
  const known: bigint[] = [];
  for (let i = 0; i < count; i++) {
    let value = (BigInt(next()) << 32n) | BigInt(next());
    if (next() >>> 16 < 30_000 && known.length > 0) {
      value = known[(next() >>> 8) % known.length]!;
      for (let flips = (next() >>> 16) % 5; flips > 0; flips--) value ^= 1n << BigInt(next() >>> 26);
    }
    known.push(value);
    yield groupedPage({
      url: `https://a.org/${i}`,
      signature: value.toString(16).padStart(16, '0'),
      score: (next() >>> 16) % 3,
    });
  }
}

it('several threads have the result of one thread and of the reference, and leave no file', async () => {
  const dir = newFolder();
  const reference = await groupsOf(createMemoryNearGrouping(OPTIONS), manyPages(20_000));
  expect(reference.groups).toBeGreaterThan(3_000);
  for (const threads of [1, 2]) {
    const grouping = await createFileNearGrouping({ ...OPTIONS, dir, threads, blockRows: 3_000, pieceRows: 500 });
    expect(await groupsOf(grouping, manyPages(20_000))).toEqual(reference);
    await grouping.close();
    expect(readdirSync(dir)).toEqual([]);
  }
});

it('200,000 equal pages of as many hosts, and 100,000 of one, are each compared with few', async () => {
  const dir = newFolder();
  const grouping = await createFileNearGrouping({ ...OPTIONS, dir, threads: 1 });
  const [hosts, equal] = [200_000, 100_000];
  function* parked(): Generator<GroupedPage> {
    for (let i = 0; i < hosts; i++) yield groupedPage({ scope: `host${i}`, url: `https://host${i}/` });
    for (let i = 0; i < equal; i++) yield groupedPage({ scope: 'one', url: `https://one/${i}` });
  }
  const { groups, repeats } = await groupsOf(grouping, parked());
  expect(groups).toBe(1);
  expect(repeats).toHaveLength(equal - 1);
  expect(new Set(repeats.map(({ of }) => of))).toEqual(new Set(['https://one/0']));
  await grouping.close();
});

it('removes the files of a killed run, and its own when it is closed early', async () => {
  const dir = newFolder();
  mkdirSync(join(dir, 'near-dead'));
  writeFileSync(join(dir, 'near-dead', 'run-0'), 'x');
  writeFileSync(join(dir, 'job-other'), 'x');
  const grouping = await createFileNearGrouping({ ...OPTIONS, dir, blockRows: 2 });
  expect(readdirSync(dir).filter((name) => name.startsWith('near-'))).toHaveLength(1);
  for (const page of manyPages(10)) await grouping.add(page);
  await grouping.close();
  await grouping.close();
  expect(readdirSync(dir)).toEqual(['job-other']);
});
