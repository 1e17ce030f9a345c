import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createObjectSegmentStore } from '../../../src/cluster/object-segments/object-segment-store.ts';
import { NO_HOST_FACTS } from '../../../src/core/ports/crawl-db.ts';
import type { ObjectStore } from '../../../src/core/ports/objects/object-store.ts';
import type { Segment, SegmentStore } from '../../../src/core/ports/segment-store.ts';
import {
  all,
  encodedRecord,
  fetchedRecord,
  fetchItem,
  fetchItems,
  response,
  START,
} from '../../contracts/segment-records.ts';
import { createMemoryObjectStore } from '../../memory/object-store.ts';
import { temporaryFolders, WARC_OPTIONS } from '../../store/files/temporary-folder.ts';

const newFolder = temporaryFolders();
const ID = '20260105-000000';
const NEW = { id: ID, createdAt: START, hosts: {} };
const TERMS = { partBytes: 1 << 20, sealMs: 60_000, patienceMs: 60_000, warc: WARC_OPTIONS, keepsSegments: true };

/** A store that counts what is asked for manifests. */
function counted() {
  const inner = createMemoryObjectStore();
  const asked = { get: 0, put: 0 };
  const note = (what: keyof typeof asked, key: string): void => {
    asked[what] += Number(key.startsWith('manifests/'));
  };
  const objects: ObjectStore = {
    ...inner,
    get(key, reading) {
      note('get', key);
      return inner.get(key, reading);
    },
    put(key, content, condition) {
      note('put', key);
      return inner.put(key, content, condition);
    },
  };
  return { objects, asked };
}

const holderOf = (objects: ObjectStore, lease: { token: number }): SegmentStore =>
  createObjectSegmentStore({
    ...TERMS,
    objects,
    spoolDir: join(newFolder(), 'spool'),
    get token() {
      return lease.token;
    },
  });

async function write(segment: Segment, from: number, to: number): Promise<void> {
  for (let index = from; index < to; index++) {
    await segment.addFetched(fetchedRecord(index), response(index));
    await segment.addParsed(index, encodedRecord(index));
  }
}

async function inSteps(store: SegmentStore, steps: number): Promise<void> {
  for (let step = 0; step < steps; step++) {
    const segment = await store.open(ID, 'write');
    await segment.addItems([fetchItem(segment.info.urls)], {});
    await write(segment, step, step + 1);
    await segment.setState('parsed');
    await segment.close();
  }
}

async function seenIn(objects: ObjectStore): Promise<number[]> {
  const segment = await holderOf(objects, { token: 9 }).open(ID, 'read');
  return (await all(segment.fetched())).map(({ index }) => index);
}

it('steps of one lease claim a segment once, and each stores what it wrote by one manifest', async () => {
  const { objects, asked } = counted();
  const store = holderOf(objects, { token: 1 });
  await store.create(NEW, fetchItems(1));
  const made = { ...asked };
  await inSteps(store, 5);
  // One reading, one claim, and one manifest a step.
  expect([asked.get - made.get, asked.put - made.put]).toEqual([1, 6]);
  expect(await seenIn(objects)).toEqual([0, 1, 2, 3, 4]);
  const before = asked.put;
  const segment = await store.open(ID, 'write');
  await segment.setState('updated');
  await segment.close();
  expect(asked.put - before).toBe(1);
  expect(await store.list()).toMatchObject([{ id: ID, state: 'updated', urls: 6 }]);
  // It was given back.
  await (await holderOf(objects, { token: 1 }).open(ID, 'write')).close();
});

it('a holder whose lease was taken over stores nothing more in a segment that it kept', async () => {
  const { objects } = counted();
  const store = holderOf(objects, { token: 1 });
  await store.create(NEW, fetchItems(1));
  await inSteps(store, 2);
  const next = await holderOf(objects, { token: 2 }).open(ID, 'write');
  expect(next.fetchedCount).toBe(2);
  const late = await store.open(ID, 'write');
  await late.addItems([fetchItem(3)], {});
  await write(late, 2, 3);
  await expect(late.setState('parsed')).rejects.toMatchObject({ code: 'lease-lost' });
  await expect(late.close()).rejects.toMatchObject({ code: 'lease-lost' });
  await next.close();
  expect(await seenIn(objects)).toEqual([0, 1]);
});

it('what is let go of is claimed anew under the next lease, and goes on where it was', async () => {
  const { objects, asked } = counted();
  const lease = { token: 1 };
  const store = holderOf(objects, lease);
  await store.create(NEW, fetchItems(1));
  await inSteps(store, 2);
  await store.letGo?.();
  lease.token = 2;
  const before = asked.get;
  const segment = await store.open(ID, 'write');
  expect([asked.get - before, segment.fetchedCount]).toEqual([1, 2]);
  await segment.close();
  // Also where it was not let go of.
  lease.token = 3;
  await (await store.open(ID, 'write')).close();
  await store.letGo?.();
  expect(await seenIn(objects)).toEqual([0, 1]);
});

it('manifests that were read are not read again, up to a bound by their hosts', async () => {
  const readsOf = async (hostsEach: number): Promise<number[]> => {
    const { objects, asked } = counted();
    const store = holderOf(objects, { token: 1 });
    const hosts = Object.fromEntries(Array.from({ length: hostsEach }, (_, i) => [`h${i}.example`, NO_HOST_FACTS]));
    const ids = Array.from({ length: 12 }, (_, i) => `20260105-0000${10 + i}`);
    for (const id of ids) await store.create({ ...NEW, id, hosts }, fetchItems(1));
    const reads: number[] = [];
    for (let times = 0; times < 2; times++) {
      asked.get = 0;
      const listed = await store.list();
      expect(listed.map(({ id }) => id)).toEqual(ids);
      for (const info of listed) expect(Object.keys(info.hosts)).toHaveLength(hostsEach);
      reads.push(asked.get);
    }
    return reads;
  };
  expect(await readsOf(1)).toEqual([12, 0]);
  const [, again] = await readsOf(8_000);
  expect(again).toBeGreaterThan(0);
});
