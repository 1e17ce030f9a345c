import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeEach, expect, it } from 'vitest';
import { createFileSegmentStore } from '../../../src/store/files/segments/segment-store.ts';
import { fetchItem, fetchItems, START } from '../../contracts/segment-records.ts';
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

it('what joined the list of a segment is synced by the process that opens it next', async () => {
  const dir = join(newFolder(), 'segments');
  const store = createFileSegmentStore({ dir, warc: WARC_OPTIONS });
  await store.create({ id: 's1', createdAt: START, hosts: {} }, fetchItems(2));
  const killed = await store.open('s1', 'write');
  await killed.addItems([fetchItem(2)], {});
  // As a kill leaves it: without the mark that a close sets.
  const mark = readFileSync(join(dir, 's1', 'segment.json'));
  await killed.close();
  writeFileSync(join(dir, 's1', 'segment.json'), mark);
  synced = [];
  const next = await store.open('s1', 'write');
  expect(synced).toEqual(expect.arrayContaining([join(dir, 's1', 'added.bin'), join(dir, 's1')]));
  await next.close();
});
