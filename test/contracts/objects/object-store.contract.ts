import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ObjectStore } from '../../../src/core/ports/objects/object-store.ts';
import { all } from '../segment-records.ts';

/** The exam of every `ObjectStore`. `begin` gives an empty one. */
export function objectStoreContract(name: string, begin: () => Promise<ObjectStore>): void {
  describe(`${name}: object store`, () => {
    let store: ObjectStore;
    beforeEach(async () => {
      store = await begin();
    });
    afterEach(() => store.close());

    it('gives back what was written, whole and by ranges, and null for what is not there', async () => {
      const bytes = Buffer.from(Array.from({ length: 70_000 }, (_, i) => (i * 7919) & 0xff));
      const written = await store.put('a/b.bin', bytes);
      const whole = await store.get('a/b.bin');
      expect(whole?.bytes.equals(bytes)).toBe(true);
      expect(whole?.etag).toBe(written?.etag);
      expect(whole?.ageMs).toBeLessThan(60_000);
      for (const [start, end] of [
        [0, 1],
        [100, 65_000],
        [69_999, 70_000],
        [69_000, 90_000],
      ] as const) {
        const part = await store.get('a/b.bin', { range: { start, end } });
        expect(part?.bytes.equals(bytes.subarray(start, end))).toBe(true);
      }
      expect((await store.get('a/b.bin', { range: { start: 70_000, end: 70_001 } }))?.bytes.length).toBe(0);
      expect(await store.get('a/c.bin')).toBeNull();
    });

    it('writes parts of files, and nothing at all', async () => {
      const dir = mkdtempSync(join(tmpdir(), 'incrawl-object-'));
      try {
        writeFileSync(join(dir, 'file'), '0123456789');
        const part = (start: number, end: number) => ({ file: join(dir, 'file'), start, end });
        await store.put('part', [part(3, 7)]);
        expect((await store.get('part'))?.bytes.toString()).toBe('3456');
        await store.put('parts', [part(8, 10), part(2, 2), part(0, 3)]);
        expect((await store.get('parts'))?.bytes.toString()).toBe('89012');
        await store.put('none', [part(3, 3)]);
        expect((await store.get('none'))?.bytes.length).toBe(0);
      } finally {
        rmSync(dir, { recursive: true });
      }
    });

    it('replaces under a condition, and else writes nothing', async () => {
      const first = await store.put('m.json', Buffer.from('1'), 'new');
      expect(first).not.toBeNull();
      expect(await store.put('m.json', Buffer.from('2'), 'new')).toBeNull();
      const second = await store.put('m.json', Buffer.from('3'), first!);
      expect(second?.etag).not.toBe(first?.etag);
      expect(await store.put('m.json', Buffer.from('4'), first!)).toBeNull();
      expect(await store.put('absent', Buffer.from('5'), first!)).toBeNull();
      expect((await store.get('m.json'))?.bytes.toString()).toBe('3');
      expect(await store.get('absent')).toBeNull();
    });

    it('lets a single one of many writers with one condition succeed', async () => {
      const attempt = (condition: 'new' | { etag: string }) =>
        Promise.all(
          Array.from({ length: 12 }, (_, i) => store.put('race', Buffer.from(`${i} ${condition}`), condition)),
        );
      const made = (await attempt('new')).filter((version) => version !== null);
      expect(made.length).toBe(1);
      const replaced = (await attempt(made[0]!)).filter((version) => version !== null);
      expect(replaced.length).toBe(1);
      expect((await store.get('race'))?.etag).toBe(replaced[0]?.etag);
    });

    it('lists by prefix in order, over pages, names the folders, and removes', async () => {
      const keys = Array.from({ length: 1_050 }, (_, i) => `many/${String(i).padStart(5, '0')}`);
      for (let i = 0; i < keys.length; i += 25) {
        await Promise.all(keys.slice(i, i + 25).map((key) => store.put(key, Buffer.from(key))));
      }
      await store.put('data/s1/x', Buffer.from('x'));
      await store.put('data/s1/y/z', Buffer.from('y'));
      await store.put('data/s2/x', Buffer.from('z'));
      await store.put('data/file', Buffer.from('f'));
      const listed = await all(store.list('many/'));
      expect(listed.map(({ key }) => key)).toEqual(keys);
      expect(listed[7]).toEqual({ key: keys[7], bytes: 10, etag: (await store.get(keys[7]!))?.etag });
      expect(await all(store.folders('data/'))).toEqual(['s1', 's2']);
      expect((await all(store.list('data/s1/'))).map(({ key }) => key)).toEqual(['data/s1/x', 'data/s1/y/z']);
      await store.remove(['data/s1/x', 'data/s1/y/z', 'data/absent']);
      expect(await all(store.folders('data/'))).toEqual(['s2']);
      expect(await all(store.list('nothing/'))).toEqual([]);
    });

    it('takes any name that a path can hold', async () => {
      const keys = ['a b/ü+%25&=?#.txt', "q'(1)*!~.html", 'x/<&>"/é'];
      for (const key of keys) await store.put(key, Buffer.from(key));
      for (const key of keys) expect((await store.get(key))?.bytes.toString()).toBe(key);
      expect((await all(store.list(''))).map(({ key }) => key).sort()).toEqual([...keys].sort());
    });

    it('honours a signal', async () => {
      await store.put('a', Buffer.from('a'));
      await expect(store.get('a', { signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow('enough');
    });
  });
}
