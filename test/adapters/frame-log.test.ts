import { appendFileSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FrameLog, readFrames } from '../../src/adapters/files/frame-log.ts';
import { createFileSegmentStore } from '../../src/adapters/files/segment-store.ts';
import type { FetchedRecord, FetchItem, WireResponse } from '../../src/ports/segment-store.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'incrawl-files-'));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

describe('a log of framed records', () => {
  const write = (file: string): void => {
    const log = new FrameLog(file);
    for (let i = 0; i < 5; i++) log.append(i, Buffer.from(`record ${i}`));
    log.close();
  };
  const texts = (file: string): string[] => [...readFrames(file)].map((frame) => frame.payload.toString());

  it('cut at any byte, keeps every whole record, and goes on after it', () => {
    const file = join(dir, 'log');
    write(file);
    const whole = readFileSync(file);
    const ends = [...readFrames(file)].map((frame) => frame.end);
    for (let cut = 0; cut <= whole.length; cut++) {
      writeFileSync(file, whole);
      truncateSync(file, cut);
      const kept = ends.filter((end) => end <= cut).length;
      expect(texts(file)).toHaveLength(kept);
      const log = new FrameLog(file);
      log.append(9, Buffer.from('after'));
      log.close();
      expect(texts(file)).toEqual([...Array.from({ length: kept }, (_, i) => `record ${i}`), 'after']);
    }
  });

  it('says where a record in the middle is damaged', () => {
    const file = join(dir, 'log');
    write(file);
    const bytes = readFileSync(file);
    bytes[15] = (bytes[15] ?? 0) ^ 1;
    writeFileSync(file, bytes);
    expect(() => texts(file)).toThrow(/damaged at byte 0/);
  });
});

describe('a segment on disk', () => {
  const warc = { software: 'test', maxFileBytes: 4_000, gzipLevel: 1 };
  const item = (index: number): FetchItem => ({
    index,
    url: `http://h.example/${index}`,
    host: 'h.example',
    partition: 0,
    depth: 0,
    score: 1,
    validators: { etag: null, lastModified: null, contentLength: null },
    digest: null,
    audit: false,
    metadata: {},
  });
  const record = (index: number): Omit<FetchedRecord, 'warc'> => ({
    index,
    url: `http://h.example/${index}`,
    host: 'h.example',
    lesson: null,
    outcome: { kind: 'gone', status: 404, at: 1, requests: 1, bodyBytes: 0, receivedBytes: 1, ms: 1 },
  });
  const response = (index: number): WireResponse => ({
    url: `http://h.example/${index}`,
    at: 1_000,
    httpVersion: '1.1',
    status: 200,
    statusText: 'OK',
    rawHeaders: ['Content-Type', 'text/plain'],
    body: Buffer.from(`body of ${index} `.repeat(200)),
    truncated: false,
    remoteAddress: null,
    revisit: null,
  });

  it('torn ends of WARC and record files are cut back; what they held is fetched again', async () => {
    const store = createFileSegmentStore({ dir, warc });
    await store.create(
      { id: 's1', createdAt: 1, hosts: {} },
      Array.from({ length: 40 }, (_, i) => item(i)),
    );
    let segment = await store.open('s1', 'write');
    for (let i = 0; i < 30; i++) await segment.addFetched(record(i), response(i));
    await segment.close();
    appendFileSync(join(dir, 's1', 'data-00000.warc.gz'), 'torn');
    appendFileSync(join(dir, 's1', 'fetched.bin'), 'torn');
    segment = await store.open('s1', 'write');
    expect(segment.fetchedCount).toBe(30);
    for (let i = 30; i < 40; i++) await segment.addFetched(record(i), response(i));
    for await (const fetched of segment.fetched()) {
      const back = await segment.readResponse(fetched.warc as NonNullable<typeof fetched.warc>);
      expect(back.url).toBe(fetched.url);
    }
    await segment.setState('fetched');
    await segment.close();
    expect((await store.list())[0]).toMatchObject({ id: 's1', urls: 40, state: 'fetched' });
  });

  it('records that point behind the end of a WARC file are dropped', async () => {
    const store = createFileSegmentStore({ dir, warc: { ...warc, maxFileBytes: 1e9 } });
    await store.create(
      { id: 's1', createdAt: 1, hosts: {} },
      Array.from({ length: 10 }, (_, i) => item(i)),
    );
    let segment = await store.open('s1', 'write');
    const stored: FetchedRecord[] = [];
    for (let i = 0; i < 10; i++) stored.push(await segment.addFetched(record(i), response(i)));
    await segment.close();
    truncateSync(join(dir, 's1', 'data-00000.warc.gz'), (stored[6]?.warc?.offset ?? 0) + 5);
    segment = await store.open('s1', 'write');
    expect(segment.fetchedCount).toBe(6);
    expect(segment.hasFetched(6)).toBe(false);
    await segment.close();
  });

  it('a crashed create is not shown, and is swept', async () => {
    const store = createFileSegmentStore({ dir, warc });
    const broken = function* (): Generator<FetchItem> {
      yield item(0);
      throw new Error('crash');
    };
    await expect(store.create({ id: 's2', createdAt: 1, hosts: {} }, broken())).rejects.toThrow('crash');
    expect(await store.list()).toEqual([]);
    expect(await store.listIncomplete()).toEqual(['s2']);
    await store.remove('s2');
    expect(await store.listIncomplete()).toEqual([]);
    await expect(store.open('s2', 'read')).rejects.toMatchObject({ code: 'segment-missing' });
  });
});
