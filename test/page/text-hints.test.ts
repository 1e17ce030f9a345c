import { describe, expect, it } from 'vitest';
import { BlockText } from '../../src/page/content/outline-columns.ts';
import { ACTION, CREDIT, IMPRINT, PRICE, TAIL, textHints } from '../../src/page/text/text-hints.ts';

function hintsOf(text: string): number {
  const bytes = Buffer.from(text);
  const shape = new BlockText();
  shape.begin(bytes.length);
  shape.addWide(bytes, 0, bytes.length);
  return textHints(text, shape);
}

describe('hints of a text', () => {
  it.each([
    ['Related Articles', TAIL],
    ['READ MORE: the mill', TAIL | ACTION],
    ['Relating to the mill', 0],
    ['Tags', TAIL],
    ['Tagsüber geöffnet', 0],
    ['Читайте также', TAIL],
    ['ЧИТАЙТЕ ТАКЖЕ', TAIL],
    ['相关新闻', TAIL],
    ['責任編輯：王', TAIL],
    ['责任编辑：王', TAIL | CREDIT],
    ['اقرأ أيضا', TAIL],
    ['Das könnte Sie auch interessieren', TAIL],
    ['Shop now', ACTION],
    ['Buyers of mills', 0],
    ['View details of the mill that stands beside the river', 0],
    ['© 2026 The Mill', IMPRINT],
    ['版权所有 磨坊', TAIL | IMPRINT],
    ['By A. Miller', CREDIT],
    ['Bye, said the miller', 0],
    ['来源：新华社', TAIL | CREDIT],
    ['2026年11月21日 10:00', CREDIT],
    ['5 min read', CREDIT],
    ['$30', PRICE],
    ['30 €', PRICE],
    ['1200 円', PRICE],
    ['Thirty', 0],
    ['', 0],
    ['x', 0],
  ])('%j', (text, hints) => {
    expect(hintsOf(text)).toBe(hints);
  });

  it('is nothing where the text is long: paragraphs begin as they like', () => {
    expect(hintsOf(`Related ${'to the mill '.repeat(20)}`)).toBe(0);
  });
});
