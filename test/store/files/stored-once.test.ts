import { cpSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { FetchedRecord, Segment } from '../../../src/core/ports/segment-store.ts';
import { repairSegments, verifySegments } from '../../../src/store/files/care/segment-care.ts';
import { verifyWarc } from '../../../src/store/files/care/verify-segment.ts';
import { createFileSegmentStore } from '../../../src/store/files/segments/segment-store.ts';
import { all, fetchedRecord, fetchItems, incompressible, response, START } from '../../contracts/segment-records.ts';
import { temporaryFolders, WARC_OPTIONS } from './temporary-folder.ts';

const newFolder = temporaryFolders();
const ID = 's1';
const WARC = 'data-00000.warc.gz';
const storeIn = (dir: string, maxFileBytes = WARC_OPTIONS.maxFileBytes) =>
  createFileSegmentStore({ dir, warc: { ...WARC_OPTIONS, maxFileBytes } });

/** Bodies by number; the last is compressed in another thread. */
const BODIES = [100, 3_000, 5_000, 300_000].map((bytes, seed) => incompressible(bytes, seed + 1));
const bodyOf = (body: number): Buffer => BODIES[body]!;

/** A segment of as many pages, each with one of the bodies. */
async function written(bodies: readonly number[], maxFileBytes?: number): Promise<string> {
  const dir = newFolder();
  const store = storeIn(dir, maxFileBytes);
  await store.create({ id: ID, createdAt: START, hosts: {} }, fetchItems(bodies.length));
  const segment = await store.open(ID, 'write');
  for (const [i, body] of bodies.entries()) await segment.addFetched(fetchedRecord(i), response(i, bodyOf(body)));
  await segment.close();
  return dir;
}

/** Each record has its own response, with its body. Returns the positions. */
async function checkRead(segment: Segment, bodies: readonly number[]): Promise<number[]> {
  const records = await all(segment.fetched());
  for (const { index, warc } of records) {
    const { body, ...read } = await segment.readResponse(warc!);
    const { body: _, ...sent } = response(index);
    expect(read).toEqual(sent);
    expect(Buffer.from(body!).equals(bodyOf(bodies[index]!))).toBe(true);
  }
  return records.map(({ index }: FetchedRecord) => index);
}

const someBodies = fc.array(fc.integer({ min: 0, max: BODIES.length - 1 }), { minLength: 1, maxLength: 12 });

describe('a body of several URLs', () => {
  it('is read back for each of them, from one file or several, wherever a crash has cut them', async () => {
    const cuts = fc.record({ warc: fc.nat({ max: 1_000 }), fetched: fc.nat({ max: 1_000 }) });
    await fc.assert(
      fc.asyncProperty(someBodies, cuts, fc.constantFrom(10_000, 1 << 30), async (bodies, cut, maxFileBytes) => {
        const dir = await written(bodies, maxFileBytes);
        const whole = await storeIn(dir).open(ID, 'read');
        expect((await checkRead(whole, bodies)).length).toBe(bodies.length);
        await whole.close();
        for (const [name, left] of [
          [WARC, cut.warc],
          ['fetched.bin', cut.fetched],
        ] as const) {
          const file = join(dir, ID, name);
          truncateSync(file, Math.round((statSync(file).size * left) / 1_000));
        }
        const segment = await storeIn(dir, maxFileBytes).open(ID, 'write');
        const left = await checkRead(segment, bodies);
        for (const [i, body] of bodies.entries())
          if (!left.includes(i)) await segment.addFetched(fetchedRecord(i), response(i, bodyOf(body)));
        await segment.setState('fetched');
        expect((await checkRead(segment, bodies)).length).toBe(bodies.length);
        await segment.close();
        const findings: unknown[] = [];
        await verifySegments(dir, true, (finding) => findings.push(finding));
        expect(findings).toEqual([]);
      }),
      { numRuns: 40 },
    );
  }, 60_000);

  it('is one response record, and revisit records that name it', async () => {
    const dir = await written([1, 1, 2, 1]);
    const { records, faults } = await verifyWarc(join(dir, ID, WARC));
    expect([records, faults]).toEqual([{ warcinfo: 1, response: 2, revisit: 2 }, []]);
    expect(statSync(join(dir, ID, WARC)).size).toBeLessThan(3_000 + 5_000 + 4 * 1_000);
    const { WARCParser } = await import('warcio');
    const parser = new WARCParser(new Blob([readFileSync(join(dir, ID, WARC))]).stream());
    const named = [];
    for await (const record of parser) {
      if (record.warcType === 'revisit')
        named.push([record.warcHeader('WARC-Refers-To-Target-URI'), record.warcHeader('WARC-Profile')]);
      await record.readFully(false);
    }
    const profile = 'http://netpreserve.org/warc/1.1/revisit/identical-payload-digest';
    expect(named).toEqual([
      [response(0).url, profile],
      [response(0).url, profile],
    ]);
  });

  it('is lost for all of them with its record, and each is then fetched again', async () => {
    const bodies = [1, 2, 1, 2, 1];
    const dir = await written(bodies);
    const reader = await storeIn(dir).open(ID, 'read');
    const [first] = await all(reader.fetched());
    await reader.close();
    const file = join(dir, ID, WARC);
    const bytes = readFileSync(file);
    bytes.fill(0, first!.warc!.offset + 20, first!.warc!.offset + 200);
    writeFileSync(file, bytes.subarray(0, bytes.length - 10));
    const copy = newFolder();
    cpSync(dir, copy, { recursive: true });
    const options = { deep: true, appliedOf: () => 0, known: [ID], report: () => {} };
    const [repaired] = await repairSegments(copy, newFolder(), options);
    expect(repaired?.salvaged?.lost.map(({ url }) => url)).toEqual([0, 2, 4].map((i) => response(i).url));
    const segment = await storeIn(copy).open(ID, 'write');
    expect(await checkRead(segment, bodies)).toEqual([1, 3]);
    await segment.close();
  });

  it('that is not the one of the record is damage', async () => {
    const dir = await written([1, 1, 2]);
    const segment = await storeIn(dir).open(ID, 'read');
    const [, repeat, other] = await all(segment.fetched());
    await expect(segment.readResponse({ ...repeat!.warc!, body: other!.warc! })).rejects.toMatchObject({
      code: 'segment-corrupt',
      message: expect.stringContaining('another one'),
    });
    await segment.close();
  });
});
