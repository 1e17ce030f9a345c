import { expect, it } from 'vitest';
import { Lru } from '../../src/domain/lru.ts';

it('forgets what was not asked for the longest, by number and by weight', () => {
  const lru = new Lru<string>({ entries: 3, weight: 10 });
  for (const key of ['a', 'b', 'c']) lru.set(key, key, 1);
  lru.get('a');
  lru.set('d', 'd', 1);
  expect(['a', 'b', 'c', 'd'].map((key) => lru.get(key))).toEqual(['a', undefined, 'c', 'd']);
  lru.set('e', 'e', 9);
  expect(['a', 'c', 'd', 'e'].map((key) => lru.get(key))).toEqual([undefined, undefined, 'd', 'e']);
  lru.set('e', 'lighter', 1);
  lru.set('f', 'f', 5);
  expect(lru.size).toBe(3);
  lru.set('g', 'too heavy, yet the newest', 100);
  expect([lru.size, lru.get('g')]).toEqual([1, 'too heavy, yet the newest']);
});
