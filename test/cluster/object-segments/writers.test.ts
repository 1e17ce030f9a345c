import { existsSync, readdirSync, rmSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  createObjectSegmentStore,
  type ObjectSegmentStoreOptions,
} from '../../../src/cluster/object-segments/object-segment-store.ts';
import { verifyObjectSegments } from '../../../src/cluster/object-segments/verify-objects.ts';
import { CrawlError } from '../../../src/core/domain/errors.ts';
import type { Finding } from '../../../src/core/domain/findings.ts';
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
  urlOf,
} from '../../contracts/segment-records.ts';
import { createMemoryObjectStore } from '../../memory/object-store.ts';
import { temporaryFolders, WARC_OPTIONS } from '../../store/files/temporary-folder.ts';

const newFolder = temporaryFolders();
const ID = '20260105-000000';
const NEW = { id: ID, createdAt: START, hosts: {} };
const TERMS = { partBytes: 16 << 10, sealMs: 60_000, token: 0, patienceMs: 60_000, warc: WARC_OPTIONS };

type Machine = Partial<ObjectSegmentStoreOptions> & { readonly spoolDir?: string };
const storeOn = (objects: ObjectStore, more: Machine = {}): SegmentStore =>
  createObjectSegmentStore({ ...TERMS, objects, spoolDir: join(newFolder(), 'spool'), ...more });

/** Bodies that do not shrink in the WARC file. */
const bodyOf = (index: number, bytes = 4_000): Buffer =>
  Buffer.from(Array.from({ length: bytes }, (_, i) => Math.imul(index * 31 + i + 1, 0x9e3779b1) >>> 24));

async function write(segment: Segment, from: number, to: number): Promise<void> {
  for (let index = from; index < to; index++) {
    await segment.addFetched(fetchedRecord(index), response(index, bodyOf(index)));
    await segment.addParsed(index, encodedRecord(index));
  }
}

/** Checks that whatever a reader sees is whole; returns the positions that it sees. */
async function wholeIn(store: SegmentStore): Promise<number[]> {
  const segment = await store.open(ID, 'read');
  const fetched = await all(segment.fetched());
  for (const { index, warc } of fetched) {
    if (warc !== null) expect((await segment.readResponse(warc)).body).toEqual(bodyOf(index));
    expect((await segment.findFetched(urlOf(index)))?.index).toBe(index);
  }
  const positions = fetched.map(({ index }) => index);
  for (const { index } of await all(segment.parsed())) expect(positions).toContain(index);
  // What was stored since it was opened is seen as well.
  expect(positions.length).toBeGreaterThanOrEqual(segment.fetchedCount);
  return positions;
}

const dataOf = (objects: { readonly objects: Map<string, unknown> }): string[] =>
  [...objects.objects.keys()].filter((key) => key.startsWith('data/'));

describe('writers of a segment in an object store', () => {
  it('pieces are stored while it is written, and the local folder stays small', async () => {
    const objects = createMemoryObjectStore();
    const spoolDir = join(newFolder(), 'spool');
    const store = storeOn(objects, { spoolDir });
    await store.create(NEW, fetchItems(60));
    const segment = await store.open(ID, 'write');
    let local = 0;
    for (let index = 0; index < 60; index += 5) {
      await write(segment, index, index + 5);
      local = Math.max(local, readdirSync(join(spoolDir, ID)).filter((name) => name.endsWith('.warc.gz')).length);
    }
    const seen = await wholeIn(storeOn(objects));
    expect(seen.length).toBeGreaterThan(20);
    expect(local).toBeLessThan(6);
    // Pages whose response is stored elsewhere by now are read all the same.
    const first = await segment.findFetched(urlOf(0));
    expect((await segment.readResponse(first!.warc!)).body).toEqual(bodyOf(0));
    await segment.setState('parsed');
    await segment.setState('updated');
    await segment.close();
    expect(existsSync(join(spoolDir, ID))).toBe(false);
    const names = dataOf(objects);
    expect(names.filter((name) => name.endsWith('.warc.gz')).length).toBeGreaterThan(5);
    await store.remove(ID);
    expect([...objects.objects.keys()]).toEqual([]);
  });

  it('a page costs its own bytes, not those of its part', async () => {
    const objects = createMemoryObjectStore();
    const store = storeOn(objects, { partBytes: 8 << 20 });
    await store.create(NEW, fetchItems(300));
    const segment = await store.open(ID, 'write');
    await write(segment, 0, 300);
    await segment.setState('updated');
    await segment.close();
    let bytes = 0;
    let requests = 0;
    const counting: ObjectStore = {
      ...objects,
      async get(key, options) {
        const found = await objects.get(key, options);
        requests++;
        bytes += found?.bytes.length ?? 0;
        return found;
      },
    };
    const reader = await storeOn(counting).open(ID, 'read');
    const found = await reader.findFetched(urlOf(200));
    await reader.readResponse(found!.warc!);
    expect((await reader.findParsed(urlOf(200)))?.url).toBe(urlOf(200));
    expect(bytes).toBeLessThan(40_000);
    expect(requests).toBeLessThan(12);
    // One after the other they are read ahead.
    requests = 0;
    for await (const { warc } of reader.fetched()) await reader.readResponse(warc!);
    expect(requests).toBeLessThan(10);
  });

  it.each([0, 1])('a writer that was taken for dead changes nothing when it wakes up (token %i)', async (token) => {
    const objects = createMemoryObjectStore();
    const first = storeOn(objects, { patienceMs: 1_000 });
    await first.create(NEW, fetchItems(40));
    const zombie = await first.open(ID, 'write');
    await write(zombie, 0, 2);
    await zombie.setState('fetched');
    await zombie.addFetched(fetchedRecord(2), response(2, bodyOf(2)));
    // With a newer token at once; else when its heartbeat is old.
    const now = token > 0 ? undefined : () => Date.now() + 5_000;
    const view = createMemoryObjectStore(now, objects.objects as never);
    const second = storeOn(view, { token, patienceMs: 1_000 });
    const heir = await second.open(ID, 'write');
    expect([heir.hasFetched(1), heir.hasFetched(2)]).toEqual([true, false]);
    await write(heir, 2, 4);
    await expect(zombie.setState('parsed')).rejects.toMatchObject({ code: 'lease-lost' });
    await expect(zombie.addFetched(fetchedRecord(3), response(3, bodyOf(3)))).rejects.toMatchObject({
      code: 'lease-lost',
    });
    await expect(zombie.close()).rejects.toMatchObject({ code: 'lease-lost' });
    if (token > 0) {
      await expect(first.open(ID, 'write')).rejects.toMatchObject({ code: 'lease-lost' });
      await expect(first.remove(ID)).rejects.toMatchObject({ code: 'lease-lost' });
    }
    await heir.setState('parsed');
    await heir.close();
    expect(await wholeIn(storeOn(objects))).toEqual([0, 1, 2, 3]);
  });

  it('of two that open it at once a single one writes, and the other is named it', async () => {
    for (let round = 0; round < 10; round++) {
      const objects = createMemoryObjectStore();
      await storeOn(objects).create(NEW, fetchItems(3));
      const opened = await Promise.allSettled(
        [storeOn(objects), storeOn(objects)].map((store) => store.open(ID, 'write')),
      );
      expect(opened.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
      for (const result of opened) {
        if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'db-locked' });
        else await result.value.close();
      }
    }
  });

  it('a process that was killed goes on from its local folder; another machine from what is stored', async () => {
    const objects = createMemoryObjectStore();
    const spoolDir = join(newFolder(), 'spool');
    await storeOn(objects, { spoolDir }).create(NEW, fetchItems(10));
    const killed = await storeOn(objects, { spoolDir }).open(ID, 'write');
    await write(killed, 0, 3);
    await killed.setState('fetched');
    await write(killed, 3, 5);
    // Readable is what was handed to the system.
    await all(killed.fetched());
    rmSync(join(spoolDir, ID, 'writer.lock'));
    const later = createMemoryObjectStore(() => Date.now() + 120_000, objects.objects as never);
    const again = await storeOn(later, { spoolDir }).open(ID, 'write');
    expect(again.fetchedCount).toBe(5);
    await write(again, 5, 6);
    await again.close();
    expect(await wholeIn(storeOn(objects))).toEqual([0, 1, 2, 3, 4, 5]);
    const elsewhere = await storeOn(later).open(ID, 'write');
    expect(elsewhere.fetchedCount).toBe(6);
    await write(elsewhere, 6, 8);
    await elsewhere.close();
    // The folder of the first machine is of an older manifest now.
    const back = await storeOn(later, { spoolDir }).open(ID, 'write');
    expect(back.fetchedCount).toBe(8);
    await back.close();
  });

  it('a local folder that lost what had been stored is made anew', async () => {
    const objects = createMemoryObjectStore();
    const spoolDir = join(newFolder(), 'spool');
    const store = storeOn(objects, { spoolDir });
    await store.create(NEW, fetchItems(10));
    const segment = await store.open(ID, 'write');
    await write(segment, 0, 4);
    await segment.close();
    truncateSync(join(spoolDir, ID, 'parsed.bin'), 10);
    const again = await store.open(ID, 'write');
    expect([again.fetchedCount, again.parsedCount]).toEqual([4, 4]);
    await again.close();
  });

  it('a store that fails stops the crawl with its own error, and what was written is stored later', async () => {
    const objects = createMemoryObjectStore();
    let isDown = false;
    const failing: ObjectStore = {
      ...objects,
      async put(...args) {
        if (isDown) throw new CrawlError('object-store-unreachable', 'down');
        return objects.put(...args);
      },
    };
    const spoolDir = join(newFolder(), 'spool');
    const store = storeOn(failing, { spoolDir });
    await store.create(NEW, fetchItems(200));
    const segment = await store.open(ID, 'write');
    await write(segment, 0, 3);
    isDown = true;
    await expect(write(segment, 3, 100)).rejects.toMatchObject({ code: 'object-store-unreachable' });
    const reached = segment.fetchedCount;
    expect(reached).toBeLessThan(40);
    await segment.close();
    isDown = false;
    const later = createMemoryObjectStore(() => Date.now() + 120_000, objects.objects as never);
    const again = await storeOn(later, { spoolDir }).open(ID, 'write');
    expect(again.fetchedCount).toBe(reached);
    await again.close();
    expect((await wholeIn(storeOn(objects))).length).toBe(reached);
  });

  it('a write that fails at any moment leaves what readers see whole', { timeout: 300_000 }, async () => {
    for (let failing = 1; failing < 24; failing++) {
      const objects = createMemoryObjectStore();
      let writes = 0;
      const counted = async <Value>(act: () => Promise<Value>): Promise<Value> => {
        if (++writes >= failing) throw new CrawlError('object-store-unreachable', 'gone');
        return act();
      };
      const breaking: ObjectStore = {
        ...objects,
        put: (...args) => counted(() => objects.put(...args)),
        remove: (keys) => counted(() => objects.remove(keys)),
      };
      const spoolDir = join(newFolder(), 'spool');
      const act = async (): Promise<void> => {
        const store = storeOn(breaking, { spoolDir });
        await store.create(NEW, fetchItems(20));
        const segment = await store.open(ID, 'write');
        try {
          await write(segment, 0, 8);
          await segment.setState('fetched');
          await segment.addItems([{ ...fetchItem(20), host: 'b.example' }], { 'b.example': NO_HOST_FACTS });
          await write(segment, 8, 12);
          await segment.setState('updated');
          const replacement = segment.replaceParsed();
          await replacement.add(1, encodedRecord(1, { text: 'anew' }));
          await replacement.commit();
        } finally {
          await segment.close();
        }
        await store.remove(ID);
      };
      await act().catch((error: unknown) => expect(error).toMatchObject({ code: 'object-store-unreachable' }));
      const store = storeOn(createMemoryObjectStore(() => Date.now() + 120_000, objects.objects as never));
      if ((await store.list()).length === 0) {
        for (const id of await store.listIncomplete()) await store.remove(id);
        expect([...objects.objects.keys()]).toEqual([]);
        continue;
      }
      const seen = await wholeIn(store);
      const segment = await store.open(ID, 'write');
      expect(segment.fetchedCount).toBe(seen.length);
      for (let index = 0; index < 20; index++) {
        if (!segment.hasFetched(index)) await segment.addFetched(fetchedRecord(index), response(index, bodyOf(index)));
        if (!segment.hasParsed(index)) await segment.addParsed(index, encodedRecord(index));
      }
      await segment.setState('updated');
      await segment.close();
      expect((await wholeIn(store)).sort((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, i) => i));
      const findings: Finding[] = [];
      await verifyObjectSegments(objects, true, (finding) => findings.push(finding));
      expect(findings).toEqual([]);
    }
  });

  it('verification names objects that are missing, short or altered', async () => {
    const objects = createMemoryObjectStore();
    const store = storeOn(objects);
    await store.create(NEW, fetchItems(10));
    const segment = await store.open(ID, 'write');
    await write(segment, 0, 10);
    await segment.close();
    const findingsOf = async (): Promise<string[]> => {
      const found: Finding[] = [];
      await verifyObjectSegments(objects, true, (finding) => found.push(finding));
      return found.map(({ kind }) => kind);
    };
    expect(await findingsOf()).toEqual([]);
    for (const key of dataOf(objects)) {
      const held = objects.objects.get(key)!;
      objects.objects.delete(key);
      expect(await findingsOf(), key).toEqual([key.endsWith('.warc.gz') ? 'warc-damaged' : 'segment-unreadable']);
      objects.objects.set(key, { ...held, bytes: held.bytes.subarray(1) });
      expect((await findingsOf()).length, key).toBeGreaterThan(0);
      const altered = Buffer.from(held.bytes);
      altered.writeUInt8(altered.readUInt8(altered.length >> 1) ^ 0xff, altered.length >> 1);
      objects.objects.set(key, { ...held, bytes: altered });
      if (!key.includes('records')) expect((await findingsOf()).length, key).toBeGreaterThan(0);
      objects.objects.set(key, held);
    }
    objects.objects.set(`manifests/${ID}.json`, {
      ...objects.objects.get(`manifests/${ID}.json`)!,
      bytes: Buffer.from('{'),
    });
    expect(await findingsOf()).toEqual(['segment-unreadable']);
    await expect(store.open(ID, 'write')).rejects.toMatchObject({ code: 'segment-corrupt' });
  });

  it('a dry run reads what is stored, and stores nothing', async () => {
    const objects = createMemoryObjectStore();
    const store = storeOn(objects);
    await store.create(NEW, fetchItems(6));
    const segment = await store.open(ID, 'write');
    await write(segment, 0, 4);
    await segment.close();
    const before = [...objects.objects].map(([key, { etag }]) => `${key} ${etag}`);
    const dry = storeOn(objects, { isDry: true });
    const changed = await dry.open(ID, 'write');
    expect((await changed.readResponse((await changed.findFetched(urlOf(1)))!.warc!)).url).toBe(urlOf(1));
    await write(changed, 4, 6);
    await changed.setState('updated');
    await changed.close();
    await dry.create({ ...NEW, id: 'other' }, fetchItems(2));
    const other = await dry.open('other', 'write');
    await write(other, 0, 1);
    await other.close();
    expect((await dry.list()).map(({ id, state }) => [id, state])).toEqual([
      [ID, 'updated'],
      ['other', 'generated'],
    ]);
    expect((await (await dry.open(ID, 'read')).findFetched(urlOf(5)))?.index).toBe(5);
    await dry.remove(ID);
    expect((await dry.list()).map(({ id }) => id)).toEqual(['other']);
    expect([...objects.objects].map(([key, { etag }]) => `${key} ${etag}`)).toEqual(before);
  });

  it('facts of many hosts have an object of their own', async () => {
    const objects = createMemoryObjectStore();
    const hosts = Object.fromEntries(
      Array.from({ length: 600 }, (_, i) => [`${i}.example`, { ...NO_HOST_FACTS, lies: i }]),
    );
    const store = storeOn(objects);
    await store.create({ ...NEW, hosts }, fetchItems(3));
    const segment = await store.open(ID, 'write');
    await write(segment, 0, 3);
    await segment.setState('updated');
    await segment.close();
    expect((await storeOn(objects).list())[0]?.hosts).toEqual(hosts);
    expect((await storeOn(objects).open(ID, 'read')).info.hosts).toEqual(hosts);
    expect(objects.objects.get(`manifests/${ID}.json`)?.bytes.length).toBeLessThan(4_000);
  });
});
