import { expect, it } from 'vitest';
import { BlockTable } from '../../src/page/block-table.ts';
import { type BlockPrint, blockPrints, MAX_BLOCK_PRINTS, MAX_SIBLINGS } from '../../src/page/diff/block-prints.ts';
import { joinedPrint, rangePrintOf } from '../../src/page/diff/page-places.ts';
import { ELSEWHERE } from '../../src/page/diff/place-diff.ts';
import type { PageBlock } from '../../src/page/page-block.ts';

const block = (path: string, text: string, part: Partial<PageBlock> = {}): PageBlock => ({
  type: 'main',
  path,
  text,
  links: 0,
  anchorChars: 0,
  certainty: 0.97,
  ...part,
});
const printsOf = (blocks: readonly PageBlock[]) => blockPrints(new BlockTable().fill(blocks));
const SENTENCE = 'The plant beside the river is to run in a year.';

it('sums up blocks of one place, sentences of the content alone', () => {
  const blocks = [
    block('body>article>p:1', SENTENCE),
    block('body>article>p:2', '5 March 2024'),
    block('body>article>p:3', SENTENCE),
    block('body>nav>li:1', 'Home', { type: 'noise', certainty: 0.1 }),
  ];
  const found = printsOf(blocks);
  expect(found).toMatchObject([
    { path: 'body>article>p', isMain: true, chars: 2 * (SENTENCE.length + 1) },
    { path: 'body>nav>li', isMain: false, chars: 4 },
  ]);
  // Another date is no difference, other sentences and another order are.
  expect(printsOf(blocks.with(1, block('body>article>p:2', '6 March 2024')))).toEqual(found);
  expect(printsOf(blocks.with(2, block('body>article>p:3', `${SENTENCE}.`)))[0]?.print).not.toBe(found[0]?.print);
  const [first, , third] = blocks as [PageBlock, PageBlock, PageBlock];
  const longer = block('body>article>p:1', `So ${SENTENCE}`);
  expect(printsOf([longer, third])[0]?.print).not.toBe(printsOf([first, longer])[0]?.print);
});

it('content and surroundings at one place are kept apart', () => {
  const found = printsOf([
    block('body>div>p:1', SENTENCE),
    block('body>div>p:2', 'Buy the best lamps of the town today!', { certainty: 0.3 }),
  ]);
  expect(found.map(({ path, isMain }) => [path, isMain])).toEqual([
    ['body>div>p', true],
    ['body>div>p', false],
  ]);
});

it('keeps the largest places, content first', () => {
  const blocks = Array.from({ length: 60 }, (_, i) =>
    block(`body>div>x${i}:1`, 'word '.repeat(1 + i), i % 2 === 0 ? {} : { type: 'noise' }),
  );
  const found = printsOf(blocks);
  expect(found).toHaveLength(MAX_BLOCK_PRINTS);
  expect(found[0]?.path).toBe('body>div>x58');
  expect(found.every(({ isMain }) => isMain)).toBe(true);
});

/** Too short for a sentence, so that all of it counts. */
const label = (nth: number): string => `Lamp ${nth} ${'x'.repeat(nth % 40)}`;
const labels = (tag: string, from: number, to: number): PageBlock[] =>
  Array.from({ length: to - from }, (_, at) => block(`body>${tag}:${at + 1}`, label(from + at)));
const printOf = (text: string): number => rangePrintOf(Buffer.from(text), 0, text.length);
const summed = (from: number, to: number) => {
  const texts = labels('p', from, to).map(({ text }) => text);
  return { print: joinedPrint(texts.map(printOf)), chars: texts.join('').length };
};
const named = (found: readonly BlockPrint[]): string[] => found.map(({ path }) => path);

it.each([
  [1, undefined],
  [2, 2],
  [3, 3],
  [MAX_SIBLINGS, MAX_SIBLINGS],
  [MAX_SIBLINGS + 1, MAX_SIBLINGS],
  [200, MAX_SIBLINGS],
])('of %d elements at a place of the content, %d are told apart', (count, siblings) => {
  const [found] = printsOf(labels('p', 1, count + 1));
  expect(found).toMatchObject({ path: 'body>p', isMain: true, ...summed(1, count + 1) });
  expect(found!.siblings?.length).toBe(siblings);
  if (siblings === undefined) return;
  const apart = count > siblings ? siblings - 1 : siblings;
  expect(found!.siblings!.slice(0, apart)).toEqual(
    Array.from({ length: apart }, (_, at) => [printOf(label(at + 1)) >>> 16, label(at + 1).length, at + 1]),
  );
  const { print, chars } = summed(apart + 1, count + 1);
  expect(found!.siblings!.slice(apart)).toEqual(count > siblings ? [[print >>> 16, chars, 0]] : []);
});

it('the largest places have their elements told apart first, and surroundings never', () => {
  const siblingsOf = (...counts: number[]): (number | undefined)[] =>
    printsOf([
      ...counts.flatMap((count, at) => labels(`x${at}`, 1, count + 1)),
      ...labels('li', 1, 4).map((each) => ({ ...each, type: 'noise' as const, certainty: 0.1 })),
    ]).map(({ siblings }) => siblings?.length);
  expect(siblingsOf(40, 20)).toEqual([40, 20, undefined]);
  expect(siblingsOf(40, 30)).toEqual([40, 24, undefined]);
  expect(siblingsOf(20, 40)).toEqual([40, 20, undefined]);
  expect(siblingsOf(62, 2)).toEqual([62, 2, undefined]);
  expect(siblingsOf(63, 2)).toEqual([63, undefined, undefined]);
  expect(siblingsOf(64, 2)).toEqual([64, undefined, undefined]);
});

it('content of more places than are kept ends in one that stands for all others', () => {
  const content = (count: number): PageBlock[] =>
    Array.from({ length: count }, (_, at) => block(`body>x${at}:1`, label(count - at)));
  const all = printsOf(content(MAX_BLOCK_PRINTS));
  expect(named(all)).toEqual(content(MAX_BLOCK_PRINTS).map(({ path }) => path.slice(0, -2)));
  const blocks = content(MAX_BLOCK_PRINTS + 2);
  const found = printsOf(blocks);
  expect(found).toHaveLength(MAX_BLOCK_PRINTS);
  const others = blocks.slice(MAX_BLOCK_PRINTS - 1).map(({ text }) => text);
  expect(found.at(-1)).toEqual({
    path: ELSEWHERE,
    isMain: true,
    chars: others.join('').length,
    print: joinedPrint(others.map(printOf)),
  });
});

it('surroundings fill what the content leaves, larger ones first; the path settles a tie', () => {
  const noise = (path: string, chars: number): PageBlock =>
    block(`body>${path}:1`, 'n'.repeat(chars), { type: 'noise', certainty: 0.1 });
  const blocks = [block('body>p:1', label(9)), noise('b', 7), noise('a', 7), noise('c', 9), noise('d', 0)];
  expect(named(printsOf(blocks))).toEqual(['body>p', 'body>c', 'body>a', 'body>b']);
  expect(named(printsOf(blocks.toReversed()))).toEqual(['body>p', 'body>c', 'body>a', 'body>b']);
  const many = Array.from({ length: 20 }, (_, at) => noise(`z${at}`, at + 1));
  expect(named(printsOf([...blocks.slice(0, 1), ...many]))).toEqual([
    'body>p',
    ...Array.from({ length: MAX_BLOCK_PRINTS - 1 }, (_, at) => `body>z${19 - at}`),
  ]);
});

it('sentences around the content do not make its labels weigh nothing', () => {
  const around = { type: 'noise' as const, certainty: 0.1 };
  const blocks = [
    ...labels('p', 1, 4),
    ...Array.from({ length: 9 }, (_, at) => block(`body>div:${at + 1}`, SENTENCE, around)),
  ];
  expect(printsOf(blocks)[0]).toMatchObject({ path: 'body>p', ...summed(1, 4) });
});
