import type { PageNode } from '../page-node.ts';
import { TAIL } from '../text/text-hints.ts';
import { type BlockContext, blockContext } from './block-context.ts';
import { announcesTail, blockFeatures } from './block-features.ts';
import { ADVERT, COMMENT, OVERLAY, RELATED } from './class-words.ts';
import { type BoostedTrees, contentTrees, logitsOf } from './content-model.ts';
import { ASIDE, createSignReader, SURROUND } from './element-signs.ts';
import { FEATURES } from './feature-columns.ts';
import { type PageShape, pageShape } from './page-shape.ts';
import { type Outline, type OutlineElement, outlineOf } from './text-blocks.ts';

/**
 * Version of the extraction; part of the name of every signature made from it, so it changes with every change of the
 * result, new trees above all.
 */
export const CONTENT_VERSION = 3;

export interface MainContent {
  /** In reading order, a line a block; empty when the page has no text. */
  readonly text: string;
  readonly outline: Outline;
  /** Whether each block belongs to it. */
  readonly isMain: readonly boolean[];
  /**
   * Probability of each block to belong to it, 0 to 1, lowered inside elements marked as an advert, an aside or the
   * like.
   */
  readonly certainty: Float64Array;
}

/** Weight of the fellow blocks in the probability of a block of a repeated element (a card, a post). */
const FELLOWS = 0.7;
/** Least number of fellow blocks. */
const LEAST_FELLOWS = 3;

/**
 * The main content of a page. Each block gets a probability from its own features, its neighbours, its ancestors and
 * the page ({@link blockFeatures}), by decision trees learnt from labelled pages (`bench/content`). Blocks that repeat
 * each other are judged together. Then the blocks are taken that maximise the expected F1 of the page's words.
 */
export function createMainContent(trees: BoostedTrees = contentTrees()): (root: PageNode) => MainContent {
  const signsOf = createSignReader();
  const allocate = scratchRows();
  return (root) => {
    const outline = outlineOf(root, signsOf);
    const page = pageShape(outline);
    const context = blockContext(outline, page);
    const rows = blockFeatures(outline, page, context, allocate);
    const likely = blockChances(outline, page, rows, trees);
    const chances = withoutComments(outline, page, withoutOthers(outline, context, likely));
    const isMain = mostLikely(page, chances);
    for (const [i, block] of outline.blocks.entries()) {
      // A heading goes with the part that it announces.
      if (isMain[i] && isMain[i + 1] === false && announcesTail(block)) isMain[i] = false;
    }
    const text = outline.blocks
      .filter((_, i) => isMain[i])
      .map((block) => block.text)
      .join('\n');
    return { text, outline, isMain, certainty: certaintyOf(outline, page, chances) };
  };
}

/** Size limit of the reused rows: the values of some hundred blocks. */
const KEPT_VALUES = 65_536;

/** Reused for every page: allocating memory outside of the heap costs more than clearing it. */
function scratchRows(): (values: number) => Float32Array {
  let scratch = new Float32Array(0);
  return (values) => {
    if (values > KEPT_VALUES) return new Float32Array(values);
    if (values > scratch.length) scratch = new Float32Array(Math.min(KEPT_VALUES, 2 * values));
    return scratch.subarray(0, values).fill(0);
  };
}

/** Probability of each block to be content. */
function blockChances(outline: Outline, page: PageShape, rows: Float32Array, trees: BoostedTrees): Float64Array {
  const logits = logitsOf(trees, rows, FEATURES.length);
  const fellows = fellowsOf(outline, page);
  const groups = new Map<number, { sum: number; count: number }>();
  for (let i = 0; i < logits.length; i++) {
    const key = fellows[i]!;
    if (key < 0) continue;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { sum: logits[i]!, count: 1 });
    else {
      group.sum += logits[i]!;
      group.count++;
    }
  }
  const chances = new Float64Array(logits.length);
  for (let i = 0; i < logits.length; i++) {
    const logit = logits[i]!;
    const group = fellows[i]! < 0 ? undefined : groups.get(fellows[i]!);
    const joint =
      group === undefined || group.count < LEAST_FELLOWS
        ? logit
        : (1 - FELLOWS) * logit + (FELLOWS * group.sum) / group.count;
    chances[i] = 1 / (1 + Math.exp(-joint));
  }
  return chances;
}

/** Factor of the probability of such a link. */
const ELSEWHERE = 0.2;
const MOSTLY_LINK = 0.6;

/**
 * Links that the page announces as links to other pages: a line between paragraphs ("Also read: ..."), and the part
 * under a heading such as "Related news". Both are too rare among labelled pages to be learnt.
 */
function withoutOthers({ blocks }: Outline, { hints }: BlockContext, chances: Float64Array): Float64Array {
  const left = chances.slice();
  /** Level of the announcing heading; 0: none. */
  let tail = 0;
  for (let i = 0; i < left.length; i++) {
    const { text, linkChars, heading } = blocks[i]!;
    const isLink = linkChars > MOSTLY_LINK * text.length;
    if (heading === 0 && (!isLink || left[i]! <= ELSEWHERE)) continue;
    const isTail = (tail > 0 && heading === 0) || (hints[i]! & TAIL) !== 0;
    if (heading > 0) tail = isTail ? heading : heading <= tail ? 0 : tail;
    if (isLink && (heading === 0 ? isTail : tail > 0)) left[i] = Math.min(left[i]!, ELSEWHERE);
  }
  return left;
}

/** Least width of the text of an article. */
const LEAST_ARTICLE = 300;

/**
 * Comments below an article are not its content; on forums they are. The trees know too few long discussions. So a page
 * that declares itself an article, is no forum and has a text beside its comments loses these.
 */
function withoutComments(
  { blocks, elements, kinds }: Outline,
  { shapes }: PageShape,
  chances: Float64Array,
): Float64Array {
  if (!kinds.article || kinds.forum) return chances;
  const isComment = blocks.map(({ path }) =>
    path.some((at) => {
      const { signs, name } = elements[at] as OutlineElement;
      return (signs & COMMENT) !== 0 && name !== 'main';
    }),
  );
  let beside = 0;
  for (const [i, { width }] of shapes.entries()) {
    if (!isComment[i] && (chances[i] as number) > 0.5) beside += width;
  }
  return beside < LEAST_ARTICLE ? chances : chances.map((chance, i) => (isComment[i] ? 0 : chance));
}

const SURROUNDINGS = ADVERT | OVERLAY | RELATED | SURROUND | ASIDE;

/** The trees mostly keep an advert within an article, as readers of text do: a little noise in much content. */
const certaintyOf = ({ blocks }: Outline, { signsOf }: PageShape, chances: Float64Array): Float64Array =>
  chances.map((chance, i) => {
    const around = signsOf[blocks[i]?.path.at(-1) ?? -1] ?? 0;
    return (around & SURROUNDINGS) === 0 ? chance : chance / 2;
  });

/** Group of each block, as a hash: blocks at the same place of elements that repeat each other; -1: none. */
function fellowsOf({ blocks, elements }: Outline, { repeatedOf }: PageShape): Int32Array {
  const fellows = new Int32Array(blocks.length);
  for (let i = 0; i < blocks.length; i++) {
    const { path, linkChars, text } = blocks[i]!;
    const repeated = path.length === 0 ? -1 : repeatedOf[path[path.length - 1]!]!;
    if (repeated < 0) {
      fellows[i] = -1;
      continue;
    }
    let hash = mixed(linkChars > text.length / 2 ? 1 : 2, elements[repeated]!.parent);
    for (let k = path.length - 1; k >= 0; k--) {
      const at = path[k]!;
      hash = mixed(hash, elements[at]!.looks);
      if (at === repeated) break;
    }
    fellows[i] = hash >>> 1;
  }
  return fellows;
}

const mixed = (hash: number, value: number): number => Math.imul(hash ^ value, 0x01000193) ^ (hash >>> 15);

/**
 * The blocks to take, most probable first, as long as the expected F1 grows: 2 x expected words found / (words taken +
 * expected words of the content). On a clear page that takes the blocks above one half, and more where much is in
 * doubt.
 */
function mostLikely({ shapes }: PageShape, chances: Float64Array): boolean[] {
  const order = [...chances.keys()].sort((a, b) => (chances[b] as number) - (chances[a] as number));
  let content = 0;
  for (const [i, { width }] of shapes.entries()) content += width * (chances[i] as number);
  let found = 0;
  let taken = 0;
  let best = 0;
  let least = 1;
  for (const i of order) {
    const width = shapes[i]?.width ?? 0;
    found += width * (chances[i] as number);
    taken += width;
    const f1 = (2 * found) / (taken + content);
    if (f1 > best) {
      best = f1;
      least = chances[i] as number;
    }
  }
  return Array.from(chances, (chance) => chance >= least);
}
