import { expect, it } from 'vitest';
import { memoryByKind, ownOf } from '../../bench/harness/mappings.ts';

const mapping = (range: string, rssKb: number, path = '', permissions = 'rw-p'): string =>
  [
    `${range} ${permissions} 00000000 00:00 0 ${path === '' ? '' : `      ${path}`}`,
    'Size: 9 kB',
    `Rss: ${rssKb} kB`,
  ].join('\n');

it('tells heaps of V8, arenas of malloc, files and the rest apart', () => {
  const smaps = [
    mapping('55d000000000-55d000100000', 1_024, '/usr/bin/node', 'r-xp'),
    mapping('55d000200000-55d000800000', 2_048, '[heap]'),
    // A page of V8.
    mapping('1a2b3c00000-1a2b3c40000', 256),
    // An arena: what is used, and what cannot be used yet.
    mapping('7f0000000000-7f0000200000', 2_048),
    mapping('7f0000200000-7f0004000000', 0, '', '---p'),
    // A second arena, right behind the first.
    mapping('7f0004000000-7f0004100000', 1_024),
    mapping('7f0004100000-7f0008000000', 0, '', '---p'),
    // Behind the arenas, at a multiple of the pages of V8.
    mapping('7f0008040000-7f0008080000', 512),
    mapping('7f1000001000-7f1000101000', 1_024),
    mapping('7fff00000000-7fff00021000', 1_024, '[stack]'),
    mapping('7f2000000000-7f2000200000', 3_072, '/tmp/state/crawldb/000005.ldb', 'r--s'),
  ].join('\n');
  const kinds = memoryByKind(smaps);
  expect(kinds).toEqual({ v8: 0.75, malloc: 5, other: 2, files: 4 });
  expect(ownOf(kinds)).toBe(7.75);
});

it('is all zero where the system tells nothing', () => {
  expect(memoryByKind('')).toEqual({ v8: 0, malloc: 0, other: 0, files: 0 });
});
