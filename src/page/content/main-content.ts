import { asciiSlice, utf8Slice } from '../tape/interned-texts.ts';
import { tagNumber } from '../tape/name-table.ts';
import type { Tape } from '../tape/tape.ts';
import { TAIL } from '../text/text-hints.ts';
import { type BlockContext, ContextReader, dropNotices, FEATURES, hiddenElements } from './block-context.ts';
import { announcesTail, blockFeatures } from './block-features.ts';
import { chosenBlocks, manualKind } from './choice.ts';
import { ADVERT, ASIDE, COMMENT, HIDDEN, OVERLAY, RELATED, SURROUND } from './element-signs.ts';
import { type Outline, OutlineReader } from './outline.ts';
import { type PageShape, pageShape } from './page-shape.ts';
import { type Headline, keepStructure } from './structure.ts';
import { type BoostedTrees, contentTrees, logitsOf } from './trees/content-model.ts';

/**
 * Sets the probability of blocks that are not meant for readers to 0: rows that scripts write for themselves, and what
 * a shop tells each country. Both are too rare among labelled pages to be learnt.
 */
function dropUnread(outline: Outline, chances: Float64Array): void {
  dropScriptRows(outline, chances);
  dropCountries(outline, chances);
}

/** Wider rows are text. */
const MAX_ROW = 120;
/** `bvseo_sdk, java_sdk, bvseo-4.0.0`; `CLOUD, getReviews, 52.21ms`. */
const ROW = /^[\w.:+-]+(?:, ?[\w.:+-]+)+$/;
/** An identifier of a program, a version, a duration. */
const OF_PROGRAM = /[a-z\d]_[a-z\d]|[a-z][A-Z]|\d\.\d+\.\d|\d ?ms\b/;

/** Hidden lists of names and values without spaces, one of which belongs to a program. */
function dropScriptRows(outline: Outline, chances: Float64Array): void {
  const { blockCount, blocks, elements, elementCount } = outline;
  let first = 0;
  while (first < elementCount && (elements.signs[first]! & HIDDEN) === 0) first++;
  if (first === elementCount) return;
  const isHidden = hiddenElements(outline);
  const listOf = (block: number): number => elements.parent[blocks.holder[block]!]!;
  const rows: number[] = [];
  const ofPrograms = new Set<number>();
  for (let i = 0; i < blockCount; i++) {
    const holder = blocks.holder[i]!;
    if (holder < 0 || isHidden[holder] === 0 || blocks.width[i]! > MAX_ROW || blocks.marks[i] === 0) continue;
    const text = outline.textOf(i);
    if (!ROW.test(text)) continue;
    rows.push(i);
    if (OF_PROGRAM.test(text)) ofPrograms.add(listOf(i));
  }
  for (const row of rows) if (ofPrograms.has(listOf(row))) chances[row] = 0;
}

/** A shop's list names at least this many countries. */
const LEAST_COUNTRIES = 12;
/** Share of the words of a text that are names of countries. */
const LEAST_SHARE = 0.5;
const MAX_CHOICE = 60;
const CLOSING = 0x29;
/** What a selector shows after the name of a country: `Albania (ALL L)`, `Austria (EUR €)`. */
const CHOICE = /^(\p{Lu}[\p{L}\p{M} .,&'’()-]+?) \(([A-Z]{3})(?: [^()]{1,6})?\)$/u;
/** What a shop says about where it delivers. */
const SENDING =
  /\b(?:ships?|shipping|shipped|deliver(?:y|s|ed)?|postage|excludes?|versand\w*|liefer\w+|livraison|envíos?|spedizion[ei]|verzend\w+|доставк\w*)\b/iu;

/** Greatest mean width per punctuation mark: the names of a list are shorter than sentences. */
const MAX_NAME = 24;

function dropCountries(outline: Outline, chances: Float64Array): void {
  const { blockCount, blocks, bytes } = outline;
  const choices: number[] = [];
  for (let i = 0; i < blockCount; i++) {
    const width = blocks.width[i]!;
    if (width <= MAX_CHOICE && bytes[blocks.to[i]! - 1] === CLOSING) {
      const [, name] = CHOICE.exec(outline.textOf(i)) ?? [];
      if (name !== undefined && isCountry(name)) choices.push(i);
    }
    const marks = blocks.marks[i]!;
    if (marks < LEAST_COUNTRIES - 1 || width > MAX_NAME * marks) continue;
    const text = outline.textOf(i);
    const isSending = SENDING.test(text) || (i > 0 && SENDING.test(outline.textOf(i - 1)));
    if (isSending && isOfCountries(text)) chances[i] = 0;
  }
  if (choices.length >= LEAST_COUNTRIES) for (const i of choices) chances[i] = 0;
}

function isOfCountries(text: string): boolean {
  const names = text.split(/[,;:\u3001\uff0c]\s*|\.\s|\s(?:and|und|et|y|e|en|i|и)\s/);
  const countries = names.filter(isCountry).length;
  return countries >= LEAST_COUNTRIES && countries >= LEAST_SHARE * names.length;
}

/** Languages of most shops. */
const LANGUAGES = 'en de fr es it pt nl pl ru zh ja'.split(' ');
const LETTERS = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
/** Created when a page has a list that may be one of countries. */
let known: ReadonlySet<string> | null = null;

const isCountry = (name: string): boolean => {
  known ??= countryNames();
  return known.has(name.trim().toLowerCase());
};

/** Taken from the codes of ISO 3166 that the runtime knows. */
function countryNames(): ReadonlySet<string> {
  const namesIn = (language: string): Intl.DisplayNames =>
    new Intl.DisplayNames(language, { type: 'region', fallback: 'none' });
  const english = namesIn('en');
  const codes = LETTERS.flatMap((first) => LETTERS.map((second) => first + second)).filter(
    (code) => english.of(code) !== undefined,
  );
  const names = new Set<string>();
  for (const language of LANGUAGES) {
    const inLanguage = namesIn(language);
    for (const code of codes) {
      const name = inLanguage.of(code);
      if (name !== undefined) names.add(name.toLowerCase());
    }
  }
  return names;
}

/**
 * Version of the extraction; part of the name of every signature made from it, so it changes with every change of the
 * result, new trees above all.
 */
export const CONTENT_VERSION = 5;

export interface MainContent {
  /** In reading order, a line a block; empty when the page has no text. */
  readonly text: string;
  /** Valid until the next page. */
  readonly outline: Outline;
  /** 1 for each block that belongs to the main content. */
  readonly isMain: Uint8Array;
  /** The heading above the main content, where it is not part of it. */
  readonly headline: Headline | null;
  /**
   * Probability of each block of being main content, 0 to 1, lowered inside elements marked as an advert, an aside or
   * the like.
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
 * each other are judged together. Then {@link chosenBlocks} takes those that maximise the expected F1 of the page's
 * words, and {@link keepStructure} adds the headings, listings and tables that belong to these.
 */
export function createMainContent(trees: BoostedTrees = contentTrees()): (tape: Tape) => MainContent {
  const outlines = new OutlineReader();
  const contexts = new ContextReader();
  const allocate = scratchRows();
  return (tape) => {
    const outline = outlines.read(tape);
    const page = pageShape(outline);
    const context = contexts.read(outline, page);
    const rows = blockFeatures(outline, page, context, allocate);
    const chances = blockChances(outline, page, rows, trees);
    lowerOthers(outline, context, chances);
    dropComments(outline, chances);
    dropUnread(outline, chances);
    const manual = manualKind(outline, page);
    const isMain = chosenBlocks(outline, page, context, chances, manual);
    dropNotices(outline, isMain);
    for (let i = 0; i + 1 < isMain.length; i++) {
      // A heading goes with the part that it announces.
      if (isMain[i] === 1 && isMain[i + 1] === 0 && announcesTail(outline, i)) isMain[i] = 0;
    }
    const headline = keepStructure(outline, page, context, isMain, manual);
    return { text: textOf(outline, isMain), outline, isMain, headline, certainty: certaintyOf(outline, page, chances) };
  };
}

/** The text of the chosen blocks, a line each. */
export function textOf({ blockCount, blocks, bytes }: Outline, isChosen: Uint8Array): string {
  const lines: string[] = [];
  for (let i = 0; i < blockCount; ) {
    if (isChosen[i] === 0) {
      i++;
      continue;
    }
    let wide = 0;
    const first = i;
    for (; i < blockCount && isChosen[i] === 1; i++) wide |= blocks.isWide[i]!;
    const slice = wide === 1 ? utf8Slice : asciiSlice;
    lines.push(slice(bytes, blocks.from[first]!, blocks.to[i - 1]!));
  }
  return lines.join('\n');
}

/** Size limit of the reused rows: the values of some two thousand blocks. */
const KEPT_VALUES = 1 << 18;

/** Reused for every page: allocating memory outside of the heap costs more than clearing it. */
function scratchRows(): (values: number) => Float32Array {
  let scratch = new Float32Array(0);
  return (values) => {
    if (values > KEPT_VALUES) return new Float32Array(values);
    if (values > scratch.length) scratch = new Float32Array(Math.min(KEPT_VALUES, 2 * values));
    return scratch.subarray(0, values).fill(0);
  };
}

/** Probability of each block of being content. */
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
function lowerOthers({ blocks }: Outline, { hints }: BlockContext, chances: Float64Array): void {
  /** Level of the announcing heading; 0: none. */
  let tail = 0;
  for (let i = 0; i < chances.length; i++) {
    const heading = blocks.heading[i]!;
    const isLink = blocks.linkChars[i]! > MOSTLY_LINK * blocks.chars[i]!;
    if (heading === 0 && (!isLink || chances[i]! <= ELSEWHERE)) continue;
    const isTail = (tail > 0 && heading === 0) || (hints[i]! & TAIL) !== 0;
    if (heading > 0) tail = isTail ? heading : heading <= tail ? 0 : tail;
    if (isLink && (heading === 0 ? isTail : tail > 0)) chances[i] = Math.min(chances[i]!, ELSEWHERE);
  }
}

/** Least width of the text of an article. */
const LEAST_ARTICLE = 300;
const MAIN = tagNumber('main');

/**
 * Comments below an article are not its content; on forums they are. The trees have seen too few long discussions. So a
 * page that declares itself an article, is not a forum and has text beside its comments loses them.
 */
function dropComments({ blocks, elementCount, elements, kinds }: Outline, chances: Float64Array): void {
  if (!kinds.article || kinds.forum) return;
  const inComment = new Uint8Array(elementCount);
  for (let at = 0; at < elementCount; at++) {
    const parent = elements.parent[at]!;
    const isComment = (elements.signs[at]! & COMMENT) !== 0 && elements.tag[at] !== MAIN;
    inComment[at] = Number(isComment || (parent >= 0 && inComment[parent] === 1));
  }
  const isComment = (block: number): boolean => blocks.holder[block]! >= 0 && inComment[blocks.holder[block]!] === 1;
  let beside = 0;
  for (let i = 0; i < chances.length; i++) if (!isComment(i) && chances[i]! > 0.5) beside += blocks.width[i]!;
  if (beside < LEAST_ARTICLE) return;
  for (let i = 0; i < chances.length; i++) if (isComment(i)) chances[i] = 0;
}

const SURROUNDINGS = ADVERT | OVERLAY | RELATED | SURROUND | ASIDE;

/** The trees mostly keep an advert within an article, as readers of text do: a little noise in much content. */
const certaintyOf = ({ blocks }: Outline, { signsOf }: PageShape, chances: Float64Array): Float64Array =>
  chances.map((chance, i) => {
    const around = blocks.holder[i]! < 0 ? 0 : signsOf[blocks.holder[i]!]!;
    return (around & SURROUNDINGS) === 0 ? chance : chance / 2;
  });

/** Group of each block, as a hash: blocks at the same place of elements that repeat each other; -1: none. */
function fellowsOf({ blockCount, blocks, elements }: Outline, { repeatedOf }: PageShape): Int32Array {
  const fellows = new Int32Array(blockCount).fill(-1);
  for (let i = 0; i < blockCount; i++) {
    const holder = blocks.holder[i]!;
    const repeated = holder < 0 ? -1 : repeatedOf[holder]!;
    if (repeated < 0) continue;
    let hash = mixed(blocks.linkChars[i]! > blocks.chars[i]! / 2 ? 1 : 2, elements.parent[repeated]!);
    for (let at = holder; at >= 0; at = elements.parent[at]!) {
      hash = mixed(hash, elements.looks[at]!);
      if (at === repeated) break;
    }
    fellows[i] = hash >>> 1;
  }
  return fellows;
}

const mixed = (hash: number, value: number): number => Math.imul(hash ^ value, 0x01000193) ^ (hash >>> 15);
