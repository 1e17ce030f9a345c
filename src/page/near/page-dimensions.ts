import { BlockTable, TOPIC_BLOCK } from '../block-table.ts';
import { signedText } from '../content/signed-text.ts';
import type { PageBlock } from '../page-block.ts';
import { setBits } from './fingerprint-tables.ts';
import { ShingleHashes } from './shingle-hashes.ts';
import type { TextDimension } from './simhash.ts';

/**
 * Sketch of the text of a page, by which the likeness of two texts is estimated: the odd sketch of M. Mitzenmacher,
 * R. Pagh and N. Pham (Efficient estimation for high similarities using odd sketches, 2014), over the words in threes
 * with the smallest hashes (bottom-k, A. Broder 1997). Each of these flips one of 256 bits, so that two sketches differ
 * in the bits of what only one text has. For texts as near as copies are, it is several times as exact as MinHash of
 * the same size.
 */

/** Bits of a sketch. */
const BITS = 256;
/** Most shingles kept for a longer text, those with the smallest hashes. */
const MOST_SHINGLES = 512;
/** 32-bit words of a sketch: one for the number of shingles and the kind of text, then the bits. */
export const SKETCH_WORDS = 1 + BITS / 32;
/** Hex digits: three bytes, then the bits. */
export const SKETCH_DIGITS = 6 + BITS / 4;
const MOST_COUNTED = 0x7f_ffff;
/** The sketched text is all of the page. */
const IS_WHOLE = 0x80_0000;

/**
 * Content with fewer words that is the smaller part of its page may be anything that many pages have, such as a notice
 * below an index.
 */
const LEAST_WORDS = 150;
const LEAST_SHARE = 0.5;

/** A page whose content is mostly inside links is a list of other pages. */
const LEAST_OWN = 0.5;

interface SketchedPage {
  /** The main content; `null`: none was found. */
  readonly mainText: string | null;
  /** All that is visible; read only where the content is short. */
  readonly text: string;
}

/**
 * Creates sketches, 70 hex digits: of the main content, or of all text if the content is too small a part of the page.
 * `ownChars` are the characters of the content outside links. `null` for a page without words, and for a list of links,
 * which is not a copy of another page however much they agree. Keeps buffers between calls and must not be shared
 * between threads.
 */
export function createTextSketcher(): (page: SketchedPage, ownChars?: number) => string | null {
  const shingles = new ShingleHashes();
  return (page, ownChars) => {
    const { mainText } = page;
    const content = mainText ?? page.text;
    if (ownChars !== undefined && ownChars < LEAST_OWN * content.length) return null;
    shingles.take(content);
    const isSmall = shingles.words < LEAST_WORDS && content.length < LEAST_SHARE * page.text.length;
    const isWhole = mainText === null || isSmall;
    if (isSmall) shingles.take(page.text);
    return shingles.count === 0 ? null : sketchOf(shingles, isWhole);
  };
}

function sketchOf(shingles: ShingleHashes, isWhole: boolean): string {
  const words = new Uint32Array(BITS / 32);
  for (const hash of shingles.smallest(MOST_SHINGLES)) {
    // The upper bits of the smallest hashes are alike.
    const bit = Math.imul(hash, 0x9e3779b1) >>> 24;
    words[bit >>> 5]! ^= 1 << (bit & 31);
  }
  const head = Math.min(shingles.count, MOST_COUNTED) | (isWhole ? IS_WHOLE : 0);
  return head.toString(16).padStart(6, '0') + Array.from(words, (word) => word.toString(16).padStart(8, '0')).join('');
}

/** Puts a sketch into `words`, {@link SKETCH_WORDS} of them; zeros for none. */
export function readSketch(sketch: string | null, words: Int32Array, at = 0): void {
  if (sketch === null) {
    words.fill(0, at, at + SKETCH_WORDS);
    return;
  }
  words[at] = Number.parseInt(sketch.slice(0, 6), 16);
  for (let word = 1; word < SKETCH_WORDS; word++) {
    words[at + word] = Number.parseInt(sketch.slice(8 * word - 2, 8 * word + 6), 16) | 0;
  }
}

/** Whether text is a sketch. */
export const isSketch = (text: string): boolean => text.length === SKETCH_DIGITS && /^[0-9a-f]+$/.test(text);

/** How much two texts have in common, 0..1 each, estimated. */
export interface TextOverlap {
  /** Jaccard similarity: shingles in both, divided by shingles in either. */
  readonly likeness: number;
  /** Shingles in both, divided by those of the shorter text. */
  readonly containment: number;
}

const NO_OVERLAP: TextOverlap = Object.freeze({ likeness: 0, containment: 0 });

/** Estimates from sketches in arrays; `null` where one is missing, or only one is of a whole page. */
export function wordsOverlap(a: Int32Array, i: number, b: Int32Array, j: number): TextOverlap | null {
  const [head, other] = [a[i]!, b[j]!];
  if (head === 0 || other === 0 || (head & IS_WHOLE) !== (other & IS_WHOLE)) return null;
  let odd = 0;
  for (let word = 1; word < SKETCH_WORDS; word++) odd += setBits(a[i + word]! ^ b[j + word]!);
  // Half of the bits differ between texts that have nothing in common.
  if (2 * odd >= BITS) return NO_OVERLAP;
  const different = -(BITS / 2) * Math.log1p((-2 * odd) / BITS);
  const [count, others] = [head & MOST_COUNTED, other & MOST_COUNTED];
  const [kept, othersKept] = [Math.min(count, MOST_SHINGLES), Math.min(others, MOST_SHINGLES)];
  const keptOfBoth = Math.max(0, (kept + othersKept - different) / 2);
  // The shingles that both texts kept are what they share up to the smaller of their largest hashes.
  const least = Math.min(count, others);
  const both = Math.min(least, keptOfBoth / Math.min(kept / count, othersKept / others));
  return { likeness: both / (count + others - both), containment: both / least };
}

const [OWN, OTHER] = [new Int32Array(SKETCH_WORDS), new Int32Array(SKETCH_WORDS)];

/** As {@link wordsOverlap}, of sketches as records have them. */
export function textOverlap(a: string | null, b: string | null): TextOverlap | null {
  if (a === null || b === null) return null;
  readSketch(a, OWN);
  readSketch(b, OTHER);
  return wordsOverlap(OWN, 0, OTHER, 0);
}

/** Weights of the shingles of each kind of text. 0 leaves a kind out. */
export interface DimensionWeights {
  readonly title: number;
  readonly keywords: number;
  readonly text: number;
  /** Anchors of the topic blocks, where the main content has such. */
  readonly topic: number;
}

/** Weights of the texts in a signature where none are given. */
export const DIMENSION_WEIGHTS: DimensionWeights = Object.freeze({ title: 3, keywords: 2, text: 1, topic: 1 });

/** Version of the choice of texts; part of the name of every signature made from them. */
export const DIMENSIONS_VERSION = 2;

/**
 * The texts that make the signature of a page: title, keywords, the steady part of its content ({@link signedText},
 * UTF-8, valid until the next call) and topic anchors.
 * @param blocks those of the page, as a table
 */
export function pageDimensions(
  page: {
    readonly title: string | null;
    readonly documentTitle?: string | null;
    readonly keywords: readonly string[];
    readonly mainText: string | null;
    readonly text: string;
    readonly blocks: readonly PageBlock[];
  },
  weights: DimensionWeights = DIMENSION_WEIGHTS,
  blocks: BlockTable = new BlockTable().fill(page.blocks),
): TextDimension[] {
  const hasTopics = blocks.types.subarray(0, blocks.count).includes(TOPIC_BLOCK);
  return [
    {
      text: ownTitle((page.documentTitle === undefined ? page.title : page.documentTitle) ?? ''),
      weight: weights.title,
    },
    { text: page.keywords.join(' '), weight: weights.keywords },
    // The text of topic blocks is not counted a second time.
    { text: hasTopics ? blocks.mainText() : signedText(page, blocks), weight: weights.text },
    { text: blocks.anchorTexts.join('\n'), weight: weights.topic },
  ].filter(({ text, weight }) => text.length > 0 && weight > 0);
}

/** Between the title of a page and the name of its site. */
const DIVIDER = /\s+[|\-\u2013\u2014\u00b7\u2022\u00bb\u203a:]+\s+|\s*[|_\uff5c]\s*/;

/** The longest part: sites put their name, a section or a slogan beside it. */
export const ownTitle = (title: string): string =>
  title.split(DIVIDER).reduce((longest, part) => (part.length > longest.length ? part : longest), '');
