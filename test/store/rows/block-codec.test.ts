import { expect, it } from 'vitest';
import type { BlockMemory } from '../../../src/core/domain/crawl/change/block-memory.ts';
import { packBlocks, unpackBlocks } from '../../../src/store/rows/codecs/block-codec.ts';

const bytes = (hex: string): Buffer => Buffer.from(hex.replaceAll(' ', ''), 'hex');
const PLAIN: BlockMemory = {
  blocks: [
    { key: 0xffff_fffe, print: 1, isMain: true, churn: 3 },
    { key: 7, print: 0x0102_0304, isMain: false, churn: 15 },
  ],
  changed: ['body>p'],
  volatile: ['body>ul', 'body>ol'],
  places: 'AQID',
  contentChars: 3_000,
};
const PLAIN_BYTES = bytes('feffffff 01000000 83  07000000 04030201 0f');
const APART: BlockMemory = {
  ...PLAIN,
  blocks: [
    PLAIN.blocks[0]!,
    {
      ...PLAIN.blocks[1]!,
      siblings: [
        { print: 0xfffe, churn: 0, chars: 0, isRewritten: false },
        { print: 1, churn: 15, chars: 0xfffd, isRewritten: true },
        { print: 2, churn: 4, chars: 5, isRewritten: false },
      ],
    },
  ],
};
const SIBLINGS_BYTES = bytes('01 03  feff 0100 0200  02  01 8f fdff  02 04 0500');

/** Values on the right are what records hold: another layout is another version of the record. */
it.each([
  ['blocks', PLAIN, [PLAIN_BYTES, ['body>p'], ['body>ul', 'body>ol'], bytes('010203'), 3_000]],
  [
    'that only volatile parts differed',
    { ...PLAIN, isCalm: true },
    [PLAIN_BYTES, ['body>p'], ['body>ul', 'body>ol'], bytes('010203'), 3_000, null, true],
  ],
  [
    'elements of blocks',
    APART,
    [PLAIN_BYTES, ['body>p'], ['body>ul', 'body>ol'], bytes('010203'), 3_000, SIBLINGS_BYTES],
  ],
  [
    'no blocks',
    { blocks: [], changed: [], volatile: [], places: '', contentChars: 0 },
    [bytes(''), [], [], bytes(''), 0],
  ],
  ['nothing', null, null],
] as [string, BlockMemory | null, unknown[] | null][])(
  'what is remembered of a page is stored: %s',
  (_name, memory, stored) => {
    expect(packBlocks(memory)).toStrictEqual(stored);
    expect(unpackBlocks(stored)).toStrictEqual(memory);
  },
);

it('a block that is cut off is left out', () => {
  const stored = packBlocks(PLAIN)!.with(0, PLAIN_BYTES.subarray(0, 17));
  expect(unpackBlocks(stored)?.blocks).toStrictEqual(PLAIN.blocks.slice(0, 1));
});

it('an element beyond those of its block has no print', () => {
  const stored = packBlocks(APART)!.with(5, bytes('01 01  feff  01  01 8f fdff'));
  expect(unpackBlocks(stored)?.blocks[1]?.siblings).toStrictEqual([
    { print: 0xfffe, churn: 0, chars: 0, isRewritten: false },
    { print: 0, churn: 15, chars: 0xfffd, isRewritten: true },
  ]);
});
