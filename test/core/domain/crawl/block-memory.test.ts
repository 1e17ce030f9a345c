import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type BlockMemory, learnBlocks } from '../../../../src/core/domain/crawl/change/block-memory.ts';
import { MAX_CHURN } from '../../../../src/core/domain/crawl/change/change-belief.ts';
import type { BlockPrint } from '../../../../src/page/diff/block-prints.ts';
import type { PlacePrint } from '../../../../src/page/diff/page-places.ts';

const block = (path: string, print: number, chars = 100, isMain = true): BlockPrint => ({ path, print, chars, isMain });
const article = (print = 1): BlockPrint => block('body>article>p', print, 1_000);
const quote = (print: number): BlockPrint => block('body>section>p', print);
const menu = (print: number): BlockPrint => block('body>nav>li', print, 300, false);

/** The places of these blocks, as parsing finds them: content first, larger first. */
function placesOf(blocks: readonly BlockPrint[]): PlacePrint[] {
  const sorted = [...blocks].sort((a, b) => Number(b.isMain) - Number(a.isMain) || b.chars - a.chars);
  const prints = new Map<string, number>();
  for (const { path, print } of sorted) prints.set(path, 3 * (prints.get(path) ?? 0) + print + 1);
  return [...prints];
}

/** The memory after visits with these blocks, and what each visit said of its change. */
function visits(...found: readonly BlockPrint[][]): { memory: BlockMemory | null; isOnlyVolatile: boolean[] } {
  let memory: BlockMemory | null = null;
  const isOnlyVolatile = found.map((blocks) => {
    const learnt = learnBlocks(memory, { blocks, places: placesOf(blocks) });
    memory = learnt.memory;
    return learnt.isOnlyVolatile;
  });
  return { memory, isOnlyVolatile };
}

describe('blocks of a page', () => {
  it('names changed blocks, content first, larger first', () => {
    const { memory } = visits([article(1), quote(1), menu(1)], [quote(2), menu(2), article(2)]);
    expect(memory?.changed).toEqual(['body>article>p', 'body>section>p', 'body>nav>li']);
  });

  it('names new blocks, and none at the first visit', () => {
    expect(visits([article()]).memory?.changed).toEqual([]);
    expect(visits([article()], [article(), quote(7)]).memory?.changed).toEqual(['body>section>p']);
  });

  it('a block that changes alone three times is volatile, and from then on no change', () => {
    const { memory, isOnlyVolatile } = visits(...[1, 2, 3, 4, 5].map((i) => [article(), quote(i)]));
    expect(isOnlyVolatile).toEqual([false, false, false, true, true]);
    expect(memory?.volatile).toEqual(['body>section>p']);
  });

  it('a change of anything else counts all the same', () => {
    const { isOnlyVolatile } = visits(...[1, 2, 3, 4].map((i) => [article(), quote(i)]), [article(2), quote(5)]);
    expect(isOnlyVolatile.at(-1)).toBe(false);
  });

  it('content that appears is no volatile change', () => {
    const { isOnlyVolatile } = visits(...[1, 2, 3, 4].map((i) => [article(), quote(i)]), [
      article(),
      quote(5),
      block('body>div>p', 1),
    ]);
    expect(isOnlyVolatile.at(-1)).toBe(false);
  });

  it('content that goes is no volatile change, surroundings that go are', () => {
    const last = (rest: readonly BlockPrint[]): boolean =>
      visits(...[1, 2, 3, 4].map((i) => [article(), quote(i), block('body>p', 1), menu(1)]), [
        article(),
        quote(5),
        ...rest,
      ]).isOnlyVolatile.at(-1)!;
    expect(last([menu(1)])).toBe(false);
    expect(last([block('body>p', 1)])).toBe(true);
  });

  it('surroundings that are others at each visit are calm once they are learnt, and no change of the content', () => {
    const served = [1, 2, 3, 4, 5].map((i) => [article(), block('body>div>p', i, 60, false)]);
    const { memory, isOnlyVolatile } = visits(...served);
    expect(memory?.isCalm).toBe(true);
    expect(isOnlyVolatile).not.toContain(true);
    expect(visits(...served.slice(0, 2)).memory).not.toHaveProperty('isCalm');
    const withMenu = (i: number, print: number): BlockPrint[] => [...served[i]!, menu(print)];
    const others = visits(...[0, 1, 2, 3].map((i) => withMenu(i, 1)), withMenu(4, 2));
    expect(others.memory).not.toHaveProperty('isCalm');
  });

  it('an article that is written on is never volatile, whatever stays around it', () => {
    const { memory, isOnlyVolatile } = visits(...[1, 2, 3, 4, 5, 6, 7].map((i) => [article(i), quote(1), menu(1)]));
    expect(isOnlyVolatile.some(Boolean)).toBe(false);
    expect(memory?.volatile).toEqual([]);
  });

  it('a block that grows beyond a quarter of the content counts again', () => {
    const { memory, isOnlyVolatile } = visits(...[1, 2, 3, 4].map((i) => [article(), quote(i)]), [
      article(),
      block('body>section>p', 5, 500),
    ]);
    expect(isOnlyVolatile.at(-1)).toBe(false);
    expect(memory?.volatile).toEqual([]);
  });

  it('a block that stays unchanged for a while counts again', () => {
    const moving = [1, 2, 3, 4].map((i) => [article(), quote(i)]);
    const still = [article(2), quote(4)];
    const { memory } = visits(...moving, still, [article(), quote(4)]);
    expect(memory?.volatile).toEqual([]);
  });

  it('churn stays in its bounds, and nothing changes without a difference', () => {
    const blocks = fc.uniqueArray(
      fc.record({
        path: fc.constantFrom('a', 'b', 'c', 'd'),
        print: fc.nat(2),
        chars: fc.integer({ min: 1, max: 500 }),
        isMain: fc.boolean(),
      }),
      { selector: ({ path, isMain }) => `${path} ${isMain}` },
    );
    fc.assert(
      fc.property(fc.array(blocks, { minLength: 2, maxLength: 30 }), (found) => {
        const { memory } = visits(...found);
        for (const { churn } of memory!.blocks) {
          expect(churn).toBeGreaterThanOrEqual(0);
          expect(churn).toBeLessThanOrEqual(MAX_CHURN);
        }
        const again = learnBlocks(memory, { blocks: found.at(-1)!, places: placesOf(found.at(-1)!) });
        expect(again.memory.changed).toEqual([]);
        expect(again.isOnlyVolatile).toBe(false);
      }),
    );
  });
});
