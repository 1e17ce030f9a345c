import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BlockTable } from '../../src/page/block-table.ts';
import { certainBlocks, signedText as signedUtf8 } from '../../src/page/content/signed-text.ts';
import { hammingDistance } from '../../src/page/near/fingerprint-tables.ts';
import { pageDimensions } from '../../src/page/near/page-dimensions.ts';
import { createSimhash } from '../../src/page/near/simhash.ts';
import type { PageBlock } from '../../src/page/page-block.ts';

const block = (text: string, certainty: number, type: PageBlock['type'] = 'main'): PageBlock => ({
  type,
  path: 'body>p:1',
  text,
  links: 0,
  anchorChars: 0,
  certainty,
});
const page = (blocks: readonly PageBlock[]) => ({
  blocks,
  mainText: blocks
    .filter(({ type }) => type === 'main')
    .map(({ text }) => text)
    .join('\n'),
  text: 'menu\nall of it',
});
const signedText = (page: { mainText: string | null; text: string; blocks: readonly PageBlock[] }): string =>
  Buffer.from(signedUtf8(page, new BlockTable().fill(page.blocks))).toString();
const PARAGRAPH =
  'The company said on Monday that it will build a plant beside the river, with work for two hundred people.';
const SECOND = 'Work begins in spring; the first machines are to run a year later, it said in a statement.';

describe('the signed text', () => {
  it('is prose: no byline, date, counter, caption or teaser', () => {
    const around = ['By Jane Doe', '5 March 2024, 10:31', 'Updated 10:31.', '12 comments', 'Read also'];
    const text = [around[0], PARAGRAPH, ...around.slice(1, 3), SECOND, ...around.slice(3)].join('\n');
    expect(signedText({ mainText: text, text, blocks: [] })).toBe(`${PARAGRAPH}\n${SECOND}\n`);
  });

  it('leaves out blocks that are less certain than the rest', () => {
    const advert = block('Buy the best lamps of the town today, and save a lot of money!', 0.45);
    expect(signedText(page([block(PARAGRAPH, 0.98), advert, block(SECOND, 0.93)]))).toBe(`${PARAGRAPH}\n${SECOND}\n`);
  });

  it('takes the median over characters for the typical certainty', () => {
    const certainty = fc.oneof(fc.constantFrom(0, 0.2, 0.6, 0.95), fc.double({ min: 0, max: 1, noNaN: true }));
    const row = fc.record({ certainty, chars: fc.nat({ max: 9 }) });
    const odds = (of: number): number => of / (1 - Math.min(of, 0.98));
    fc.assert(
      fc.property(fc.array(row, { maxLength: 20 }), (rows) => {
        const table = new BlockTable().fill(rows.map(({ certainty, chars }) => block('x'.repeat(chars), certainty)));
        const letters = rows
          .toSorted((a, b) => b.certainty - a.certainty)
          .flatMap(({ certainty, chars }) => Array.from({ length: chars }, () => certainty));
        const highest = Math.max(0, ...rows.map(({ certainty }) => certainty));
        const typical = letters.length === 0 ? highest : letters[Math.ceil(letters.length / 2) - 1]!;
        const expected = rows.map(({ certainty }) => Number(odds(certainty) >= odds(typical) / 8));
        expect([...certainBlocks(table)]).toEqual(expected);
      }),
    );
  });

  it('is everything where hardly anything is certain or prose', () => {
    const list = Array.from({ length: 9 }, (_, i) => `Lamp ${i}, brass, ${10 + i} EUR`).join('\n');
    expect(signedText({ mainText: list, text: list, blocks: [] })).toBe(list);
    const doubtful = [block(SECOND.slice(0, 40), 0.98), ...Array.from({ length: 8 }, () => block(PARAGRAPH, 0.7))];
    const typical = page(doubtful);
    expect(signedText(typical)).toContain(PARAGRAPH);
  });

  it('is the text of the page where no main content was found', () => {
    expect(signedText({ mainText: null, text: PARAGRAPH, blocks: [block('x', 0.2)] })).toBe(`${PARAGRAPH}\n`);
  });

  it.each([
    ['太阳能电池板的价格今年又下降了。', true],
    ['2024年3月5日 10:31', false],
    ['He said: \u201cWe are done with all of it.\u201d', true],
    ['क्या यह सब सच है या नहीं।', true],
    ['Home | News | Sport | Weather | Travel', false],
    [`${'word '.repeat(50)}`.trim(), true],
  ])('%s', (line, isProse) => {
    const long = `${PARAGRAPH} ${PARAGRAPH} ${PARAGRAPH}`;
    expect(signedText({ mainText: `${line}\n${long}`, text: '', blocks: [] })).toBe(
      isProse ? `${line}\n${long}\n` : `${long}\n`,
    );
  });

  it('is made of the lines of the page, whatever these are', () => {
    const line = fc.oneof(fc.string({ maxLength: 90 }), fc.constantFrom(PARAGRAPH, SECOND, '12 comments', '。', '...'));
    fc.assert(
      fc.property(fc.array(line, { maxLength: 12 }), (lines) => {
        const text = lines.join('\n');
        const known = new Set(text.split('\n').map((each) => each.trim()));
        const signed = signedText({ mainText: text, text, blocks: [] });
        for (const each of signed.split('\n')) if (each.trim() !== '') expect(known).toContain(each.trim());
        expect(signed.trim() === '').toBe(text.trim() === '');
      }),
    );
  });
});

describe('dimensions', () => {
  const result = { title: null, keywords: [], mainText: null, text: PARAGRAPH, blocks: [] };
  const weights = { title: 3, keywords: 2, text: 1, topic: 1 };

  it('anchors of topic blocks are a dimension of their own', () => {
    const topic: PageBlock = { ...block('See more lamps and links', 1, 'topic'), anchorText: 'more lamps' };
    const found = page([block(PARAGRAPH, 1), topic]);
    const dimensions = pageDimensions({ ...result, ...found });
    expect(dimensions.map(({ text, weight }) => ({ text: String(text), weight }))).toEqual([
      { text: PARAGRAPH, weight: 1 },
      { text: 'more lamps', weight: 1 },
    ]);
  });

  it('a title of weight 3 moves more bits than one of weight 1', () => {
    const sign = createSimhash();
    const texts = Array.from({ length: 20 }, (_, i) => `${i} ${PARAGRAPH}`);
    const moved = (title: number): number =>
      texts.reduce((sum, text, i) => {
        const of = (name: string): string =>
          sign(pageDimensions({ ...result, text, title: name }, { ...weights, title })) as string;
        return sum + hammingDistance(of(`Lamp ${i} of brass`), of(`Chair ${i} of wood`));
      }, 0);
    expect(moved(30)).toBeGreaterThan(moved(3));
    expect(moved(3)).toBeGreaterThan(moved(1));
    expect(moved(0)).toBe(0);
  });
});
