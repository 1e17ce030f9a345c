import { randomBytes } from 'node:crypto';
import zlib from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { ACCEPTED_CODINGS, contentCodings, decodeBody } from '../../src/http/exchange/content-coding.ts';

const zstdSync = (zlib as unknown as { zstdCompressSync?: (data: Uint8Array) => Buffer }).zstdCompressSync;
const CODERS = {
  gzip: (data: Uint8Array): Buffer => zlib.gzipSync(data),
  deflate: (data: Uint8Array): Buffer => zlib.deflateSync(data),
  br: (data: Uint8Array): Buffer => zlib.brotliCompressSync(data),
  ...(zstdSync === undefined ? {} : { zstd: zstdSync }),
};
const rows = Object.entries(CODERS);

it('what is accepted can be decoded, and zstd is accepted where Node has it', () => {
  expect(ACCEPTED_CODINGS).toBe(rows.map(([name]) => name).join(', '));
  expect(contentCodings(ACCEPTED_CODINGS.split(', ').slice(-2).join(', '))).toHaveLength(2);
  if (zstdSync === undefined) expect(() => contentCodings('zstd')).toThrow('content coding "zstd"');
});

describe.each(rows)('%s', (name, encode) => {
  const codings = contentCodings(name);
  // Beyond the size up to which a body is decoded at once.
  const long = Buffer.concat(Array.from({ length: 40 }, () => randomBytes(20_000)));

  it.each([
    ['a short text', Buffer.from('Text of a page. '.repeat(50))],
    ['a long body', long],
  ])('%s is decoded', async (_, body) => {
    const decoded = await decodeBody(encode(body), codings, 10_000_000, false);
    expect(decoded).toMatchObject({ truncated: false, isTorn: false });
    expect(Buffer.compare(decoded.body, body)).toBe(0);
  });

  it('a bomb ends at the limit', async () => {
    const { body, truncated } = await decodeBody(encode(Buffer.alloc(5_000_000)), codings, 100_000, false);
    expect([body.length, truncated]).toEqual([100_000, true]);
  });

  it('of a body that was cut, its beginning is decoded', async () => {
    const whole = encode(long);
    const { body } = await decodeBody(whole.subarray(0, whole.length >> 1), codings, 10_000_000, true);
    expect(body.length).toBeGreaterThan(100_000);
    expect(Buffer.compare(body, long.subarray(0, body.length))).toBe(0);
  });

  it('what is no such coding is refused', async () => {
    const other = decodeBody(Buffer.from('<p>plain text, whatever its header says</p>'), codings, 1_000, false);
    await expect(other).rejects.toMatchObject({ code: 'content-undecodable' });
  });
});
