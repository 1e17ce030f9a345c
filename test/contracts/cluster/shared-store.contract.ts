import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { openPostgresStore } from '../../../src/cluster/postgres/shared-store.ts';
import { WriteLease } from '../../../src/cluster/workers/write-lease.ts';
import { newDatum } from '../../../src/core/domain/crawl/states/datum.ts';
import type { RowIterator } from '../../../src/core/ports/ordered-rows.ts';
import { openCrawlDbOn } from '../../../src/store/rows/open-crawl-db.ts';
import { openInStore, openRows } from '../../cluster/open-store.ts';
import { SILENT } from '../../store/leveldb/temporary-db.ts';
import { contentOf } from '../crawl-db-exam.ts';

/** UTF-16 would order the last two the other way round. */
const KEYS = ['', 'a', 'a/b', 'a0', 'b', 'ü', '\uff5e', '\u{1f600}'];
const inBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

const write = fc.record({
  kind: fc.constant('write' as const),
  rows: fc.dictionary(fc.constantFrom(...KEYS), fc.option(fc.nat(99)), { maxKeys: 4 }),
});
const read = fc.record({
  kind: fc.constant('read' as const),
  from: fc.constantFrom(...KEYS),
  to: fc.constantFrom(...KEYS, '\u{10ffff}'),
  reverse: fc.boolean(),
  limit: fc.constantFrom(-1, 1, 3),
  inSnapshot: fc.boolean(),
});
const next = fc.record({ kind: fc.constant('next' as const), which: fc.nat(3), size: fc.integer({ min: 1, max: 3 }) });

type Model = ReadonlyMap<string, string>;

function rowsOf(
  model: Model,
  { from, to, reverse, limit }: { from: string; to: string; reverse: boolean; limit: number },
): [string, string][] {
  const rows = [...model]
    .filter(([key]) => inBytes(key, from) >= 0 && inBytes(key, to) < 0)
    .sort(([a], [b]) => inBytes(a, b));
  if (reverse) rows.reverse();
  return limit < 0 ? rows : rows.slice(0, limit);
}

/** Contract of every shared store: rows, lease and token of a name. */
export function sharedStoreContract(product: string, url: () => string): void {
  describe(`${product}: rows of a shared store`, () => {
    let names = 0;

    it('has a time, which goes on', async () => {
      const store = openPostgresStore(url());
      const times = [await store.now('time'), await store.now('time')];
      await store.close();
      expect(Math.abs((times[0] ?? 0) - Date.now())).toBeLessThan(60_000);
      expect(times).toEqual(times.toSorted());
    });

    it('are read in the order of their bytes, as they were when reading began, whatever is written meanwhile', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(fc.oneof(write, read, next), { maxLength: 25 }), async (steps) => {
          const rows = await openRows(url(), `model-${names++}`);
          const snapshot = rows.snapshot();
          let model: Model = new Map();
          const open: { iterator: RowIterator<[string, Buffer]>; left: [string, string][] }[] = [];
          for (const step of steps) {
            if (step.kind === 'write') {
              const after = new Map(model);
              const batch = rows.batch();
              for (const [key, value] of Object.entries(step.rows)) {
                if (value === null) {
                  after.delete(key);
                  batch.del(key);
                } else {
                  after.set(key, String(value));
                  batch.put(key, Buffer.from(String(value)));
                }
              }
              await batch.write();
              model = after;
            } else if (step.kind === 'read') {
              const { from, to, reverse, limit, inSnapshot } = step;
              const query = { gte: from, lt: to, reverse, limit, ...(inSnapshot ? { snapshot } : {}) };
              const left = rowsOf(inSnapshot ? new Map() : model, step);
              const iterator = rows.iterator(query);
              // An iterator sees the rows as of its first read.
              const first = await iterator.nextv(1);
              expect(first.map(([key, value]) => [key, value.toString()])).toEqual(left.splice(0, 1));
              open.push({ iterator, left });
            } else {
              const one = open[step.which];
              if (one === undefined) continue;
              const read = await one.iterator.nextv(step.size);
              expect(read.length === 0).toBe(one.left.length === 0);
              expect(read.map(([key, value]) => [key, value.toString()])).toEqual(one.left.splice(0, read.length));
            }
          }
          expect(await rows.getMany(KEYS)).toEqual(
            KEYS.map((key) => (model.has(key) ? Buffer.from(model.get(key) as string) : undefined)),
          );
          expect(await rows.hasMany(KEYS)).toEqual(KEYS.map((key) => model.has(key)));
          expect(await rows.getMany(KEYS, { snapshot })).toEqual(KEYS.map(() => undefined));
          for (const { iterator, left } of open) {
            expect((await iterator.all()).map(([key, value]) => [key, value.toString()])).toEqual(left);
          }
          await snapshot.close();
          await rows.clear({ gte: 'a', lt: 'b' });
          expect(await rows.keys({}).all()).toEqual(
            rowsOf(model, { from: '', to: '\u{10ffff}', reverse: false, limit: -1 })
              .map(([key]) => key)
              .filter((key) => key < 'a' || key >= 'b'),
          );
          await rows.close();
        }),
        { numRuns: 150 },
      );
    }, 240_000);

    it('an iterator that has given all rows gives none that are written later', async () => {
      const rows = await openRows(url(), 'given');
      await rows.put('a', Buffer.from('0'));
      const iterator = rows.keys({});
      const reversed = rows.keys({ reverse: true });
      expect([await iterator.nextv(1), await reversed.nextv(1)]).toEqual([['a'], ['a']]);
      await rows.put('b', Buffer.from('1'));
      await rows.put('Z', Buffer.from('1'));
      expect([await iterator.nextv(1), await reversed.nextv(1)]).toEqual([[], []]);
      await Promise.all([iterator.close(), reversed.close(), rows.close()]);
    });

    const put = (url: string) => ({ puts: [{ datum: newDatum({ url, now: 0, intervalMs: 1_000 }), previous: null }] });

    it('a writer that was paused beyond its lease gets an error and changes nothing', async () => {
      const paused = await openInStore(url(), 'fenced', { leaseMs: 60 });
      await paused.write(put('https://a.example/'));
      // Nothing of this process runs for longer than the lease: its timer cannot keep it.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
      const other = await openInStore(url(), 'fenced', { leaseMs: 30_000 });
      await other.write(put('https://b.example/'));
      const before = await contentOf(other);
      await expect(paused.write(put('https://late.example/'))).rejects.toMatchObject({ code: 'lease-lost' });
      await expect(paused.write(put('https://late.example/'))).rejects.toMatchObject({ code: 'lease-lost' });
      await paused.close();
      expect(await contentOf(other)).toEqual(before);
      expect(before.counters.urls).toBe(2);
      // The late one has not taken the lease away from its successor either.
      await other.write(put('https://c.example/'));
      expect((await contentOf(other)).counters.urls).toBe(3);
      await other.close();
    });

    it('a second writer waits, and its error names the holder', async () => {
      const first = await openInStore(url(), 'held');
      await expect(openInStore(url(), 'held')).rejects.toMatchObject({
        code: 'db-locked',
        message: expect.stringContaining(`process ${process.pid}`),
      });
      const waiting = openRows(url(), 'held', 30_000, 20_000);
      await first.write(put('https://a.example/'));
      await first.close();
      const rows = await waiting;
      const second = await openCrawlDbOn(rows, { name: 'held', log: SILENT });
      expect((await second.counters()).urls).toBe(1);
      await second.close();
    });

    it('without a lease rows are for reading', async () => {
      const writer = await openInStore(url(), 'read');
      await writer.write(put('https://a.example/'));
      const store = openPostgresStore(url());
      const rows = store.rows('read', null);
      expect(await rows.isEmpty()).toBe(false);
      const reader = await openCrawlDbOn(rows, { name: 'read', log: SILENT });
      expect(await contentOf(reader)).toEqual(await contentOf(writer));
      await expect(reader.write(put('https://b.example/'))).rejects.toMatchObject({ code: 'db-locked' });
      await reader.close();
      await store.close();
      await writer.close();
    });

    it('a name has the id that was proposed first, and is whole while it has rows', async () => {
      const store = openPostgresStore(url());
      expect(await store.id('ids')).toBe(null);
      expect(await store.isWhole('ids')).toBe(false);
      const rows = await openRows(url(), 'ids');
      expect(await store.isWhole('ids')).toBe(false);
      await rows.put('a', Buffer.from('1'));
      expect(await Promise.all([store.id('ids', 'x'), store.id('ids', 'x')])).toEqual(['x', 'x']);
      expect(await store.id('ids', 'y')).toBe('x');
      expect(await store.id('ids')).toBe('x');
      expect([await store.isWhole('ids'), await store.isWhole('ids/0')]).toEqual([true, false]);
      expect(await store.rows('ids/0', null).get('a')).toBe(undefined);
      await rows.close();
      await store.close();
    });

    it('a lease ends with its time, by the clock of the server, and is kept by heartbeats', async () => {
      const store = openPostgresStore(url());
      const held = await WriteLease.take({ store, name: 'beats', leaseMs: 600, waitMs: 0 });
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      expect([held.isHeld(), held.lost.aborted]).toEqual([true, false]);
      const refused = WriteLease.take({ store, name: 'beats', leaseMs: 600, waitMs: 0 });
      await expect(refused).rejects.toMatchObject({ code: 'db-locked' });
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_600);
      expect(held.isHeld()).toBe(false);
      const next = await WriteLease.take({ store, name: 'beats', leaseMs: 30_000, waitMs: 5_000 });
      expect(Number(next.token)).toBeGreaterThan(Number(held.token));
      await held.release();
      expect(await store.leases.keep('beats', 'another', 1_000)).toBe(false);
      expect(next.isHeld()).toBe(true);
      await next.release();
      expect(next.isHeld()).toBe(false);
      await store.close();
    });
  });
}
