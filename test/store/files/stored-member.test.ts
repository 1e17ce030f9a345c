import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { storedMember } from '../../../src/store/files/warc/warc-writer.ts';

describe('a stored gzip member', () => {
  it.each([0, 1, 100, 2_048, 65_535])('of %i bytes is read by zlib', (size) => {
    const content = Buffer.alloc(size, 'a record ');
    expect(gunzipSync(storedMember(content)).equals(content)).toBe(true);
  });
});
