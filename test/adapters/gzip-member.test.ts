import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { WARCParser } from 'warcio';
import { readWarcMember } from '../../src/adapters/files/warc-reader.ts';
import { gzipMember, responseRecord } from '../../src/adapters/files/warc-record.ts';
import type { WireResponse } from '../../src/ports/segment-store.ts';

const response: WireResponse = {
  url: 'http://example.org/a?b=%20',
  at: Date.UTC(2026, 0, 2, 3, 4, 5, 678),
  httpVersion: '1.1',
  status: 200,
  statusText: 'OK',
  rawHeaders: ['Content-Type', 'text/html', 'Transfer-Encoding', 'chunked', 'X-Ümlaut', 'ä'],
  body: Buffer.from('<p>héllo</p>'),
  truncated: false,
  remoteAddress: '127.0.0.1',
  revisit: null,
};

describe('a gzip member of a WARC file', () => {
  it.each([0, 1, 100, 2_048, 2_049, 70_000])('of %i bytes is undone by zlib, stored or compressed', (size) => {
    const record = Buffer.alloc(size, 'a record ');
    expect(gunzipSync(gzipMember(record, 1)).equals(record)).toBe(true);
  });

  it('members one after the other are one valid file for warcio', async () => {
    const revisit: WireResponse = {
      ...response,
      status: 304,
      statusText: 'Not Modified',
      body: null,
      revisit: 'server-not-modified',
    };
    const large: WireResponse = { ...response, body: Buffer.alloc(50_000, 'text ') };
    const file = Buffer.concat([response, revisit, large].map((each) => gzipMember(responseRecord(each), 1)));
    const types: (string | undefined)[] = [];
    for await (const record of new WARCParser([file])) {
      types.push(record.warcType ?? undefined);
      await record.readFully(false);
    }
    expect(types).toEqual(['response', 'revisit', 'response']);
  });

  it('a response comes back as it was, but for the chunking that was undone', async () => {
    const back = await readWarcMember(gzipMember(responseRecord(response), 1), 'test');
    expect(back).toMatchObject({
      url: response.url,
      at: response.at,
      status: 200,
      statusText: 'OK',
      revisit: null,
      truncated: false,
    });
    expect(Buffer.from(back.body ?? []).toString()).toBe('<p>héllo</p>');
    expect(back.rawHeaders.map((each) => each.toLowerCase())).not.toContain('transfer-encoding');
  });

  it('damage is said with its place', async () => {
    const member = gzipMember(responseRecord(response), 1);
    await expect(readWarcMember(member.subarray(0, 20), 'file.warc.gz at byte 7')).rejects.toMatchObject({
      code: 'segment-corrupt',
      message: expect.stringContaining('file.warc.gz at byte 7'),
    });
  });
});
