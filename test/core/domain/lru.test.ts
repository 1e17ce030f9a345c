import fc from 'fast-check';
import { expect, it } from 'vitest';
import { Lru } from '../../../src/core/domain/lru.ts';

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

it('counts each entry as one unless given a weight, and forgets what is deleted', () => {
  const lru = new Lru<number>({ entries: 2 });
  lru.set('a', 1);
  lru.set('b', 2);
  lru.set('a', 3);
  lru.set('c', 4);
  expect(['a', 'b', 'c'].map((key) => lru.get(key))).toEqual([3, undefined, 4]);
  lru.delete('a');
  lru.delete('missing');
  lru.set('d', 5);
  expect(['a', 'c', 'd'].map((key) => lru.get(key))).toEqual([undefined, 4, 5]);
});

it('holds the same as a map kept in the order of use', () => {
  const operation = fc.record({ key: fc.constantFrom(...'abcdefgh'), isRead: fc.boolean(), weight: fc.nat(5) });
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 200 }), (operations) => {
      const lru = new Lru<number>({ entries: 4, weight: 12 });
      const model = new Map<string, number>();
      for (const { key, isRead, weight } of operations) {
        const known = model.get(key);
        if (isRead) {
          expect(lru.get(key)).toBe(known);
          if (known === undefined) continue;
        } else {
          lru.set(key, weight, weight);
        }
        model.delete(key);
        model.set(key, isRead ? (known as number) : weight);
        const total = () => [...model.values()].reduce((sum, each) => sum + each, 0);
        while (model.size > 1 && (model.size > 4 || total() > 12)) model.delete([...model.keys()][0] as string);
      }
      expect(lru.size).toBe(model.size);
    }),
  );
});
