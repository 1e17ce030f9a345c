import { cpSync, existsSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { Finding } from '../../../src/core/domain/findings.ts';
import type { SegmentState } from '../../../src/core/ports/crawl-db.ts';
import { repairSegments, verifySegments } from '../../../src/store/files/care/segment-care.ts';
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
const URLS = 6;
const storeIn = (dir: string) => createFileSegmentStore({ dir, warc: WARC_OPTIONS });

/** By state: a segment whose pages were all fetched and parsed. */
const originals = new Map<SegmentState, string>();
beforeAll(async () => {
  for (const state of ['parsed', 'updated'] as const) {
    const dir = newFolder();
    await storeIn(dir).create({ id: 's1', createdAt: START, hosts: {} }, fetchItems(URLS));
    const segment = await storeIn(dir).open('s1', 'write');
    for (let i = 0; i < URLS; i++) {
      await segment.addFetched(fetchedRecord(i), response(i));
      await segment.addParsed(i, encodedRecord(i));
    }
    await segment.addItems([fetchItem(URLS)], {});
    await segment.setState(state);
    await segment.close();
    originals.set(state, dir);
  }
});

interface Copy {
  readonly dir: string;
  readonly quarantine: string;
  readonly file: (name: string) => string;
}

function copyOf(state: SegmentState): Copy {
  const folder = newFolder();
  const dir = join(folder, 'segments');
  cpSync(originals.get(state)!, dir, { recursive: true });
  return { dir, quarantine: join(folder, 'quarantine'), file: (name) => join(dir, 's1', name) };
}

async function findingsOf({ dir }: Copy, deep = true): Promise<Finding[]> {
  const findings: Finding[] = [];
  await verifySegments(dir, deep, (finding) => findings.push(finding));
  return findings;
}

const repair = ({ dir, quarantine }: Copy, applied = 0) =>
  repairSegments(dir, quarantine, { deep: true, appliedOf: () => applied, known: [], report: () => {} });

async function readable({ dir }: Copy): Promise<{ urls: string[]; parsed: string[]; state: string }> {
  const segment = await storeIn(dir).open('s1', 'write');
  const fetched = await all(segment.fetched());
  for (const record of fetched)
    if (record.warc !== null) expect((await segment.readResponse(record.warc)).url).toBe(record.url);
  const parsed = (await all(segment.parsed())).map(({ url }) => url);
  const { state } = segment.info;
  await segment.close();
  return { urls: fetched.map(({ url }) => url), parsed, state };
}

const flip = (file: string, offset: number): void => {
  const bytes = readFileSync(file);
  bytes[offset]! ^= 0xff;
  writeFileSync(file, bytes);
};

const upTo = (count: number): string[] => Array.from({ length: count }, (_, i) => urlOf(i));

describe('verify and repair of segments', () => {
  it.each(['parsed', 'updated'] as const)(
    'finds nothing in a sound segment (%s), and repairs nothing',
    async (state) => {
      const copy = copyOf(state);
      expect(await findingsOf(copy)).toEqual([]);
      expect(await repair(copy)).toEqual([]);
      expect(existsSync(copy.quarantine)).toBe(false);
    },
  );

  it.each(['fetched.bin', 'parsed.bin'])('a damaged record in %s: the records before it are kept', async (name) => {
    const copy = copyOf('updated');
    flip(copy.file(name), readFileSync(copy.file(name)).length - 3);
    expect(await findingsOf(copy)).toMatchObject([{ kind: 'segment-damaged', subject: join('s1', name) }]);
    await repair(copy);
    expect(await findingsOf(copy)).toEqual([]);
    const left = name === 'fetched.bin' ? URLS - 1 : URLS;
    expect(await readable(copy)).toEqual({ urls: upTo(left), parsed: upTo(URLS - 1), state: 'updated' });
    expect(existsSync(join(copy.quarantine, 'segments', 's1', name))).toBe(true);
  });

  it('pages lost before they were applied are fetched again', async () => {
    const copy = copyOf('parsed');
    flip(copy.file('fetched.bin'), readFileSync(copy.file('fetched.bin')).length - 3);
    const [repaired] = await repair(copy, 3);
    expect(repaired).toMatchObject({ id: 's1', salvaged: { state: 'generated', applied: 3 } });
    expect(await readable(copy)).toMatchObject({ state: 'generated', urls: upTo(URLS - 1) });
  });

  it('a page whose response is damaged is taken out', async () => {
    const copy = copyOf('updated');
    const segment = await storeIn(copy.dir).open('s1', 'read');
    const [, second] = await all(segment.fetched());
    await segment.close();
    const { file, offset, length } = second!.warc!;
    flip(copy.file(file), offset + Math.floor(length / 2));
    expect(await findingsOf(copy, false)).toEqual([]);
    expect((await findingsOf(copy)).map(({ kind }) => kind)).toEqual(['warc-damaged']);
    expect(await repair(copy)).toMatchObject([{ salvaged: { pagesLost: 1 } }]);
    expect((await readable(copy)).urls).toEqual(upTo(URLS).filter((url) => url !== second!.url));
  });

  it('a WARC file that ends too early: the pages behind its end are taken out', async () => {
    const copy = copyOf('updated');
    const segment = await storeIn(copy.dir).open('s1', 'read');
    const last = (await all(segment.fetched())).at(-1)!;
    await segment.close();
    truncateSync(copy.file(last.warc!.file), last.warc!.offset + 5);
    expect((await findingsOf(copy, false)).map(({ kind }) => kind)).toEqual(['response-missing']);
    await repair(copy);
    expect((await readable(copy)).urls).toEqual(upTo(URLS - 1));
  });

  it.each([
    ['segment.json', 'parsed', 'segment-unreadable'],
    ['segment.json', 'updated', 'segment-unreadable'],
    ['fetchlist.bin', 'parsed', 'segment-damaged'],
    ['added.bin', 'parsed', 'segment-damaged'],
  ] as const)('a damaged %s (%s): the segment goes to the quarantine as a whole', async (name, state, kind) => {
    const copy = copyOf(state);
    flip(copy.file(name), 20);
    expect(await findingsOf(copy)).toMatchObject([{ kind }]);
    expect(await repair(copy)).toEqual([{ id: 's1', salvaged: null }]);
    expect(readdirSync(copy.dir)).toEqual([]);
    expect(existsSync(join(copy.quarantine, 'segments', 's1', 'data-00000.warc.gz'))).toBe(true);
  });

  it('a torn end is no fault: the next opening cuts it back', async () => {
    const copy = copyOf('updated');
    for (const name of ['fetched.bin', 'parsed.bin', 'data-00000.warc.gz']) {
      writeFileSync(copy.file(name), Buffer.concat([readFileSync(copy.file(name)), Buffer.from('torn')]));
    }
    expect(await findingsOf(copy)).toEqual([]);
  });

  it('a lost record file of a segment that is done with: the segment is empty, its copy whole', async () => {
    const copy = copyOf('updated');
    rmSync(copy.file('fetched.bin'));
    expect((await findingsOf(copy, false)).map(({ subject }) => subject)).toContain(join('s1', 'fetched.bin'));
    await repair(copy);
    expect(await findingsOf(copy, false)).toEqual([]);
    expect(await readable(copy)).toEqual({ urls: [], parsed: [], state: 'updated' });
  });
});
