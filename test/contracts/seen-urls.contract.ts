import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SeenUrls } from '../../src/core/ports/seen-filter.ts';

export type SeenUrlsFactory = (
  hasMany: (urls: readonly string[]) => Promise<boolean[]>,
  /** URLs in the crawl db from the start. */
  known: readonly string[],
) => SeenUrls;

/** The exam of every `SeenUrls`: exact at any time, whatever it caches. */
export function seenUrlsContract(name: string, create: SeenUrlsFactory): void {
  /** `SeenUrls` over a set that stands for the crawl db. */
  const over = (known: Set<string>): SeenUrls => create(async (urls) => urls.map((url) => known.has(url)), [...known]);

  describe(`${name}: seen URLs`, () => {
    it('answers in the order asked, duplicates too', async () => {
      const seen = over(new Set([A, C]));
      expect(await seen.probe([])).toEqual([]);
      expect(await seen.probe([B, A, B, C, A])).toEqual([false, true, false, true, true]);
      expect(await seen.probe([B, A, B, C, A])).toEqual([false, true, false, true, true]);
      expect(seen.stats().probes).toBe(10);
    });

    it('follows additions and removals', async () => {
      const known = new Set<string>();
      const seen = over(known);
      expect(await seen.probe([A])).toEqual([false]);
      known.add(A);
      seen.add([A]);
      expect(await seen.probe([A])).toEqual([true]);
      known.delete(A);
      seen.remove([A]);
      expect(await seen.probe([A])).toEqual([false]);
    });

    it('does not cache a URL that was removed during its lookup', async () => {
      const known = new Set([A]);
      const lookups: (() => void)[] = [];
      const seen = create(
        async (urls) => {
          const found = urls.map((url) => known.has(url));
          await new Promise<void>((resolve) => lookups.push(resolve));
          return found;
        },
        [A],
      );
      const answered = async (): Promise<void> => {
        while (lookups.length === 0) await new Promise((resolve) => setImmediate(resolve));
        lookups.pop()?.();
      };
      const first = seen.probe([A]);
      while (lookups.length === 0) await new Promise((resolve) => setImmediate(resolve));
      known.delete(A);
      seen.remove([A]);
      await answered();
      await first;
      const second = seen.probe([A]);
      await answered();
      expect(await second).toEqual([false]);
    });

    it('passes a failed lookup on and works afterwards', async () => {
      let isBroken = true;
      const seen = create(
        async (urls) => {
          if (isBroken) throw new Error('no answer');
          return urls.map(() => true);
        },
        [A],
      );
      await expect(seen.probe([A])).rejects.toThrow('no answer');
      isBroken = false;
      expect(await seen.probe([A])).toEqual([true]);
    });

    it('agrees with the crawl db after any sequence', async () => {
      const urls = fc.array(
        fc.integer({ min: 0, max: 30 }).map((i) => `https://a.example/${i}`),
        { maxLength: 12 },
      );
      const step = fc.record({ does: fc.constantFrom('add', 'remove', 'probe', 'probe'), urls });
      await fc.assert(
        fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
          const known = new Set<string>();
          const seen = over(known);
          for (const { does, urls } of steps) {
            if (does === 'add') {
              for (const url of urls) known.add(url);
              seen.add(urls);
            } else if (does === 'remove') {
              for (const url of urls) known.delete(url);
              seen.remove(urls);
            }
            expect(await seen.probe(urls)).toEqual(urls.map((url) => known.has(url)));
          }
          const { probes, cacheHits, reads, filterNew } = seen.stats();
          expect(cacheHits + reads + filterNew).toBeLessThanOrEqual(probes);
        }),
        { numRuns: 60 },
      );
    });
  });
}

const A = 'https://a.example/';
const B = 'https://b.example/';
const C = 'https://c.example/';
