import { describe, expect, it } from 'vitest';
import { murmur3, murmur3Bytes } from '../../src/page/near/hashes.ts';

/** Published test vectors of MurmurHash3_x86_32. */
const BYTES: [bytes: number[], seed: number, hash: number][] = [
  [[], 0, 0],
  [[], 1, 0x514e28b7],
  [[], 0xffffffff, 0x81f16f39],
  [[0xff, 0xff, 0xff, 0xff], 0, 0x76293b50],
  [[0x21, 0x43, 0x65, 0x87], 0, 0xf55b516b],
  [[0x21, 0x43, 0x65, 0x87], 0x5082edee, 0x2362f9de],
  [[0x21, 0x43, 0x65], 0, 0x7e4a8634],
  [[0x21, 0x43], 0, 0xa0f7b07a],
  [[0x21], 0, 0x72661cf4],
  [[0, 0, 0, 0], 0, 0x2362f9de],
  [[0, 0, 0], 0, 0x85f0b427],
  [[0, 0], 0, 0x30f4c306],
  [[0], 0, 0x514e28b7],
];

const TEXTS: [text: string, hash: number][] = [
  ['aaaa', 0x5a97808a],
  ['aaa', 0x283e0130],
  ['aa', 0x5d211726],
  ['a', 0x7fa09ea6],
  ['abcd', 0xf0478627],
  ['abc', 0xc84a62dd],
  ['ab', 0x74875592],
  ['Hello, world!', 0x24884cba],
  ['ππππππππ', 0xd58063c1],
  ['The quick brown fox jumps over the lazy dog', 0x2fa826cd],
];

describe('murmur3', () => {
  it.each(BYTES)('of %j, seed %i', (bytes, seed, hash) => {
    expect(murmur3Bytes(Uint8Array.from(bytes), seed)).toBe(hash);
  });

  it.each(TEXTS)('of "%s"', (text, hash) => {
    expect(murmur3(text, 0x9747b28c)).toBe(hash);
  });
});
