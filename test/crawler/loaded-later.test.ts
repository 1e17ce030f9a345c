import { describe, expect, it } from 'vitest';
import { loadedLater } from '../../src/crawler/loaded-later.ts';

interface Counting {
  double(value: number): Promise<number>;
  upTo(end: number): AsyncIterable<number>;
}

function counting() {
  const seen = { loads: 0, closed: 0 };
  const methods = loadedLater<Counting>({ double: 'promise', upTo: 'iterable' }, async () => {
    seen.loads++;
    return {
      double: async (value) => value * 2,
      async *upTo(end) {
        try {
          for (let value = 1; value <= end; value++) yield value;
        } finally {
          seen.closed++;
        }
      },
    };
  });
  return { methods, seen };
}

describe('operations of a part that is loaded later', () => {
  it('loads with the first call, and once', async () => {
    const { methods, seen } = counting();
    const numbers = methods.upTo(3);
    expect(seen.loads).toBe(0);
    expect(await Promise.all([methods.double(2), methods.double(3)])).toEqual([4, 6]);
    const read: number[] = [];
    for await (const value of numbers) read.push(value);
    expect(read).toEqual([1, 2, 3]);
    expect(seen).toEqual({ loads: 1, closed: 1 });
  });

  it('a reader that leaves early closes the source', async () => {
    const { methods, seen } = counting();
    for await (const value of methods.upTo(1_000)) if (value === 2) break;
    expect(seen.closed).toBe(1);
  });

  it('a fault of the loading, and of a method, rejects the call', async () => {
    const broken = loadedLater<Counting>({ double: 'promise', upTo: 'iterable' }, async () => {
      throw new Error('not there');
    });
    await expect(broken.double(1)).rejects.toThrow('not there');
    await expect(broken.upTo(1)[Symbol.asyncIterator]().next()).rejects.toThrow('not there');
  });
});
