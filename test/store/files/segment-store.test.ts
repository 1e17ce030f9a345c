import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createFileSegmentStore } from '../../../src/store/files/segments/segment-store.ts';
import { fetchItems, START } from '../../contracts/segment-records.ts';
import { segmentStoreContract } from '../../contracts/segment-store.contract.ts';
import { temporaryFolders, WARC_OPTIONS } from './temporary-folder.ts';

const newFolder = temporaryFolders();
const storeIn = (dir: string) => createFileSegmentStore({ dir, warc: WARC_OPTIONS });

segmentStoreContract('files', async () => {
  const dir = join(newFolder(), 'segments');
  return { store: storeIn(dir), reopen: () => storeIn(dir), end: async () => undefined };
});

describe('files: segment folders', () => {
  const NEW = { id: 's1', createdAt: START, hosts: {} };

  it('finds nothing where there is no folder yet', async () => {
    const store = storeIn(join(newFolder(), 'absent'));
    expect([await store.list(), await store.listIncomplete(), await store.ids()]).toEqual([[], [], []]);
    await store.remove('s1');
  });

  it('lists the remains of a crashed create as incomplete and removes them', async () => {
    const dir = newFolder();
    mkdirSync(join(dir, 's0'));
    writeFileSync(join(dir, 's0', 'fetchlist.bin'), 'half');
    writeFileSync(join(dir, 'notes.txt'), 'not a segment');
    const store = storeIn(dir);
    await store.create(NEW, fetchItems(1));
    expect((await store.list()).map(({ id }) => id)).toEqual(['s1']);
    expect(await store.listIncomplete()).toEqual(['s0']);
    // Ids are names of folders: no mark is read for them, so that rounds cost the same however many came before.
    writeFileSync(join(dir, 's1', 'segment.json'), 'damaged');
    expect(await store.ids()).toEqual(['s0', 's1']);
    await store.remove('s0');
    expect(existsSync(join(dir, 's0'))).toBe(false);
    expect(await store.listIncomplete()).toEqual([]);
    expect(await store.ids()).toEqual(['s1']);
  });

  it('refuses a segment of a newer format, and says where one is damaged', async () => {
    const dir = newFolder();
    const store = storeIn(dir);
    await store.create(NEW, fetchItems(2));
    const file = join(dir, 's1', 'segment.json');
    const text = readFileSync(file, 'utf8');
    for (const format of [2, 3]) {
      const newer = text.replace('"format":1', `"format":${format}`);
      writeFileSync(file, newer);
      for (const mode of ['read', 'write'] as const) {
        await expect(store.open('s1', mode)).rejects.toMatchObject({
          code: 'db-version',
          message: expect.stringContaining(`format ${format}; this incrawl reads up to 1`),
        });
      }
      expect(readFileSync(file, 'utf8')).toBe(newer);
    }
    for (const broken of [
      '',
      '{"format":1',
      'null',
      '[]',
      text.replace('"s1"', '"s2"'),
      text.replace('generated', 'x'),
    ]) {
      writeFileSync(file, broken);
      await expect(store.open('s1', 'write')).rejects.toMatchObject({
        code: 'segment-corrupt',
        message: expect.stringContaining('segment.json'),
      });
    }
    writeFileSync(file, text);
    await (await store.open('s1', 'write')).close();
  });

  it('does not take a shortened or altered fetch list for a shorter one', async () => {
    const dir = newFolder();
    const store = storeIn(dir);
    await store.create(NEW, fetchItems(3));
    const file = join(dir, 's1', 'fetchlist.bin');
    const bytes = readFileSync(file);
    const altered = Buffer.from(bytes);
    altered[bytes.length - 20]! ^= 1;
    for (const damaged of [bytes.subarray(0, -1), bytes.subarray(0, 0), altered]) {
      writeFileSync(file, damaged);
      const segment = await store.open('s1', 'read');
      const reading = async (): Promise<number> => {
        let count = 0;
        for await (const _ of segment.fetchList()) count++;
        return count;
      };
      await expect(reading()).rejects.toMatchObject({
        code: 'segment-corrupt',
        message: expect.stringMatching(/fetchlist\.bin is damaged at byte \d+/),
      });
    }
  });
});
