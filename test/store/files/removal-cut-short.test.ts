import type fs from 'node:fs';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createFileSegmentStore } from '../../../src/store/files/segments/segment-store.ts';
import { fetchItems, START } from '../../contracts/segment-records.ts';
import { replaceFs } from '../../support/replaced-fs.ts';
import { temporaryFolders, WARC_OPTIONS } from './temporary-folder.ts';

const newFolder = temporaryFolders();

/**
 * The removal of a folder that is killed before the last file, by name, is gone: Node and the system remove them in any
 * order.
 */
const removeThenEnd = (real: typeof fs): Partial<typeof fs> => ({
  rmSync(path, options) {
    if (options?.recursive !== true) return real.rmSync(path, options);
    const names = real.readdirSync(path).sort();
    for (const name of names.slice(0, -1)) real.rmSync(join(String(path), name));
    throw Object.assign(new Error('killed'), { code: 'EINTR' });
  },
});

it('a segment whose removal is cut short is none any more, and is removed at the next start', async () => {
  const dir = newFolder();
  const store = createFileSegmentStore({ dir, warc: WARC_OPTIONS });
  await store.create({ id: 's1', createdAt: START, hosts: {} }, fetchItems(2));
  const segment = await store.open('s1', 'write');
  await segment.setState('updated');
  await segment.close();
  const mend = replaceFs(removeThenEnd);
  await expect(store.remove('s1')).rejects.toMatchObject({ message: expect.stringContaining('killed') });
  mend();
  expect(readdirSync(join(dir, 's1')).length).toBeGreaterThan(0);
  expect([await store.list(), await store.listIncomplete()]).toEqual([[], ['s1']]);
  await store.remove('s1');
  expect(existsSync(join(dir, 's1'))).toBe(false);
});
