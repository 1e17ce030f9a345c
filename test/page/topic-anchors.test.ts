import { expect, it } from 'vitest';
import { BlockTable } from '../../src/page/block-table.ts';
import type { PageBlock } from '../../src/page/page-block.ts';
import { topicAnchors } from '../../src/page/published/block-segmenter.ts';

const block = (type: PageBlock['type'], text: string, anchorChars: number, anchorText?: string): PageBlock => ({
  type,
  path: 'body>p:1',
  text,
  links: 1,
  anchorChars,
  ...(anchorText !== undefined && { anchorText }),
});

it.each<[string, PageBlock[], string[]]>([
  ['topic blocks', [block('topic', 'see this and that', 17, 'this\nthat')], ['this', 'that']],
  ['content that is link text', [block('main', 'related story', 13)], ['related story']],
  ['more than 0.7 of it alone', [block('main', '0123456789', 7), block('main', 'abcdefghij', 8)], ['abcdefghij']],
  ['no noise', [block('noise', 'menu', 4)], []],
  ['each once', [block('main', 'a b', 3), block('main', 'a  b', 4)], ['a b']],
])('%s', (_title, blocks, expected) => {
  expect(topicAnchors(new BlockTable().fill(blocks))).toEqual(expected);
});

it('has a bound', () => {
  const blocks = Array.from({ length: 200 }, (_, i) => block('main', `link ${i}`, 9));
  expect(topicAnchors(new BlockTable().fill(blocks))).toHaveLength(50);
});
