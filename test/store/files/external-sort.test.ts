import { readdirSync } from 'node:fs';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { sortedLines } from '../../../src/store/files/sorting/external-sort.ts';
import { temporaryFolders } from './temporary-folder.ts';

const newFolder = temporaryFolders();

async function sorted(lines: readonly string[], dir: string, chunkChars: number): Promise<string[]> {
  const out: string[] = [];
  for await (const line of sortedLines(lines, { dir, chunkChars })) out.push(line);
  return out;
}

it('sorts whatever the size of a chunk, keeps doubles, and leaves no file behind', async () => {
  const dir = newFolder();
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ unit: fc.constantFrom('a', 'b', '\t', '0') }), { maxLength: 60 }),
      fc.integer({ min: 1, max: 50 }),
      async (lines, chunkChars) => {
        expect(await sorted(lines, dir, chunkChars)).toEqual([...lines].sort());
        expect(readdirSync(dir)).toEqual([]);
      },
    ),
    { numRuns: 60 },
  );
});

it('leaves no file behind when its reader stops early', async () => {
  const dir = newFolder();
  for await (const line of sortedLines(['c', 'b', 'a'], { dir, chunkChars: 1 })) {
    expect(line).toBe('a');
    break;
  }
  expect(readdirSync(dir)).toEqual([]);
});
