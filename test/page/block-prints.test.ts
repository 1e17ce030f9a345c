import { expect, it } from 'vitest';
import { BlockTable } from '../../src/page/block-table.ts';
import { blockPrints, MAX_BLOCK_PRINTS } from '../../src/page/diff/block-prints.ts';
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
