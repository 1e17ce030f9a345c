import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WARCParser } from 'warcio';
import type { WarcPointer, WireResponse } from '../../../src/core/ports/segment-store.ts';
import { verifyWarc } from '../../../src/store/files/care/verify-segment.ts';
import { createFileSegmentStore } from '../../../src/store/files/segments/segment-store.ts';
import { readWarcMember } from '../../../src/store/files/warc/warc-reader.ts';
import { responseRecord } from '../../../src/store/files/warc/warc-record.ts';
import { fetchedRecord, fetchItems, response, START, urlOf } from '../../contracts/segment-records.ts';
import { temporaryFolders, WARC_OPTIONS } from './temporary-folder.ts';

const newFolder = temporaryFolders();

/** Writes responses into a segment of their own; the folder and the pointers. */
async function stored(
  responses: readonly WireResponse[],
  options: Partial<typeof WARC_OPTIONS> = {},
): Promise<{ folder: string; pointers: WarcPointer[] }> {
  const dir = newFolder();
  const store = createFileSegmentStore({ dir, warc: { ...WARC_OPTIONS, ...options } });
  await store.create({ id: 's', createdAt: START, hosts: {} }, fetchItems(responses.length));
  const segment = await store.open('s', 'write');
  const pointers: WarcPointer[] = [];
  for (const [i, each] of responses.entries()) {
    pointers.push((await segment.addFetched(fetchedRecord(i), each)).warc!);
  }
  await segment.close();
  return { folder: join(dir, 's'), pointers };
}

const textOf = (folder: string, { file, offset, length }: WarcPointer): string =>
  gunzipSync(readFileSync(join(folder, file)).subarray(offset, offset + length)).toString('latin1');

const field = (record: string, name: string): string | undefined =>
  new RegExp(`^${name}: (.*)\r$`, 'm').exec(record.slice(0, record.indexOf('\r\n\r\n') + 2))?.[1];

describe('WARC files', () => {
  it('are read by warcio as they were written', async () => {
    const coded = gzipSync('<p>coded');
    const { folder, pointers } = await stored([
      response(0),
      { ...response(1, coded), rawHeaders: ['Content-Encoding', 'gzip', 'Transfer-Encoding', 'chunked'] },
      { ...response(2, null), status: 304, statusText: 'Not Modified', revisit: 'server-not-modified' },
      { ...response(3, Buffer.from('cut')), truncated: 'length' },
    ]);
    const parser = new WARCParser([readFileSync(join(folder, 'data-00000.warc.gz'))]);
    const found: [string, string | null | undefined, number, string][] = [];
    const offsets: number[] = [];
    for await (const record of parser) {
      offsets.push(parser.offset);
      const payload = Buffer.from(await record.readFully(false)).toString('latin1');
      found.push([record.warcType, record.warcTargetURI, Number(record.httpHeaders?.statusCode ?? 0), payload]);
    }
    expect(found[0]?.[0]).toBe('warcinfo');
    expect(found[0]?.[3]).toContain('software: incrawl/test\r\noperator: me@example.org\r\nrobots: classic\r\n');
    expect(found.slice(1)).toEqual([
      ['response', urlOf(0), 200, '<p>page 0'],
      ['response', urlOf(1), 200, coded.toString('latin1')],
      ['revisit', urlOf(2), 304, ''],
      ['response', urlOf(3), 200, 'cut'],
    ]);
    expect(offsets.slice(1)).toEqual(pointers.map(({ offset }) => offset));
  });

  it('write HTTP/2 as readers know it, and name it', async () => {
    const sent = { ...response(0), httpVersion: '2' };
    const { folder, pointers } = await stored([sent, response(1)]);
    const [record = '', plain = ''] = pointers.map((pointer) => textOf(folder, pointer));
    expect([field(record, 'WARC-Protocol'), field(plain, 'WARC-Protocol')]).toEqual(['h2', undefined]);
    expect(record).toMatch(/\r\n\r\nHTTP\/1\.1 200 /);
    const read = pointers.map(({ file, offset, length }) =>
      readWarcMember(readFileSync(join(folder, file)).subarray(offset, offset + length), 'here'),
    );
    expect(read.map(({ httpVersion }) => httpVersion)).toEqual(['2', '1.1']);
    expect((await verifyWarc(join(folder, 'data-00000.warc.gz'))).faults).toEqual([]);
  });

  it('hold the fields that WARC 1.1 asks for', async () => {
    const body = Buffer.from('same');
    const { folder, pointers } = await stored([
      response(0),
      { ...response(1, null), revisit: 'server-not-modified', refersToAt: START - 1 },
      { ...response(2, body), revisit: 'identical-payload-digest' },
      { ...response(3), truncated: 'disconnect', remoteAddress: null },
      { ...response(4, null), status: 404, truncated: 'unspecified' },
    ]);
    const records = pointers.map((pointer) => textOf(folder, pointer));
    expect(records.map((record) => record.slice(0, 10))).toEqual(Array(5).fill('WARC/1.1\r\n'));
    const fieldsOf = (name: string) => records.map((record) => field(record, name));
    expect(fieldsOf('WARC-Type')).toEqual(['response', 'revisit', 'revisit', 'response', 'response']);
    expect(fieldsOf('WARC-Target-URI')).toEqual([0, 1, 2, 3, 4].map(urlOf));
    expect(fieldsOf('WARC-Date')[1]).toBe('2026-01-05T00:00:00.001Z');
    expect(fieldsOf('WARC-IP-Address')).toEqual([
      '203.0.113.7',
      '203.0.113.7',
      '203.0.113.7',
      undefined,
      '203.0.113.7',
    ]);
    expect(fieldsOf('WARC-Truncated')).toEqual([undefined, undefined, undefined, 'disconnect', 'unspecified']);
    const profile = 'http://netpreserve.org/warc/1.1/revisit/';
    expect(fieldsOf('WARC-Profile')).toEqual([
      undefined,
      `${profile}server-not-modified`,
      `${profile}identical-payload-digest`,
      undefined,
      undefined,
    ]);
    expect(fieldsOf('WARC-Refers-To-Target-URI').slice(1, 3)).toEqual([urlOf(1), urlOf(2)]);
    expect(fieldsOf('WARC-Refers-To-Date')).toEqual([
      undefined,
      '2026-01-04T23:59:59.999Z',
      undefined,
      undefined,
      undefined,
    ]);
    const digestOf = (bytes: Buffer) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
    expect(fieldsOf('WARC-Payload-Digest').slice(0, 3)).toEqual([
      digestOf(Buffer.from('<p>page 0')),
      undefined,
      digestOf(body),
    ]);
    expect(new Set(fieldsOf('WARC-Record-ID')).size).toBe(5);
    for (const id of fieldsOf('WARC-Record-ID')) expect(id).toMatch(/^<urn:uuid:[0-9a-f-]{36}>$/);
    expect(records[2]?.endsWith('\r\n\r\n\r\n\r\n')).toBe(true);
  });

  it('a large one is followed by the next, each with its warcinfo', async () => {
    const responses = Array.from({ length: 12 }, (_, i) => response(i, Buffer.alloc(500, String(i))));
    const { folder, pointers } = await stored(responses, { maxFileBytes: 1_500 });
    const names = readdirSync(folder).filter((name) => name.endsWith('.warc.gz'));
    expect(names.length).toBeGreaterThan(1);
    expect(names).toEqual(names.map((_, i) => `data-0000${i}.warc.gz`));
    let count = 0;
    for (const name of names) {
      const verdict = await verifyWarc(join(folder, name));
      expect(verdict.faults).toEqual([]);
      expect(verdict.records.warcinfo).toBe(1);
      count += verdict.records.response ?? 0;
      expect(statSync(join(folder, name)).size).toBeLessThan(3_000);
    }
    expect(count).toBe(12);
    expect(new Set(pointers.map(({ file }) => file)).size).toBe(names.length);
    const store = createFileSegmentStore({ dir: join(folder, '..'), warc: WARC_OPTIONS });
    const segment = await store.open('s', 'write');
    for (const [i, pointer] of pointers.entries()) {
      expect((await segment.readResponse(pointer)).body).toEqual(responses[i]?.body);
    }
    await segment.close();
  });

  it('wrap bodies that came compressed without compressing them again', async () => {
    const coded = gzipSync(Buffer.from(Array.from({ length: 9_000 }, (_, i) => (i * i) % 251)));
    const plain = Buffer.alloc(20_000, 'text that repeats itself. ');
    const { pointers } = await stored([
      { ...response(0, coded), rawHeaders: ['content-encoding', 'gzip'] },
      response(1, plain),
      { ...response(2, Buffer.alloc(400_000, coded)), rawHeaders: ['Content-Encoding', 'br'] },
    ]);
    expect(pointers[0]?.length).toBeGreaterThan(coded.length);
    expect(pointers[0]?.length).toBeLessThan(coded.length + 900);
    expect(pointers[1]?.length).toBeLessThan(plain.length / 10);
    expect(pointers[2]?.length).toBeLessThan(401_000);
  });

  it('cannot be broken by values of a server or a plugin', async () => {
    const text = fc.string({ unit: 'binary', maxLength: 20 });
    const given = fc.record({
      url: fc.webUrl({ withQueryParameters: true }),
      statusText: text,
      rawHeaders: fc.array(fc.tuple(text, text), { maxLength: 5 }).map((pairs) => pairs.flat()),
      body: fc.option(fc.uint8Array({ maxLength: 200 })),
      status: fc.integer({ min: 100, max: 999 }),
    });
    await fc.assert(
      fc.asyncProperty(given, async (fields) => {
        const member = gzipSync(responseRecord({ ...response(0), ...fields }));
        const own = readWarcMember(member, 'member');
        expect(own.status).toBe(fields.status);
        expect(own.url).toBe(fields.url);
        expect([...own.body!]).toEqual([...(fields.body ?? [])]);
        const kept = fields.rawHeaders
          .filter((_, i) => i % 2 === 0)
          .filter((name) => !/^transfer-encoding$/i.test(name));
        expect(own.rawHeaders).toHaveLength(kept.length * 2);
        // warcio takes the body for the head when there is no field at all.
        if (own.rawHeaders.length === 0) return;
        const record = await new WARCParser([member]).parse();
        expect(record?.warcTargetURI).toBe(fields.url);
        expect([...(await record!.readFully(false))]).toEqual([...own.body!]);
      }),
      { numRuns: 150 },
    );
  });

  it('verification finds a wrong digest, a wrong length and a file cut short', async () => {
    const folder = newFolder();
    const file = join(folder, 'x.warc.gz');
    const record = responseRecord(response(0)).toString('latin1');
    const faultsOf = async (text: string, cut = 0): Promise<string> => {
      const members = Buffer.concat([gzipSync(responseRecord(response(1))), gzipSync(Buffer.from(text, 'latin1'))]);
      writeFileSync(file, members.subarray(0, members.length - cut));
      return (await verifyWarc(file)).faults.map(({ message }) => message).join('; ');
    };
    expect(await faultsOf(record)).toBe('');
    expect(await faultsOf(record.replace('page 0', 'page 1'))).toContain('the payload digest is');
    expect(await faultsOf(record.replace(/sha256:\w+/, 'md5:00'))).toContain('no SHA-256 payload digest');
    expect(await faultsOf(record.replace(/Content-Length: \d+/, 'Content-Length: 9999'))).toContain('says 9999');
    expect(await faultsOf(record, 40)).toBe('no whole record begins here');
    expect(await faultsOf(record, 1)).toBe('no whole record begins here');
    await expect(verifyWarc(join(folder, 'absent.warc.gz'))).rejects.toMatchObject({ code: 'segment-corrupt' });
  });
});
