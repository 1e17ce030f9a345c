import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BlockTable } from '../../src/page/block-table.ts';
import { hammingDistance } from '../../src/page/near/fingerprint-tables.ts';
import { DIMENSION_WEIGHTS } from '../../src/page/near/page-dimensions.ts';
import { createPageSigner } from '../../src/page/near/page-signer.ts';
import { createSimhash } from '../../src/page/near/simhash.ts';
import type { PageBlock } from '../../src/page/page-block.ts';

const block = (text: string, part: Partial<PageBlock> = {}): PageBlock => ({
  type: 'main',
  path: 'body>p:1',
  text,
  links: 0,
  anchorChars: 0,
  certainty: 0.95,
  ...part,
});
const PARAGRAPHS = [
  'The company said on Monday that it will build a plant beside the river, with work for two hundred people.',
  'Work begins in spring; the first machines are to run a year later, it said in a statement to the newspapers.',
  'Neighbours fear the noise of the lorries, of which forty a day are to pass through the old town each morning.',
];
const WITHOUT_SENTENCE = 'Members of the board since March: Anna Berg, Otto Klein, Ivo Lang, Rosa Weiss, Karl Blum';

const sign = createPageSigner({ weights: DIMENSION_WEIGHTS });
const signed = (blocks: readonly PageBlock[], part: { title?: string; keywords?: string[] } = {}) => {
  const mainText = blocks.map(({ text }) => text).join('\n');
  return sign({ title: 'A plant', keywords: [], mainText, text: mainText, ...part }, new BlockTable().fill(blocks));
};
const article = PARAGRAPHS.map((text) => block(text));
const KNOWN = signed(article);

const simhash = createSimhash({ tfCap: 0 });
/** Different words, a sentence. */
const sentence = (name: string, count: number): string =>
  `The ${Array.from({ length: count - 1 }, (_, at) => `${name}${at}`).join(' ')}.`;

describe('a page is signed for likeness and for change', () => {
  it.each<[string, readonly PageBlock[], { title?: string; keywords?: string[] }, string]>([
    ['another title', article, { title: 'A factory beside the river' }, 'change'],
    ['other keywords', article, { keywords: ['plants', 'rivers'] }, 'change'],
    ['a date and a counter', [block('5 March 2024, 10:31'), ...article, block('12 comments')], {}, 'neither'],
    ['a teaser in a link', [...article, block(PARAGRAPHS[0]!.toUpperCase(), { anchorChars: 90 })], {}, 'neither'],
    [
      'a doubtful block',
      [...article, block('Buy the best lamps of the town today!', { certainty: 0.2 })],
      {},
      'neither',
    ],
    ['paragraphs in another order', article.toReversed(), {}, 'neither'],
    ['a long line without a sentence', [...article, block(WITHOUT_SENTENCE)], {}, 'change'],
    ['a sentence', [...article, block('It will be the largest plant of its kind in the whole country.')], {}, 'both'],
  ])('%s', (_, blocks, part, moved) => {
    const { likeness, change } = signed(blocks, part);
    expect({ likeness: likeness !== KNOWN.likeness, change: change !== KNOWN.change }).toEqual({
      likeness: moved === 'both',
      change: moved === 'both' || moved === 'change',
    });
  });

  it('a page of lines without sentences by all of them', () => {
    const lamps = Array.from({ length: 9 }, (_, at) => block(`Lamp ${at}, brass, ${10 + at} EUR`));
    const { likeness, change } = signed(lamps);
    const other = signed(lamps.with(4, block('Lamp 4, steel, 99 EUR')));
    expect(other.likeness).not.toBe(likeness);
    expect(other.change).not.toBe(change);
  });

  it('a page of links by all of them', () => {
    const links = PARAGRAPHS.map((text) => block(text, { anchorChars: text.length }));
    expect(signed(links)).toEqual(KNOWN);
  });

  it('a copy with a teaser of its own is near, by the words of the lines', () => {
    const long = Array.from({ length: 6 }, (_, at) => block(PARAGRAPHS.map((text) => `${text} ${at}`).join(' ')));
    const copy = [block('Read how a small town lives with its new neighbour.'), ...long];
    const [own, other] = [signed(long), signed(copy, { title: 'Noise in the old town' })];
    expect(hammingDistance(own.likeness!, other.likeness!)).toBeLessThanOrEqual(3);
    expect(hammingDistance(own.change!, other.change!)).toBeGreaterThan(3);
  });

  it('anchors of topic blocks count for both', () => {
    const of = (anchorText: string) => signed([...article, block('Topic', { type: 'topic', anchorText })]);
    const [a, b] = [of('The largest plants of the country, in a list'), of('Rivers, and what is built beside them')];
    expect(a.likeness).not.toBe(b.likeness);
    expect(a.change).not.toBe(b.change);
  });

  it('one line of any words as createSimhash signs them, with and without frequencies', () => {
    const word = fc.constantFrom('a', 'rose', 'is', '太阳能', 'Ärger', '3');
    fc.assert(
      fc.property(
        fc.array(word, { maxLength: 40 }),
        fc.constantFrom(0, 1, 3, Number.POSITIVE_INFINITY),
        (words, cap) => {
          const text = words.join(' ');
          const page = { title: null, keywords: [], mainText: null, text };
          const own = createPageSigner({ weights: DIMENSION_WEIGHTS, tfCap: cap })(page, new BlockTable().fill([]));
          const expected = createSimhash({ tfCap: cap })([{ text, weight: 1 }]);
          expect(own).toEqual({ likeness: expected, change: expected, digest: own.digest });
          if (expected === null) expect(own.digest).toBeNull();
          else expect(own.digest).toMatch(/^[0-9a-f]{8}$/);
        },
      ),
    );
  });

  it('the digest is another one for every edit, even where no bit moves, and for nothing else', () => {
    const sign = createPageSigner({ weights: DIMENSION_WEIGHTS });
    const digest = (lines: readonly string[], title = 'Title'): string | null =>
      sign({ title, keywords: [], mainText: null, text: lines.join('\n') }, new BlockTable().fill([])).digest;
    const lines = Array.from(
      { length: 40 },
      (_, line) => `The ${line}th sentence of a long page says ${line * line} things.`,
    );
    const before = digest(lines);
    // Records keep it.
    expect(before).toBe('d890f1d5');
    expect(digest(lines)).toBe(before);
    expect(digest(lines.toReversed())).toBe(before);
    expect(digest(lines, 'Another title')).not.toBe(before);
    for (const at of lines.keys())
      expect(digest(lines.with(at, lines[at]!.replace('sentence', 'phrase')))).not.toBe(before);
  });

  it.each([
    [10, 20, 10, 20],
    [60, 61, 60, 60],
    [150, 12, 60, 12],
  ])('in its likeness, shingles of lines of %d and %d words weigh %d and %d', (a, b, weightOfA, weightOfB) => {
    const texts = [sentence('lamp', a), sentence('chair', b)];
    const { likeness, change } = signed(texts.map((text) => block(text)));
    expect(likeness).toBe(
      simhash([
        { text: texts[0]!, weight: weightOfA },
        { text: texts[1]!, weight: weightOfB },
      ]),
    );
    expect(change).toBe(
      simhash([
        { text: texts[0]!, weight: 1 },
        { text: texts[1]!, weight: 1 },
        { text: 'A plant', weight: 3 },
      ]),
    );
  });

  describe.each([0, 3])('kinds of text that weigh nothing count for nothing, with frequencies up to %d', (tfCap) => {
    const PAGE = {
      title: 'A plant',
      documentTitle: 'A factory | News',
      keywords: ['plants', 'rivers'],
      mainText: null,
    };
    const topic = (anchorText: string) => [block('Topic', { type: 'topic', anchorText })];
    const by = (weights: Partial<typeof DIMENSION_WEIGHTS>, part: object, blocks: readonly PageBlock[] = []) =>
      createPageSigner({ weights: { ...DIMENSION_WEIGHTS, ...weights }, tfCap })(
        { ...PAGE, text: PARAGRAPHS[0]!, ...part },
        new BlockTable().fill(blocks),
      );

    it.each<[keyof typeof DIMENSION_WEIGHTS, object, PageBlock[], PageBlock[]]>([
      ['title', { documentTitle: 'A plant' }, [], []],
      ['keywords', { keywords: ['towns'] }, [], []],
      ['text', { text: PARAGRAPHS[1]! }, [], []],
      ['topic', {}, topic('Rivers, and what is built beside them'), topic('The largest plants of the country')],
    ])('%s', (kind, part, blocks, others) => {
      expect(by({ [kind]: 0 }, {}, blocks)).toEqual(by({ [kind]: 0 }, part, others));
      expect(by({}, {}, blocks).change).not.toBe(by({}, part, others).change);
    });

    it('a page whose text weighs nothing is compared by the rest', () => {
      const { likeness, change } = by({ text: 0 }, {});
      expect(likeness).toBe(change);
      expect(by({ text: 0, title: 0, keywords: 0, topic: 0 }, {})).toEqual({
        likeness: null,
        change: null,
        digest: null,
      });
    });
  });

  it('the title of the document goes before the title of the page; keywords are words of their own', () => {
    const by = (part: object) =>
      sign({ title: null, keywords: [], mainText: null, text: '', ...part }, new BlockTable().fill([])).change;
    const title = simhash([{ text: 'A factory', weight: 3 }]);
    expect(by({ title: 'A factory' })).toBe(title);
    expect(by({ title: 'A plant', documentTitle: 'A factory' })).toBe(title);
    expect(by({ title: 'A plant', documentTitle: null })).toBeNull();
    expect(by({ keywords: ['lamps', 'chairs'] })).toBe(simhash([{ text: 'lamps chairs', weight: 2 }]));
  });

  it('what was signed before changes nothing', () => {
    const lines = PARAGRAPHS.flatMap((text) => [text, `${text} Again.`]);
    signed(lines.map((text) => block(text)));
    expect(signed(article)).toEqual(KNOWN);
    signed([block('One line.')], { keywords: ['lamps'] });
    expect(signed(article)).toEqual(KNOWN);
  });
});
