import { Packr } from 'msgpackr';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type HostFacts, NO_HOST_FACTS } from '../../src/core/ports/crawl-db.ts';
import type { Segment, SegmentStore, WireResponse } from '../../src/core/ports/segment-store.ts';
import {
  all,
  encodedRecord,
  fetchedRecord,
  fetchItem,
  fetchItems,
  incompressible,
  parsedRecord,
  response,
  START,
  urlOf,
} from './segment-records.ts';

export interface SegmentStoreExam {
  readonly store: SegmentStore;
  /** The same store as another process would open it. */
  reopen(): SegmentStore;
  end(): Promise<void>;
}

const NEW = { id: '20260105-000000', createdAt: START, hosts: {} };

/** The exam of every `SegmentStore`. */
export function segmentStoreContract(name: string, begin: () => Promise<SegmentStoreExam>): void {
  describe(`${name}: segment store`, () => {
    let exam: SegmentStoreExam;
    const opened: Segment[] = [];
    beforeEach(async () => {
      exam = await begin();
    });
    afterEach(async () => {
      for (const segment of opened.splice(0)) await segment.close();
      await exam.end();
    });
    const open = async (mode: 'read' | 'write', id = NEW.id, store = exam.store): Promise<Segment> => {
      const segment = await store.open(id, mode);
      opened.push(segment);
      return segment;
    };
    const created = async (urls: number): Promise<Segment> => {
      await exam.store.create(NEW, fetchItems(urls));
      return open('write');
    };

    it('makes a segment from a stream and lists it', async () => {
      const hosts: Record<string, HostFacts> = { 'a.example': { ...NO_HOST_FACTS, lies: 2, distrustedUntil: START } };
      async function* later() {
        yield* fetchItems(3);
      }
      const info = await exam.store.create({ ...NEW, hosts }, later());
      expect(info).toEqual({ ...NEW, hosts, urls: 3, state: 'generated' });
      expect(await exam.reopen().list()).toEqual([info]);
      const segment = await open('read');
      expect(segment.info).toEqual(info);
      expect(await all(segment.fetchList())).toEqual([0, 1, 2].map(fetchItem));
      expect(await all(segment.fetchList(2))).toEqual([fetchItem(2)]);
      expect(await all(segment.fetchList(3))).toEqual([]);
      expect([segment.fetchedCount, segment.parsedCount]).toEqual([0, 0]);
    });

    it('stores a body of several URLs once, and gives each its own response', async () => {
      const body = incompressible(20_000, 7);
      const segment = await created(5);
      for (let i = 0; i < 5; i++) await segment.addFetched(fetchedRecord(i), response(i, body));
      const stored = await all(segment.fetched());
      expect(stored.reduce((sum, { warc }) => sum + warc!.length, 0)).toBeLessThan(1.5 * body.length);
      const check = async (from: Segment): Promise<void> => {
        for (const { index, warc } of await all(from.fetched())) {
          const { body: read, ...rest } = await from.readResponse(warc!);
          const { body: _, ...sent } = response(index);
          expect([rest, Buffer.from(read!).equals(body)]).toEqual([sent, true]);
        }
      };
      await check(segment);
      for (const state of ['fetched', 'parsed', 'updated'] as const) await segment.setState(state);
      await segment.close();
      await check(await open('read', NEW.id, exam.reopen()));
    });

    it('holds an empty segment', async () => {
      const segment = await created(0);
      expect(await all(segment.fetchList())).toEqual([]);
      await expect(segment.addFetched(fetchedRecord(0), null)).rejects.toThrow(TypeError);
      await segment.setState('fetched');
      expect(segment.info.state).toBe('fetched');
    });

    it('shows nothing of a create whose stream failed, and can make it again', async () => {
      function* broken() {
        yield* fetchItems(2);
        throw new Error('no more');
      }
      await expect(exam.store.create(NEW, broken())).rejects.toThrow('no more');
      expect(await exam.store.list()).toEqual([]);
      await expect(exam.store.open(NEW.id, 'read')).rejects.toMatchObject({ code: 'segment-missing' });
      await exam.store.create(NEW, fetchItems(1));
      expect(await exam.store.listIncomplete()).toEqual([]);
      expect((await exam.store.list()).map(({ urls }) => urls)).toEqual([1]);
      expect(await exam.store.ids()).toEqual([NEW.id]);
    });

    it('refuses positions out of order, ids that are no name, and a second segment of one id', async () => {
      await expect(exam.store.create(NEW, [fetchItem(1)])).rejects.toThrow('position 1 where 0 was expected');
      for (const id of ['', '../x', 'a/b', 'a b', '.']) {
        await expect(exam.store.create({ ...NEW, id }, [])).rejects.toThrow(TypeError);
      }
      await exam.store.create(NEW, []);
      await expect(exam.store.create(NEW, [])).rejects.toThrow('exists already');
    });

    it('lists by age and removes; names the segments there are when one is missing', async () => {
      for (const id of ['b', 'a', 'c']) await exam.store.create({ ...NEW, id }, []);
      await exam.store.remove('b');
      await exam.store.remove('b');
      await exam.store.remove('../etc');
      const [first, ...others] = await exam.store.list();
      expect([first?.id, others.map(({ id }) => id)]).toEqual(['a', ['c']]);
      expect(await exam.store.info('a')).toEqual(first);
      for (const missing of ['b', '', '../a']) expect(await exam.store.info(missing)).toBeNull();
      await expect(exam.store.open('b', 'write')).rejects.toMatchObject({
        code: 'segment-missing',
        message: expect.stringContaining('a, c'),
      });
    });

    it('takes in items behind the end of its list, with the facts of their hosts', async () => {
      const hosts: Record<string, HostFacts> = { 'a.example': { ...NO_HOST_FACTS, lies: 1 } };
      const bounds = { free: 4, isCharged: true, maxPerHost: 2, maxPerDomain: 0, minScore: 0.5, minIntervalMs: 0 };
      await exam.store.create({ ...NEW, hosts, bounds, isListed: true }, fetchItems(2));
      const segment = await open('write');
      const joining = (index: number) => ({
        ...fetchItem(index),
        host: `${index}.example`,
        joined: { from: urlOf(0), isNew: index % 2 === 0, isOfSeed: true },
      });
      const facts = { ...NO_HOST_FACTS, restUntil: START };
      for (const index of [0, 1, 3]) await expect(segment.addItems([joining(index)], {})).rejects.toThrow(TypeError);
      await segment.addFetched(fetchedRecord(0), response(0));
      await segment.addItems([joining(2), joining(3)], { '2.example': facts });
      await segment.addFetched(fetchedRecord(3), response(3));
      await segment.addItems([joining(4)], {});
      await expect(segment.addFetched(fetchedRecord(5), null)).rejects.toThrow(TypeError);
      await segment.addParsed(3, encodedRecord(3));
      const check = async (from: Segment): Promise<void> => {
        const items = [fetchItem(0), fetchItem(1), joining(2), joining(3), joining(4)];
        expect(await all(from.fetchList())).toEqual(items);
        expect(await all(from.fetchList(1))).toEqual(items.slice(1));
        expect(await all(from.fetchList(4))).toEqual(items.slice(4));
        expect(from.info).toMatchObject({
          urls: 5,
          followed: 3,
          bounds,
          isListed: true,
          hosts: { ...hosts, '2.example': facts },
        });
        expect([0, 1, 2, 3, 4].map((index) => from.hasFetched(index))).toEqual([true, false, false, true, false]);
        expect([from.fetchedCount, from.parsedCount, from.hasParsed(3)]).toEqual([2, 1, true]);
        expect((await from.findFetched(urlOf(3)))?.index).toBe(3);
      };
      await check(segment);
      await check(await open('read'));
      await segment.close();
      await check(await open('read', NEW.id, exam.reopen()));
      const again = await open('write', NEW.id, exam.reopen());
      await again.addFetched(fetchedRecord(4), response(4));
      await again.addItems([joining(5)], {});
      await again.setState('updated');
      await again.close();
      expect(await exam.reopen().list()).toMatchObject([{ urls: 6, followed: 4, state: 'updated' }]);
      const last = await open('read', NEW.id, exam.reopen());
      expect(last.info).toMatchObject({ urls: 6, followed: 4, hosts: { ...hosts, '2.example': facts } });
      expect([last.fetchedCount, (await all(last.fetchList())).length]).toEqual([3, 6]);
      await expect(last.addItems([joining(6)], {})).rejects.toThrow(TypeError);
    });

    it('keeps fetched and parsed records, in that order, over a close', async () => {
      const segment = await created(5);
      const order = [3, 0, 4];
      for (const index of order) await segment.addFetched(fetchedRecord(index), index === 4 ? null : response(index));
      for (const index of [0, 3]) await segment.addParsed(index, encodedRecord(index));
      const check = async (from: Segment): Promise<void> => {
        expect((await all(from.fetched())).map(({ index }) => index)).toEqual(order);
        expect((await all(from.parsed())).map(({ index }) => index)).toEqual([0, 3]);
        expect([0, 1, 2, 3, 4].map((index) => from.hasFetched(index))).toEqual([true, false, false, true, true]);
        expect([0, 1, 2, 3, 4].map((index) => from.hasParsed(index))).toEqual([true, false, false, true, false]);
        expect([from.fetchedCount, from.parsedCount]).toEqual([3, 2]);
        const found = await from.findFetched(urlOf(3));
        expect(found).toMatchObject(fetchedRecord(3));
        expect((await from.readResponse(found!.warc!)).url).toBe(urlOf(3));
        expect((await from.findFetched(urlOf(4)))?.warc).toBeNull();
        expect(await from.findFetched(urlOf(1))).toBeUndefined();
        expect(await from.findFetched('https://a.example/page')).toBeUndefined();
        expect(await from.findParsed(urlOf(3))).toEqual(parsedRecord(3));
        expect(await from.findParsed(urlOf(4))).toBeUndefined();
      };
      await check(segment);
      await segment.close();
      await segment.close();
      await check(await open('read', NEW.id, exam.reopen()));
      await check(await open('write', NEW.id, exam.reopen()));
    });

    it('gives a response back as it came', async () => {
      const segment = await created(9);
      const bytes = Uint8Array.from({ length: 5_000 }, (_, i) => (i * 7919) & 0xff);
      const cases: [WireResponse, Partial<WireResponse>][] = [
        [response(0), {}],
        [response(1, bytes), {}],
        [response(2, new Uint8Array(0)), {}],
        [{ ...response(3, null), status: 302, statusText: '', truncated: 'unspecified' }, { body: new Uint8Array(0) }],
        [{ ...response(4, Buffer.from('\r\n\r\n\r\nHTTP/1.1 500 No\r\n\r\n')), remoteAddress: null }, {}],
        [
          { ...response(5), rawHeaders: ['Transfer-Encoding', 'chunked', 'Content-Encoding', 'gzip'] },
          { rawHeaders: ['Content-Encoding', 'gzip'] },
        ],
        [
          { ...response(6, null), status: 304, statusText: 'Not Modified', revisit: 'server-not-modified' },
          { body: null },
        ],
        [{ ...response(7), revisit: 'identical-payload-digest', refersToAt: START - 5_000 }, { body: null }],
        [{ ...response(8, bytes), rawHeaders: [], httpVersion: '2.0', truncated: 'disconnect' }, {}],
      ];
      for (const [index, [given, changed]] of cases.entries()) {
        const { warc } = await segment.addFetched(fetchedRecord(index), given);
        const expected = { ...given, ...changed };
        const { body, ...rest } = await segment.readResponse(warc!);
        expect({ ...rest, body: body && [...body] }).toEqual({
          ...expected,
          body: expected.body && [...expected.body],
        });
      }
    });

    it('lands each of many concurrent records whole, large ones among them', async () => {
      const count = 60;
      const segment = await created(count);
      const bodyOf = (index: number): Buffer => Buffer.alloc(index % 20 === 0 ? 400_000 : index * 10, `${index} `);
      const all60 = Array.from({ length: count }, (_, index) => index);
      await Promise.all(all60.map((index) => segment.addFetched(fetchedRecord(index), response(index, bodyOf(index)))));
      await Promise.all(all60.map((index) => segment.addParsed(index, encodedRecord(index))));
      for (const record of await all(segment.fetched())) {
        const { url, body } = await segment.readResponse(record.warc!);
        expect(url).toBe(urlOf(record.index));
        expect(bodyOf(record.index).equals(body!)).toBe(true);
      }
      const parsed = await all(segment.parsed());
      expect(parsed.map(({ index }) => index).sort((a, b) => a - b)).toEqual(all60);
    });

    it('reads binary texts back as text, and leaves them undecoded with texts: false', async () => {
      const segment = await created(2);
      for (const index of [0, 1]) await segment.addFetched(fetchedRecord(index), null);
      const text = 'größer — 漢字';
      const binary = { ...parsedRecord(0), text: Buffer.from(text) };
      await segment.addParsed(0, new Uint8Array(new Packr({ useRecords: false }).pack(binary)));
      await segment.addParsed(1, encodedRecord(1));
      expect((await all(segment.parsed())).map((record) => record.text)).toEqual([text, parsedRecord(1).text]);
      expect((await all(segment.parsed({ texts: false })))[0]?.text).toBe('');
      expect((await segment.findParsed(urlOf(0)))?.text).toBe(text);
    });

    it('marks states, never backwards but by throwing the parse output away', async () => {
      const segment = await created(2);
      await segment.addFetched(fetchedRecord(0), response(0));
      await segment.setState('fetched');
      await segment.addParsed(0, encodedRecord(0));
      await segment.setState('updated');
      await segment.setState('parsed');
      expect(segment.info.state).toBe('updated');
      await segment.resetParsed();
      expect([segment.info.state, segment.parsedCount, segment.hasParsed(0)]).toEqual(['fetched', 0, false]);
      expect(await all(segment.parsed())).toEqual([]);
      expect(await segment.findParsed(urlOf(0))).toBeUndefined();
      await segment.addParsed(0, encodedRecord(0));
      await segment.close();
      expect((await exam.reopen().list())[0]?.state).toBe('fetched');
      const again = await open('write', NEW.id, exam.reopen());
      expect((await all(again.parsed())).map(({ index }) => index)).toEqual([0]);
      expect(again.fetchedCount).toBe(1);
    });

    it('replaces parse output all at once, in its order, and adds what was missing', async () => {
      const segment = await created(5);
      for (const index of [0, 1, 2, 3]) await segment.addFetched(fetchedRecord(index), response(index));
      for (const index of [2, 0, 1]) await segment.addParsed(index, encodedRecord(index));
      await segment.setState('updated');
      const [before, during] = [await open('read'), await open('read', NEW.id, exam.reopen())];
      const replacement = segment.replaceParsed();
      const again = (index: number, text: string): Promise<void> =>
        replacement.add(index, encodedRecord(index, { text }));
      await again(0, 'longer than it was before');
      await again(3, 'new');
      await again(2, '');
      expect((await all(before.parsed())).map(({ text }) => text)).toEqual([2, 0, 1].map((i) => parsedRecord(i).text));
      await replacement.commit();
      const found = [2, 0, 1, 3].map((index) => ({
        ...parsedRecord(index),
        text: { 0: 'longer than it was before', 1: parsedRecord(1).text, 2: '', 3: 'new' }[index],
      }));
      expect(await all(segment.parsed())).toEqual(found);
      expect([segment.parsedCount, segment.hasParsed(3), segment.hasParsed(4)]).toEqual([4, true, false]);
      // Readers of before read the new output.
      expect(await all(during.parsed())).toEqual(found);
      expect(await before.findParsed(urlOf(0))).toEqual(found[1]);
      await segment.close();
      const reopened = await open('write', NEW.id, exam.reopen());
      expect(await all(reopened.parsed())).toEqual(found);
      expect(reopened.info.state).toBe('updated');
    });

    it('keeps the parse output of a replacement that was not committed', async () => {
      const segment = await created(2);
      await segment.addFetched(fetchedRecord(0), response(0));
      await segment.addParsed(0, encodedRecord(0));
      await segment.replaceParsed().add(0, encodedRecord(0, { text: 'other' }));
      await segment.close();
      const reopened = await open('write', NEW.id, exam.reopen());
      expect(await all(reopened.parsed())).toEqual([parsedRecord(0)]);
      const replacement = reopened.replaceParsed();
      await replacement.commit();
      expect(await all(reopened.parsed())).toEqual([parsedRecord(0)]);
      await expect(reopened.replaceParsed().add(1, encodedRecord(1))).rejects.toThrow(TypeError);
      await expect(replacement.add(0, encodedRecord(0))).rejects.toThrow(TypeError);
    });

    it('resetting the parse output of a segment that is still being fetched leaves its state', async () => {
      const segment = await created(1);
      await segment.resetParsed();
      expect(segment.info.state).toBe('generated');
    });

    it('can be read while it is written, by any number of readers', async () => {
      const segment = await created(3);
      await segment.addFetched(fetchedRecord(0), response(0));
      await segment.setState('fetched');
      const [reader, other] = [await open('read'), await open('read', NEW.id, exam.reopen())];
      const records = reader.fetched()[Symbol.asyncIterator]();
      expect((await records.next()).value?.index).toBe(0);
      await segment.addFetched(fetchedRecord(1), response(1));
      await segment.setState('parsed');
      expect((await all(other.fetched())).map(({ index }) => index)).toEqual([0, 1]);
      await records.return?.(undefined);
    });

    it('ends an iteration over records with those that were there when it began', async () => {
      const segment = await created(50);
      await segment.addFetched(fetchedRecord(0), null);
      let seen = 0;
      for await (const { index } of segment.fetched()) {
        seen++;
        if (index < 49) await segment.addFetched(fetchedRecord(index + 1), null);
      }
      expect(seen).toBe(1);
      expect(segment.fetchedCount).toBe(2);
    });

    it('is written by one at a time', async () => {
      const segment = await created(1);
      await expect(exam.store.open(NEW.id, 'write')).rejects.toMatchObject({ code: 'db-locked' });
      await expect(exam.reopen().open(NEW.id, 'write')).rejects.toMatchObject({ code: 'db-locked' });
      await segment.close();
      await open('write');
    });

    it('takes misuse for a mistake of the programmer', async () => {
      const segment = await created(2);
      const reader = await open('read');
      await segment.addFetched(fetchedRecord(0), response(0));
      await segment.addParsed(0, encodedRecord(0));
      const wrong: (() => Promise<unknown>)[] = [
        () => segment.addFetched(fetchedRecord(0), response(0)),
        () => segment.addFetched(fetchedRecord(2), null),
        () => segment.addFetched(fetchedRecord(-1), null),
        () => segment.addFetched(fetchedRecord(0.5), null),
        () => segment.addParsed(0, encodedRecord(0)),
        () => segment.addParsed(1, encodedRecord(1)),
        async () => reader.addFetched(fetchedRecord(1), null),
        async () => reader.setState('fetched'),
        async () => reader.resetParsed(),
        async () => reader.replaceParsed(),
      ];
      for (const attempt of wrong) await expect(attempt()).rejects.toThrow(TypeError);
      await segment.close();
      await expect(segment.addFetched(fetchedRecord(1), null)).rejects.toThrow(TypeError);
      const again = await open('read', NEW.id, exam.reopen());
      expect([again.fetchedCount, again.parsedCount]).toEqual([1, 1]);
    });

    it('refuses a pointer to nothing', async () => {
      const segment = await created(1);
      const { warc } = await segment.addFetched(fetchedRecord(0), response(0));
      const pointers = [
        { ...warc!, file: '../segment.json' },
        { ...warc!, file: 'data-00009.warc.gz' },
        { ...warc!, offset: warc!.offset + 100_000 },
        { ...warc!, offset: Number.NaN },
      ];
      for (const pointer of pointers) {
        await expect(segment.readResponse(pointer)).rejects.toMatchObject({ code: 'segment-corrupt' });
      }
    });

    it('streams a large fetch list in and out', async () => {
      const count = 100_000;
      let given = 0;
      function* many() {
        for (const item of fetchItems(count)) {
          given++;
          yield item;
        }
      }
      const info = await exam.store.create(NEW, many());
      expect([info.urls, given]).toEqual([count, count]);
      const segment = await open('read');
      let sum = 0;
      for await (const { index } of segment.fetchList(10)) sum += index;
      expect(sum).toBe((count * (count - 1)) / 2 - 45);
    });
  });
}
