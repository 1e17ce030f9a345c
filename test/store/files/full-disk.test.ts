import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { verifyWarc } from '../../../src/store/files/care/verify-segment.ts';
import { readFrames } from '../../../src/store/files/segments/frame-log.ts';
import { createFileSegmentStore } from '../../../src/store/files/segments/segment-store.ts';
import {
  all,
  encodedRecord,
  fetchedRecord,
  fetchItems,
  incompressible,
  response,
  START,
  urlOf,
} from '../../contracts/segment-records.ts';
import { replaceFs } from '../../support/replaced-fs.ts';
import { temporaryFolders, WARC_OPTIONS } from './temporary-folder.ts';

/** Bytes that the disk still takes. A write that does not fit is cut short first and refused then, as by a real one. */
const disk = { freeBytes: Number.POSITIVE_INFINITY };

const mend = replaceFs((real) => {
  const writeSync = (
    fd: number,
    data: string | Uint8Array,
    from = 0,
    length = data.length,
    position?: number,
  ): number => {
    if (typeof data === 'string') {
      if (data.length > disk.freeBytes) throw Object.assign(new Error('ENOSPC: write'), { code: 'ENOSPC' });
      return real.writeSync(fd, data);
    }
    const taken = Math.min(length, disk.freeBytes);
    if (taken === 0) throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
    disk.freeBytes -= taken;
    return real.writeSync(fd, data, from, taken, position);
  };
  const writevSync = (fd: number, buffers: readonly NodeJS.ArrayBufferView[], position?: number): number => {
    const whole = Buffer.concat(buffers as readonly Uint8Array[]);
    return writeSync(fd, whole, 0, whole.length, position);
  };
  const writeFileSync = (file: string, text: string): void => {
    const fd = real.openSync(file, 'w');
    try {
      writeSync(fd, text);
    } finally {
      real.closeSync(fd);
    }
  };
  return { writeSync, writevSync, writeFileSync } as Partial<typeof real>;
});
afterAll(mend);

const newFolder = temporaryFolders();

const NEW = { id: 's1', createdAt: START, hosts: {} };
const storeIn = (dir: string) => createFileSegmentStore({ dir, warc: WARC_OPTIONS });

describe('a full disk', () => {
  beforeEach(() => {
    disk.freeBytes = Number.POSITIVE_INFINITY;
  });

  it('leaves no segment when the fetch list does not fit', async () => {
    const dir = newFolder();
    disk.freeBytes = 1_000;
    await expect(storeIn(dir).create(NEW, fetchItems(20_000))).rejects.toMatchObject({ code: 'disk-full' });
    expect([await storeIn(dir).list(), await storeIn(dir).listIncomplete()]).toEqual([[], ['s1']]);
  });

  it('leaves no lock that could not be written', async () => {
    const store = storeIn(newFolder());
    await store.create(NEW, fetchItems(1));
    disk.freeBytes = 0;
    await expect(store.open('s1', 'write')).rejects.toMatchObject({ code: 'disk-full' });
    disk.freeBytes = Number.POSITIVE_INFINITY;
    await (await store.open('s1', 'write')).close();
  });

  it.each([0, 1, 300, 600, 900])(
    'with %i bytes left, fails with disk-full, and loses no record once there is space again',
    async (free) => {
      const dir = newFolder();
      const store = storeIn(dir);
      await store.create(NEW, fetchItems(3));
      const segment = await store.open('s1', 'write');
      await segment.addFetched(fetchedRecord(0), response(0));
      await segment.addFetched(fetchedRecord(1), response(1));
      await segment.addParsed(0, encodedRecord(0));
      disk.freeBytes = free;
      await expect(segment.setState('fetched')).rejects.toMatchObject({ code: 'disk-full' });
      expect(segment.info.state).toBe('generated');
      disk.freeBytes = Number.POSITIVE_INFINITY;
      await segment.addFetched(fetchedRecord(2), response(2));
      await segment.setState('fetched');
      for (const record of await all(segment.fetched())) {
        expect((await segment.readResponse(record.warc!)).url).toBe(urlOf(record.index));
      }
      await segment.close();
      const again = await store.open('s1', 'read');
      expect([again.fetchedCount, again.parsedCount, again.info.state]).toEqual([3, 1, 'fetched']);
      expect((await verifyWarc(join(dir, 's1', 'data-00000.warc.gz'))).faults).toEqual([]);
    },
  );

  it.each([0, 1, 5_000, 9_000, 12_000, 17_000])('with %i bytes left for large records, too', async (free) => {
    const dir = newFolder();
    const store = storeIn(dir);
    await store.create(NEW, fetchItems(2));
    const segment = await store.open('s1', 'write');
    const bodies = [1, 2].map((seed) => incompressible(6_000, seed));
    for (const [index, body] of bodies.entries()) {
      await segment.addFetched(fetchedRecord(index), response(index, body));
      await segment.addParsed(index, incompressible(6_000, 10 + index));
    }
    disk.freeBytes = free;
    await expect(segment.setState('parsed')).rejects.toMatchObject({ code: 'disk-full' });
    disk.freeBytes = Number.POSITIVE_INFINITY;
    await segment.setState('parsed');
    for (const { index, warc } of await all(segment.fetched())) {
      expect((await segment.readResponse(warc!)).body).toEqual(bodies[index]);
    }
    await segment.close();
    const payloads = [...readFrames(join(dir, 's1', 'parsed.bin'))].map(({ payload }) => payload);
    expect(payloads).toEqual([incompressible(6_000, 10), incompressible(6_000, 11)]);
    expect((await verifyWarc(join(dir, 's1', 'data-00000.warc.gz'))).faults).toEqual([]);
  });

  it('does not keep a segment from being closed, and from being repaired later', async () => {
    const dir = newFolder();
    const store = storeIn(dir);
    await store.create(NEW, fetchItems(3));
    const segment = await store.open('s1', 'write');
    await segment.addFetched(fetchedRecord(0), response(0));
    await segment.addFetched(fetchedRecord(1), response(1));
    disk.freeBytes = 100;
    await expect(segment.close()).rejects.toMatchObject({ code: 'disk-full' });
    expect(existsSync(join(dir, 's1', 'writer.lock'))).toBe(false);
    disk.freeBytes = Number.POSITIVE_INFINITY;
    const again = await store.open('s1', 'write');
    expect(again.hasFetched(0)).toBe(true);
    expect(again.hasFetched(1)).toBe(false);
    await again.close();
    expect((await verifyWarc(join(dir, 's1', 'data-00000.warc.gz'))).faults).toEqual([]);
  });
});

describe('a large fetch list', () => {
  it('goes to disk while it streams', async () => {
    const dir = newFolder();
    let early = 0;
    function* items() {
      for (const item of fetchItems(20_000)) {
        if (item.index === 15_000) early = statSync(join(dir, 's1', 'fetchlist.bin')).size;
        yield item;
      }
    }
    await storeIn(dir).create(NEW, items());
    expect(early).toBeGreaterThan(2 << 20);
  });
});
