import type { PageBlock } from '../page-block.ts';

/** Certain blocks must be this share of the main content, or all of it is signed. */
const LEAST_CERTAIN = 0.3;
/** Prose must be this share of the rest, or lines of all kinds are signed. */
const LEAST_PROSE = 0.6;
/** Blocks whose odds to be content are this many times below those of the typical one are left out. */
const DOUBT = 5;

/**
 * The signed text of a page: the part of its main content (or of all its text without one) that stays when nothing was
 * edited.
 *
 * Extraction takes doubtful blocks to lose nothing; a signature leaves them out, or another advert makes another page.
 * So blocks less certain than the rest are skipped, and lines without sentences: bylines, dates, counters, teasers,
 * captions. Where that leaves too little, as on lists, product pages and tables, everything is signed.
 */
export function signedText(page: {
  readonly mainText: string | null;
  readonly text: string;
  readonly blocks: readonly PageBlock[];
}): string {
  const whole = page.mainText ?? page.text;
  const isKnown = page.mainText !== null && page.blocks.some(({ certainty }) => certainty !== undefined);
  const certain = isKnown ? textOf(certainBlocks(page.blocks)) : '';
  const content = certain.length >= LEAST_CERTAIN * whole.length ? certain : whole;
  const prose = proseLines(content);
  return prose.length >= LEAST_PROSE * content.length ? prose : content;
}

/** Blocks of the main content about as certain as the typical one; all of them without probabilities. */
export function certainBlocks(blocks: readonly PageBlock[]): readonly PageBlock[] {
  const main = blocks.filter(({ type }) => type === 'main');
  const least = oddsOf(typicalCertainty(main)) / DOUBT;
  return main.filter(({ certainty }) => oddsOf(certainty ?? 0) >= least);
}

const textOf = (blocks: readonly PageBlock[]): string => blocks.map(({ text }) => text).join('\n');

/** An all but certain block must not make those beside it doubtful. */
const MOST = 0.98;
const oddsOf = (certainty: number): number => certainty / (1 - Math.min(certainty, MOST));

/** The median over characters. */
function typicalCertainty(blocks: readonly PageBlock[]): number {
  const sorted = [...blocks].sort((a, b) => (b.certainty ?? 0) - (a.certainty ?? 0));
  let left = blocks.reduce((sum, { text }) => sum + text.length, 0) / 2;
  for (const { text, certainty } of sorted) {
    left -= text.length;
    if (left <= 0) return certainty ?? 0;
  }
  return 0;
}

/** Longer lines are prose even without a full stop. */
const LONG_LINE = 200;
/** Shorter lines are no prose. */
const LEAST_LINE = 15;
const LEAST_WIDE_LINE = 8;
/** A short line with digits holds a date, a price or a count as a rule. */
const SHORT_LINE = 40;

const codesOf = (characters: string): ReadonlySet<number> =>
  new Set([...characters].map((character) => character.codePointAt(0) as number));
/** Ends of sentences in current scripts, and the characters that may follow them. */
const ENDS = codesOf('.!?…:;。！？．：；।۔؟։።។။།');
const CLOSERS = codesOf('"\'”’»)]」』）】');

/** The lines of a text that are sentences, each ended by a line feed. */
export function proseLines(text: string): string {
  let prose = '';
  for (let from = 0; from < text.length; ) {
    const feed = text.indexOf('\n', from);
    const to = feed < 0 ? text.length : feed;
    if (to - from >= LEAST_WIDE_LINE) {
      const line = text.slice(from, to).trim();
      if (isProse(line)) prose += `${line}\n`;
    }
    from = to + 1;
  }
  return prose;
}

function isProse(line: string): boolean {
  const { length } = line;
  if (length >= LONG_LINE) return true;
  if (length < LEAST_WIDE_LINE) return false;
  const isWide = line.charCodeAt(length >> 1) >= 0x2e80;
  if (length < LEAST_LINE && !isWide) return false;
  let last = length - 1;
  while (last > 0 && CLOSERS.has(line.charCodeAt(last))) last--;
  if (!ENDS.has(line.charCodeAt(last))) return false;
  return length >= SHORT_LINE || isWide || !/\d/.test(line);
}
