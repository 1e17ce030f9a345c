import { appendFileSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as zlib from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { onFile } from '../../../src/store/files/durable-file.ts';
import { BitSet } from '../../../src/store/files/segments/bit-set.ts';
import { FRAME_HEAD_BYTES, FrameLog, readFrames } from '../../../src/store/files/segments/frame-log.ts';
import { crc32, crc32ByTable } from '../../../src/store/files/warc/warc-record.ts';
import { temporaryFolders } from './temporary-folder.ts';

const newFolder = temporaryFolders();
const payloads = fc.array(fc.uint8Array({ maxLength: 40 }), { minLength: 1, maxLength: 8 });

function write(file: string, list: readonly Uint8Array[], first = 0): void {
  const log = new FrameLog(file);
  for (const [i, payload] of list.entries()) log.append(first + i, payload);
  log.flush();
  log.close();
}

const read = (file: string, syncedBytes = 0): [number, number[]][] =>
  [...readFrames(file, { syncedBytes })].map(({ index, payload }) => [index, [...payload]]);
const expected = (list: readonly Uint8Array[]): [number, number[]][] => list.map((bytes, i) => [i, [...bytes]]);

describe('frame log', () => {
  it('reads back what was appended, over several openings', () => {
    fc.assert(
      fc.property(payloads, payloads, (before, after) => {
        const file = join(newFolder(), 'log');
        write(file, before);
        write(file, after, before.length);
        expect(read(file)).toEqual(expected([...before, ...after]));
      }),
      { numRuns: 25 },
    );
  });

  it('cut at every byte, reads the whole records before the cut and goes on from there', () => {
    const list = [Buffer.from('one'), Buffer.alloc(0), Buffer.from('three'), Buffer.alloc(30, 4)];
    const file = join(newFolder(), 'log');
    write(file, list);
    const bytes = readFileSync(file);
    const ends: number[] = [];
    for (const { end } of readFrames(file)) ends.push(end);
    for (let cut = bytes.length - 1; cut >= 0; cut--) {
      writeFileSync(file, bytes.subarray(0, cut));
      const whole = ends.filter((end) => end <= cut).length;
      expect(read(file)).toEqual(expected(list.slice(0, whole)));
      const log = new FrameLog(file);
      expect(log.droppedBytes).toBe(cut - (ends[whole - 1] ?? 0));
      log.append(whole, Buffer.from('new'));
      log.flush();
      log.close();
      expect(read(file)).toEqual(expected([...list.slice(0, whole), Buffer.from('new')]));
    }
  });

  it('never gives out a record with a flipped bit; before the synced length it is an error with the offset', () => {
    const list = [Buffer.from('first'), Buffer.from('second'), Buffer.from('third')];
    const file = join(newFolder(), 'log');
    write(file, list);
    const bytes = readFileSync(file);
    fc.assert(
      fc.property(fc.nat(bytes.length * 8 - 1), (bit) => {
        const damaged = Buffer.from(bytes);
        damaged[bit >> 3]! ^= 1 << (bit & 7);
        writeFileSync(file, damaged);
        const found = read(file);
        expect(found.length).toBeLessThan(3);
        expect(found).toEqual(expected(list).slice(0, found.length));
        expect(() => read(file, bytes.length)).toThrow(/log is damaged at byte \d+/);
        expect(() => new FrameLog(file, { syncedBytes: bytes.length })).toThrow(/is damaged/);
      }),
      { numRuns: 80 },
    );
  });

  it('takes zeros at the end, as a power cut leaves them, for a torn end', () => {
    const file = join(newFolder(), 'log');
    write(file, [Buffer.from('one')]);
    appendFileSync(file, Buffer.alloc(4_096));
    expect(read(file)).toEqual(expected([Buffer.from('one')]));
    new FrameLog(file).close();
    expect(statSync(file).size).toBe(FRAME_HEAD_BYTES + 3);
  });

  it('skips unwanted payloads, but checks unsynced frames', () => {
    const file = join(newFolder(), 'log');
    const list = Array.from({ length: 40 }, (_, i) => Buffer.alloc(3_000, i));
    write(file, list);
    const { size } = statSync(file);
    const wanted = [...readFrames(file, { syncedBytes: size, wants: (index) => index % 10 === 3 })];
    expect(wanted.map(({ index }) => index)).toEqual(list.map((_, i) => i));
    expect(wanted.filter(({ payload }) => payload.length > 0).map(({ payload }) => payload[2_999])).toEqual([
      3, 13, 23, 33,
    ]);
    const bytes = readFileSync(file);
    bytes[size - 1]! ^= 1;
    writeFileSync(file, bytes);
    expect([...readFrames(file, { wants: () => false })]).toHaveLength(39);
  });

  it('finds the file shorter than it was synced, or missing', () => {
    const file = join(newFolder(), 'log');
    expect(() => read(file, 1)).toThrow(/missing/);
    write(file, [Buffer.from('one'), Buffer.from('two')]);
    truncateSync(file, FRAME_HEAD_BYTES + 3);
    expect(() => read(file, 2 * (FRAME_HEAD_BYTES + 3))).toThrow(/damaged at byte 19/);
  });

  it('drops a frame that is not accepted, with all that follow', () => {
    const file = join(newFolder(), 'log');
    write(
      file,
      [1, 2, 3, 4].map((byte) => Buffer.of(byte)),
    );
    new FrameLog(file, { accept: ({ index }) => index !== 2 }).close();
    expect(read(file).map(([index]) => index)).toEqual([0, 1]);
  });

  it('a reader that began before a reset reads the old records to their end', () => {
    const file = join(newFolder(), 'log');
    const log = new FrameLog(file);
    for (const index of [0, 1]) log.append(index, Buffer.of(index));
    log.flush();
    const frames = readFrames(file);
    expect(frames.next().value?.index).toBe(0);
    log.reset();
    log.append(7, Buffer.of(7));
    log.flush();
    expect(frames.next().value?.index).toBe(1);
    expect(frames.next().done).toBe(true);
    expect(read(file)).toEqual([[7, [7]]]);
    log.close();
  });
});

describe('parts of the frame log', () => {
  it('the CRC-32 made by table is that of zlib', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (data) => crc32ByTable(data) === crc32(data)));
    expect(crc32ByTable(Buffer.from('123456789'))).toBe(0xcbf43926);
    if ('crc32' in zlib) expect(crc32).toBe(zlib.crc32);
  });

  it('a full disk differs from other faults', () => {
    const failing = (code: string) => () => {
      throw Object.assign(new Error(code), { code });
    };
    for (const code of ['ENOSPC', 'EDQUOT']) {
      expect(() => onFile('x.bin', failing(code))).toThrow(expect.objectContaining({ code: 'disk-full' }));
    }
    expect(() => onFile('x.bin', failing('EIO'))).toThrow(
      expect.objectContaining({ code: 'segment-corrupt', message: expect.stringContaining('x.bin') }),
    );
  });

  it('a bit set counts each position once', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(99)), (positions) => {
        const bits = new BitSet(100);
        for (const position of positions) bits.add(position);
        const set = new Set(positions);
        expect(bits.count).toBe(set.size);
        for (let i = 0; i < 100; i++) expect(bits.has(i)).toBe(set.has(i));
        bits.clear();
        expect([bits.count, bits.has(0)]).toEqual([0, false]);
      }),
      { numRuns: 50 },
    );
  });
});
