import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type BlockMemory,
  learnBlocks,
  MAX_RESTLESS,
  rereadBlocks,
} from '../../../../src/core/domain/crawl/change/block-memory.ts';
import { BlockTable } from '../../../../src/page/block-table.ts';
import { blockPrints, MAX_SIBLINGS } from '../../../../src/page/diff/block-prints.ts';

const paragraph = (name: string | number): string =>
  `Paragraph ${name} tells how the people of the valley built their mill, and who paid for its wall.`;
const story = (count: number): string[] => Array.from({ length: count }, (_, i) => paragraph(i));
const counter = (visit: number): string => `By now ${1_000 + 7 * visit} people have read this story of the mill.`;
/** Grows and shrinks. */
const saying = (visit: number): string => `The saying of day ${visit} is ${'short '.repeat(1 + ((5 * visit) % 7))}one.`;

/** The blocks of an article with these paragraphs. */
const found = (paragraphs: readonly string[]) => ({
  places: [],
  blocks: blockPrints(
    new BlockTable().fill(
      paragraphs.map((text, i) => ({
        type: 'main' as const,
        path: `body>article>p:${i + 1}`,
        text,
        links: 0,
        anchorChars: 0,
        certainty: 0.97,
      })),
    ),
  ),
});

/** What visits to these pages in turn say, and the memory after the last one. */
function visits(...pages: readonly (readonly string[])[]): { memory: BlockMemory; isOnlyVolatile: boolean[] } {
  let memory: BlockMemory | null = null;
  const isOnlyVolatile = pages.map((page) => {
    const learnt = learnBlocks(memory, found(page));
    memory = learnt.memory;
    return learnt.isOnlyVolatile;
  });
  return { memory: memory!, isOnlyVolatile };
}

const LEARNING = [0, 1, 2, 3, 4];
const withCounter = (paragraphs: readonly string[], at: number, visit: number): string[] =>
  paragraphs.toSpliced(at, 0, counter(visit));
/** Visits that learn a counter as the third of nine, then these pages. */
const afterLearning = (...pages: readonly (readonly string[])[]) =>
  visits(...LEARNING.map((visit) => withCounter(story(8), 2, visit)), ...pages);

describe('a part among like paragraphs', () => {
  it('that differs at each visit counts for nothing from the fifth visit on, wherever it stands', () => {
    fc.assert(
      fc.property(fc.integer({ min: 4, max: 40 }), fc.nat(), (count, place) => {
        const at = place % (count + 1);
        const { memory, isOnlyVolatile } = visits(
          ...[...LEARNING, 5, 6].map((visit) => withCounter(story(count), at, visit)),
        );
        expect(isOnlyVolatile).toEqual([false, false, false, false, true, true, true]);
        expect(memory.volatile).toEqual([`body>article>p:${at + 1}`]);
      }),
    );
  });

  it('may be two, and may be another text', () => {
    const pages = [...LEARNING, 5, 6, 7].map((visit) => withCounter(withCounter(story(10), 2, visit), 7, 50 - visit));
    expect(visits(...pages).isOnlyVolatile.slice(4)).toEqual([true, true, true, true]);
    const sayings = [...LEARNING, 5, 6, 7, 8].map((visit) => story(10).toSpliced(4, 0, saying(visit)));
    expect(visits(...sayings).isOnlyVolatile.slice(5)).toEqual([true, true, true, true]);
  });

  it('may be missing, and come back', () => {
    const { isOnlyVolatile } = afterLearning(story(8), withCounter(story(8), 2, 7), withCounter(story(8), 2, 8));
    expect(isOnlyVolatile.slice(5)).toEqual([true, true, true]);
  });

  it('hides no change beside it, near or far, of a word or of a paragraph', () => {
    const edits: ((paragraphs: string[]) => string[])[] = [
      ...story(8).map((text, i) => (all: string[]) => all.with(i, text.replace('wall', 'tower'))),
      ...story(9).map((_, i) => (all: string[]) => all.toSpliced(i, 0, paragraph('new'))),
      ...story(8).map((_, i) => (all: string[]) => all.toSpliced(i, 1)),
      (all) => all.with(0, all[5]!).with(5, all[0]!),
    ];
    for (const edit of edits) {
      const { isOnlyVolatile } = afterLearning(
        withCounter(edit(story(8)), 2, 6),
        withCounter(edit(story(8)), 2, 7),
        withCounter(edit(story(8)), 2, 8),
      );
      // The visit after finds the counter alone again, though perhaps not among which paragraphs it stood.
      expect([isOnlyVolatile[5], isOnlyVolatile[7]]).toEqual([false, true]);
    }
    expect(afterLearning(withCounter(story(8).toReversed(), 2, 6)).isOnlyVolatile[5]).toBe(false);
  });

  it('no memory of each paragraph stays once all of them do', () => {
    const last = story(9);
    let { memory } = afterLearning(last);
    expect(memory.blocks[0]?.siblings).toBeDefined();
    for (let visit = 0; visit < 6; visit++) memory = learnBlocks(memory, found(last)).memory;
    expect(memory.blocks[0]).not.toHaveProperty('siblings');
    expect(visits(story(8), story(8)).memory.blocks[0]).not.toHaveProperty('siblings');
  });

  it('stays known when the same body is parsed anew', () => {
    const { memory } = afterLearning();
    const again = rereadBlocks(memory, found(withCounter(story(8), 2, 4)));
    expect(again).toEqual(memory);
    const other = rereadBlocks(memory, found(withCounter(story(7), 2, 4)));
    expect(other.volatile).toEqual(memory.volatile);
    expect(rereadBlocks(other, found(withCounter(story(7), 2, 4)))).toEqual(other);
  });
});

describe('an article that grows', () => {
  /** Each visit has one paragraph more. */
  const grown = (at: (count: number, visit: number) => number): string[][] => {
    const pages = [story(8)];
    for (let visit = 1; visit < 12; visit++) {
      const last = pages.at(-1)!;
      pages.push(last.toSpliced(at(last.length, visit), 0, paragraph(`of visit ${visit}`)));
    }
    return pages;
  };

  it.each<[string, string[][]]>([
    ['at the end', grown((count) => count)],
    ['at the top', grown(() => 0)],
    ['in the middle', grown((count) => count >> 1)],
    ['anywhere', grown((count, visit) => (7 * visit) % count)],
    ['at the top, while the oldest paragraphs go', grown(() => 0).map((page) => page.slice(0, 8))],
    ['within its last paragraph', story(12).map((_, i) => [...story(12), paragraph(1).repeat(1 + i)])],
    ['within its first paragraph', story(12).map((_, i) => [paragraph(1).repeat(1 + i), ...story(12)])],
  ])('%s changes at each visit, also beside a counter', (_, pages) => {
    expect(visits(...pages).isOnlyVolatile).not.toContain(true);
    expect(visits(...pages.map((page, i) => withCounter(page, 2, i))).isOnlyVolatile).not.toContain(true);
    expect(visits(...pages.map((page, i) => withCounter(page, page.length, i))).isOnlyVolatile).not.toContain(true);
  });

  it('beyond the paragraphs that are told apart does, too', () => {
    const pages = [...LEARNING, 5, 6].map((visit) => story(MAX_SIBLINGS + 4 + visit));
    expect(visits(...pages).isOnlyVolatile).not.toContain(true);
  });
});

it('the memory of a page stays within its bounds, whatever is found', () => {
  const page = fc.array(fc.nat(120).map(paragraph), { minLength: 1, maxLength: 90 });
  fc.assert(
    fc.property(fc.array(page, { minLength: 2, maxLength: 12 }), (pages) => {
      const { memory } = visits(...pages);
      const siblings = memory.blocks.flatMap((block) => block.siblings ?? []);
      expect(siblings.filter(({ churn }) => churn > 0).length).toBeLessThanOrEqual(MAX_RESTLESS);
      expect(siblings.length).toBeLessThanOrEqual(MAX_SIBLINGS + MAX_RESTLESS);
      const again = learnBlocks(memory, found(pages.at(-1)!));
      expect(again.isOnlyVolatile).toBe(false);
    }),
    { numRuns: 50 },
  );
});
