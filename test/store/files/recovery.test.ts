import { cpSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import type { LogFields } from '../../../src/core/ports/log.ts';
import type { Segment, WarcPointer } from '../../../src/core/ports/segment-store.ts';
import { verifyWarc } from '../../../src/store/files/care/verify-segment.ts';
import { createFileSegmentStore } from '../../../src/store/files/segments/segment-store.ts';
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
import { temporaryFolders, WARC_OPTIONS } from './temporary-folder.ts';

const newFolder = temporaryFolders();
const ID = 's1';
const URLS = 6;
const storeIn = (dir: string, warnings: LogFields[] = []) =>
  createFileSegmentStore({
    dir,
    warc: WARC_OPTIONS,
    log: {
      debug: () => {},
      info: () => {},
      warn: (_, fields) => warnings.push(fields ?? {}),
      error: () => {},
    },
  });

/** A copy of the segment, since a crash is played on each. */
function copyOf(original: string): { dir: string; file: (name: string) => string } {
  const dir = newFolder();
  cpSync(original, dir, { recursive: true });
  return { dir, file: (name) => join(dir, ID, name) };
}

/** Whatever happened: each record is whole and points at its own response, the WARC file is sound, and work goes on. */
async function checkRepaired(dir: string): Promise<{ fetched: number[]; parsed: number[] }> {
  const segment = await storeIn(dir).open(ID, 'write');
  const fetched: number[] = [];
  for (const record of await all(segment.fetched())) {
    fetched.push(record.index);
    if (record.warc !== null) expect((await segment.readResponse(record.warc)).url).toBe(urlOf(record.index));
  }
  const parsed = (await all(segment.parsed())).map(({ index }) => index);
  for (let i = 0; i < URLS; i++) {
    expect([segment.hasFetched(i), segment.hasParsed(i)]).toEqual([fetched.includes(i), parsed.includes(i)]);
    if (!segment.hasFetched(i)) await segment.addFetched(fetchedRecord(i), response(i));
    if (!segment.hasParsed(i)) await segment.addParsed(i, encodedRecord(i));
  }
  await segment.setState('parsed');
  await segment.close();
  const reopened = await storeIn(dir).open(ID, 'read');
  expect([reopened.fetchedCount, reopened.parsedCount]).toEqual([URLS, URLS]);
  const verdict = await verifyWarc(join(dir, ID, 'data-00000.warc.gz'));
  expect(verdict).toEqual({ records: { warcinfo: 1, response: URLS }, faults: [] });
  return { fetched, parsed };
}

describe('a segment after an interruption', () => {
  let original = '';
  let pointers: WarcPointer[] = [];
  beforeAll(async () => {
    original = newFolder();
    const store = storeIn(original);
    await store.create({ id: ID, createdAt: START, hosts: {} }, fetchItems(URLS));
    const segment = await store.open(ID, 'write');
    pointers = [];
    for (let i = 0; i < URLS; i++) {
      pointers.push((await segment.addFetched(fetchedRecord(i), response(i))).warc!);
      await segment.addParsed(i, encodedRecord(i));
    }
    await segment.close();
  });

  it.each(['fetched.bin', 'parsed.bin', 'data-00000.warc.gz'])(
    '%s cut anywhere keeps all whole records before the cut',
    async (name) => {
      const { size } = statSync(join(original, ID, name));
      const run = async (cut: number): Promise<void> => {
        const { dir, file } = copyOf(original);
        truncateSync(file(name), cut);
        const { fetched, parsed } = await checkRepaired(dir);
        expect(fetched).toEqual(fetched.map((_, i) => i));
        expect(parsed).toEqual(parsed.map((_, i) => i));
        if (name === 'parsed.bin') expect(fetched).toHaveLength(URLS);
        if (name === 'data-00000.warc.gz') {
          expect(fetched).toHaveLength(pointers.filter(({ offset, length }) => offset + length <= cut).length);
        }
        rmSync(dir, { recursive: true });
      };
      // The ends of records are where mistakes hide.
      const nearEnd = fc.integer({ min: Math.max(0, size - 40), max: size });
      await fc.assert(fc.asyncProperty(fc.oneof(fc.nat(size), nearEnd), run), {
        numRuns: 25,
        examples: [
          [0],
          [size],
          [size - 1],
          ...pointers.slice(0, 2).map(({ offset }): [number] => [Math.min(offset, size)]),
        ],
      });
    },
  );

  it('added.bin cut anywhere keeps the items before the cut, and the pages of those', async () => {
    const grown = copyOf(original);
    const segment = await storeIn(grown.dir).open(ID, 'write');
    const joined = { from: urlOf(0), isNew: true, isOfSeed: false };
    const added = [URLS, URLS + 1, URLS + 2];
    for (const index of added) {
      await segment.addItems([{ ...fetchItem(index), joined }], {});
      await segment.addFetched(fetchedRecord(index), response(index));
    }
    // As a kill leaves it: the mark is older than the items.
    await segment.close();
    expect(readFileSync(grown.file('segment.json'), 'utf8')).toMatch(/^\{"format":1,.*"followed":0/);
    const { size } = statSync(grown.file('added.bin'));
    for (const cut of [0, 1, size / 3, size / 2, size - 1, size].map(Math.floor)) {
      const { dir, file } = copyOf(grown.dir);
      truncateSync(file('added.bin'), cut);
      const reader = await storeIn(dir).open(ID, 'read');
      const followed = reader.info.followed ?? 0;
      expect(reader.info.urls).toBe(URLS + followed);
      expect(followed).toBe(Math.floor((3 * cut) / size));
      await reader.close();
      const again = await storeIn(dir).open(ID, 'write');
      expect((await all(again.fetchList())).map(({ index }) => index)).toEqual([
        ...Array.from({ length: URLS + followed }, (_, i) => i),
      ]);
      expect(again.fetchedCount).toBe(URLS + followed);
      for (const index of added.slice(followed)) {
        await again.addItems([{ ...fetchItem(index), joined }], {});
        await again.addFetched(fetchedRecord(index), response(index));
      }
      expect((await all(again.fetched())).map(({ index }) => index)).toEqual([
        ...Array.from({ length: URLS + 3 }, (_, i) => i),
      ]);
      await again.close();
      rmSync(dir, { recursive: true });
    }
  });

  it('all files cut at once, with rubbish behind the cut', async () => {
    const names = ['fetched.bin', 'parsed.bin', 'data-00000.warc.gz'];
    const sizes = names.map((name) => statSync(join(original, ID, name)).size);
    const cuts = fc.tuple(...sizes.map((size) => fc.nat(size)));
    await fc.assert(
      fc.asyncProperty(cuts, fc.uint8Array({ maxLength: 30 }), async (at, rubbish) => {
        const { dir, file } = copyOf(original);
        for (const [i, name] of names.entries()) {
          const bytes = readFileSync(file(name)).subarray(0, at[i]);
          // Garbage in place of a response is not found without reading it, so WARC files are only cut.
          writeFileSync(file(name), name.endsWith('.gz') ? bytes : Buffer.concat([bytes, rubbish]));
        }
        await checkRepaired(dir);
        rmSync(dir, { recursive: true });
      }),
      { numRuns: 25 },
    );
  });

  it.each([
    ['a response', () => pointers[2]!, [0, 1]],
    ['the warcinfo record', () => ({ offset: 0, length: pointers[0]!.offset }), []],
  ])('%s that a power cut tore within its file costs it and what is after it', async (_, torn, kept) => {
    const { dir, file } = copyOf(original);
    const bytes = readFileSync(file('data-00000.warc.gz'));
    const { offset, length } = torn();
    bytes.fill(0, offset + (length >> 1), offset + length);
    writeFileSync(file('data-00000.warc.gz'), bytes);
    expect(await checkRepaired(dir)).toEqual({ fetched: kept, parsed: kept });
  });

  it('a reader shows the whole records of a torn segment and changes nothing', async () => {
    const { dir, file } = copyOf(original);
    truncateSync(file('fetched.bin'), statSync(file('fetched.bin')).size - 3);
    truncateSync(file('parsed.bin'), statSync(file('parsed.bin')).size - 3);
    const before = readdirSync(join(dir, ID)).map((name) => [name, statSync(file(name)).size]);
    const segment = await storeIn(dir).open(ID, 'read');
    expect([segment.fetchedCount, segment.parsedCount]).toEqual([URLS - 1, URLS - 1]);
    expect(await all(segment.fetched())).toHaveLength(URLS - 1);
    await segment.close();
    expect(readdirSync(join(dir, ID)).map((name) => [name, statSync(file(name)).size])).toEqual(before);
  });

  it('logs what it repaired', async () => {
    const { dir, file } = copyOf(original);
    truncateSync(file('fetched.bin'), statSync(file('fetched.bin')).size - 3);
    const warnings: LogFields[] = [];
    await (await storeIn(dir, warnings).open(ID, 'write')).close();
    expect(warnings).toEqual([{ segment: ID, fetchedBytes: expect.any(Number), parsedBytes: expect.any(Number) }]);
    expect(warnings[0]?.fetchedBytes).toBeGreaterThan(0);
    await (await storeIn(dir, warnings).open(ID, 'write')).close();
    expect(warnings).toHaveLength(1);
  });

  it('after a state was reached, a loss is an error and not a repair', async () => {
    const { dir: marked } = copyOf(original);
    const segment = await storeIn(marked).open(ID, 'write');
    await segment.setState('parsed');
    await segment.close();
    for (const name of ['fetched.bin', 'parsed.bin', 'data-00000.warc.gz']) {
      const { dir, file } = copyOf(marked);
      truncateSync(file(name), statSync(file(name)).size - 1);
      const sizes = readdirSync(join(dir, ID)).map((each) => statSync(file(each)).size);
      await expect(storeIn(dir).open(ID, 'write'), name).rejects.toMatchObject({
        code: 'segment-corrupt',
        message: expect.stringContaining(name),
      });
      // Nothing was cut off, and the lock is free.
      expect(readdirSync(join(dir, ID)).map((each) => statSync(file(each)).size)).toEqual(sizes);
    }
  });

  it('a process killed while it writes loses nothing that it had flushed', async () => {
    const dir = newFolder();
    await storeIn(dir).create({ id: ID, createdAt: START, hosts: {} }, fetchItems(URLS));
    const writer: Segment = await storeIn(dir).open(ID, 'write');
    // Answers a second apart are not held back.
    for (const i of [0, 1, 2]) await writer.addFetched(fetchedRecord(i, START + i * 1_000), response(i));
    await writer.addFetched(fetchedRecord(3, START + 2_001), response(3));
    const { dir: left, file } = copyOf(dir);
    rmSync(file('writer.lock'));
    expect((await checkRepaired(left)).fetched).toEqual([0, 1, 2]);
    await writer.close();
    expect((await checkRepaired(dir)).fetched).toEqual([0, 1, 2, 3]);
  });

  it('a response that damage made unreadable is named with file and offset', async () => {
    const { dir, file } = copyOf(original);
    const { offset, length } = pointers[2]!;
    const bytes = readFileSync(file('data-00000.warc.gz'));
    bytes.fill(0, offset + 12, offset + length);
    writeFileSync(file('data-00000.warc.gz'), bytes);
    const segment = await storeIn(dir).open(ID, 'read');
    await expect(segment.readResponse(pointers[2]!)).rejects.toMatchObject({
      code: 'segment-corrupt',
      message: expect.stringContaining(`data-00000.warc.gz at byte ${offset}`),
    });
    expect((await segment.readResponse(pointers[3]!)).url).toBe(urlOf(3));
    await expect(segment.readResponse({ ...pointers[3]!, length: pointers[3]!.length - 2 })).rejects.toMatchObject({
      code: 'segment-corrupt',
    });
    expect((await verifyWarc(file('data-00000.warc.gz'))).faults).not.toEqual([]);
  });

  it('that replaced parse output has the old one, whatever is left of the new', async () => {
    const { dir, file } = copyOf(original);
    writeFileSync(file('parsed.bin.fresh'), 'half of a record');
    writeFileSync(file('parsed.bin.new'), 'half of a file');
    const mark = JSON.parse(readFileSync(file('segment.json'), 'utf8'));
    // As between the mark and the new file.
    writeFileSync(file('segment.json'), JSON.stringify({ ...mark, synced: { ...mark.synced, parsed: 0 } }));
    const reader = await storeIn(dir).open(ID, 'read');
    expect((await all(reader.parsed())).map(({ text }) => text)).toHaveLength(URLS);
    const segment = await storeIn(dir).open(ID, 'write');
    const replacement = segment.replaceParsed();
    await replacement.add(2, encodedRecord(2, { text: 'other' }));
    await replacement.commit();
    await segment.close();
    expect((await all((await storeIn(dir).open(ID, 'read')).parsed())).map(({ text }) => text === 'other')).toEqual(
      Array.from({ length: URLS }, (_, index) => index === 2),
    );
    expect(readdirSync(join(dir, ID)).filter((name) => /fresh|new/.test(name))).toEqual([]);
    await checkRepaired(dir);
  });
});

describe('a writer that stood still while another process took its segment over', () => {
  it.each([
    ['its first response', async (segment: Segment) => void (await segment.addFetched(fetchedRecord(0), response(0)))],
    ['items that join the list', (segment: Segment) => segment.addItems([fetchItem(URLS)], {})],
  ])('is refused %s, and harms nothing of what the other has written', async (_, goOn) => {
    const dir = newFolder();
    await storeIn(dir).create({ id: ID, createdAt: START, hosts: {} }, fetchItems(URLS));
    const paused = await storeIn(dir).open(ID, 'write');
    // As the lock of a process that is gone: the other one takes it over.
    writeFileSync(join(dir, ID, 'writer.lock'), JSON.stringify({ pid: 1, host: 'other', startedAt: 1 }));
    utimesSync(join(dir, ID, 'writer.lock'), new Date(0), new Date(0));
    const other = await storeIn(dir).open(ID, 'write');
    await other.addFetched(fetchedRecord(0), response(0));
    await other.setState('generated');
    // Both are of this process, which the lock names.
    const held = readFileSync(join(dir, ID, 'writer.lock'));
    writeFileSync(join(dir, ID, 'writer.lock'), JSON.stringify({ pid: 1, host: 'other', startedAt: 2 }));
    await expect(goOn(paused)).rejects.toMatchObject({ code: 'lease-lost' });
    await paused.close().catch(() => {});
    writeFileSync(join(dir, ID, 'writer.lock'), held);
    await other.close();
    expect((await checkRepaired(dir)).fetched).toEqual([0]);
  });
});
