import { describe, expect, it } from 'vitest';
import { publishedTypes, wordOverlap } from '../../src/page/published/block-segmenter.ts';
import { createWordCutter, createWordScanner } from '../../src/page/text/word-scan.ts';

const words = (text: string): string[] => text.split(' ');
const MAIN = words('solar panel cost fall home energy price grid power roof');

describe('the published rule', () => {
  it.each([
    ['solar panel news link more', 0.4, 'main'],
    ['login register help about solar', 0.2, 'noise'],
    ['solar panel cost a b c d e f g', 0.3, 'noise'],
    ['solar solar solar', 1 / 3, 'main'],
  ])('%s: %d, %s', (text, overlap, type) => {
    expect(wordOverlap(words(text), MAIN)).toBeCloseTo(overlap, 12);
    expect(wordOverlap(MAIN, words(text))).toBeCloseTo(overlap, 12);
    const blocks = [
      { chars: 20, anchorChars: 0, words: words(text) },
      { chars: 50, anchorChars: 0, words: MAIN },
    ];
    expect(publishedTypes(blocks)).toEqual([type, 'main']);
  });

  it.each([
    [40, 'topic'],
    [35, 'main'],
  ])('%i of 50 characters in links: %s', (anchorChars, type) => {
    expect(publishedTypes([{ chars: 50, anchorChars, words: MAIN }])).toEqual([type]);
  });

  it('has no label for a page without blocks, and none in common with a block without words', () => {
    expect(publishedTypes([])).toEqual([]);
    expect(wordOverlap([], MAIN)).toBe(0);
  });
});

describe('words', () => {
  const cut = createWordCutter();
  it('are cut where a language has no spaces', () => {
    expect(cut('太阳能电池板价格下降')).toEqual(['太阳', '能', '电池', '板', '价格', '下降']);
  });
  it('are cut by whatever is given, in bounded pieces', () => {
    const asked: number[] = [];
    const byPairs = createWordCutter(
      createWordScanner((text) => {
        asked.push(text.length);
        return text.match(/[\s\S]{1,2}/g) ?? [];
      }),
    );
    expect(byPairs('太阳能ABC，电池 x')).toEqual(['太阳', '能', 'abc', '电池', 'x']);
    expect(byPairs('电池'.repeat(5_000))).toHaveLength(5_000);
    expect(Math.max(...asked)).toBeLessThanOrEqual(2_000);
  });
  it('come in lower case, stop words left out', () => {
    expect(cut('The Price of ÉNERGIE, and 太阳的', new Set(['the', 'of', 'and', '的']))).toEqual([
      'price',
      'énergie',
      '太阳',
    ]);
  });
});
