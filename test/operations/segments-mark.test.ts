import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { ObjectStore } from '../../src/core/ports/objects/object-store.ts';
import { checkOwner, readSegmentsMark, takeOwnership } from '../../src/operations/state/segments-mark.ts';
import { createMemoryObjectStore } from '../memory/object-store.ts';

describe('the place of a crawl in an object store', () => {
  const made: string[] = [];
  const newDir = (): string => {
    made.push(mkdtempSync(join(tmpdir(), 'incrawl-mark-')));
    return made.at(-1) as string;
  };
  afterAll(() => {
    for (const dir of made) rmSync(dir, { recursive: true });
  });

  it('is taken by the first crawl, and refused to another', async () => {
    const [dir, other, objects] = [newDir(), newDir(), createMemoryObjectStore()];
    await checkOwner(dir, objects);
    expect(objects.objects.size).toBe(0);
    await takeOwnership(dir, objects);
    await takeOwnership(dir, objects);
    await checkOwner(dir, objects);
    expect([...objects.objects.keys()]).toEqual(['crawl.json']);
    for (const act of [checkOwner, takeOwnership]) {
      await expect(act(other, objects)).rejects.toMatchObject({ code: 'config-invalid' });
    }
    expect(readSegmentsMark(other)).toBeNull();
  });

  it('is shared by directories that work on one crawl', async () => {
    const objects = createMemoryObjectStore();
    for (const dir of [newDir(), newDir()]) {
      await takeOwnership(dir, objects, 'crawl-1');
      await checkOwner(dir, objects);
    }
    await checkOwner(newDir(), objects, 'crawl-1');
    await expect(takeOwnership(newDir(), objects, 'crawl-2')).rejects.toMatchObject({ code: 'config-invalid' });
  });

  it('is missed when the configuration names another one, and begun anew when it was emptied', async () => {
    const [dir, objects] = [newDir(), createMemoryObjectStore()];
    await takeOwnership(dir, objects);
    const elsewhere: ObjectStore = { ...createMemoryObjectStore(), name: 'elsewhere' };
    for (const act of [checkOwner, takeOwnership]) {
      await expect(act(dir, elsewhere)).rejects.toThrow('set segments.store to it');
    }
    objects.objects.clear();
    await checkOwner(dir, objects);
    await takeOwnership(dir, objects);
    expect(objects.objects.size).toBe(1);
  });

  it('is refused each time where the store ignores conditions', async () => {
    const [dir, objects] = [newDir(), createMemoryObjectStore()];
    const careless: ObjectStore = { ...objects, put: (key, content) => objects.put(key, content) };
    for (let attempt = 0; attempt < 2; attempt++) {
      await expect(takeOwnership(dir, careless)).rejects.toMatchObject({ code: 'object-store-refused' });
    }
    expect(existsSync(join(dir, 'object-store.json'))).toBe(false);
    expect(objects.objects.size).toBe(0);
  });
});
