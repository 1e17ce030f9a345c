import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeEach, expect, it } from 'vitest';
import { createFileSegmentStore } from '../../../src/store/files/segments/segment-store.ts';
import { fetchItems, START } from '../../contracts/segment-records.ts';
import { replaceFs } from '../../support/replaced-fs.ts';
import { temporaryFolders, WARC_OPTIONS } from './temporary-folder.ts';

/** Paths that were synced, in order. */
let synced: string[] = [];
const paths = new Map<number, string>();
const mend = replaceFs((real) => ({
  openSync(path, flags, mode) {
    const fd = real.openSync(path, flags, mode);
    paths.set(fd, String(path));
    return fd;
  },
  fsyncSync(fd) {
    synced.push(paths.get(fd) ?? '');
    real.fsyncSync(fd);
  },
}));
afterAll(mend);
beforeEach(() => {
  synced = [];
});

const newFolder = temporaryFolders();

it('the folder of segments is made durable though an earlier process made it, before a segment is in it', async () => {
  const dir = join(newFolder(), 'segments');
  mkdirSync(dir);
  const store = createFileSegmentStore({ dir, warc: WARC_OPTIONS });
  await store.create({ id: 's1', createdAt: START, hosts: {} }, fetchItems(2));
  expect(synced.indexOf(dirname(dir))).toBeGreaterThanOrEqual(0);
  expect(synced.indexOf(dirname(dir))).toBeLessThan(synced.indexOf(dir));
  synced = [];
  await store.create({ id: 's2', createdAt: START, hosts: {} }, fetchItems(2));
  expect(synced).toContain(dir);
  expect(synced).not.toContain(dirname(dir));
});
