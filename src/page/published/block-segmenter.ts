// page/published/: blocks and main content by the published rule (patent CN101645082A).

import { type BlockTable, MAIN_BLOCK, TOPIC_BLOCK } from '../block-table.ts';
import { cleanText } from '../metadata/statements.ts';
import type { BlockType, PageBlock, PageNode } from '../page-block.ts';
import type { WordCutter } from '../text/word-scan.ts';

/**
 * The five classes of tags by which a page is cut into blocks (CN101645082A, module 210; the lists of the patent's
 * figure are lost, these follow the meaning of the tags in HTML, layout tables of its time included).
 */
type TagClass = 'title' | 'block' | 'level' | 'ignore' | 'other';

/** The table itself; a name in no list is `other`. */
export const TAG_CLASSES: Readonly<Record<Exclude<TagClass, 'other'>, readonly string[]>> = Object.freeze({
  title: 'title h1 h2 h3 h4 h5 h6'.split(' '),
  block:
    'address article aside blockquote body center details div dl fieldset figure footer form header main nav ol pre section table td th ul'.split(
      ' ',
    ),
  level: 'br caption dd dt hr li p tbody tfoot thead tr'.split(' '),
  ignore: 'script style noscript iframe object embed link meta template svg'.split(' '),
});

const CLASS_OF: ReadonlyMap<string, TagClass> = new Map(
  Object.entries(TAG_CLASSES).flatMap(([tagClass, names]) => names.map((name) => [name, tagClass as TagClass])),
);

/** @param name of the element, lower case */
export const tagClassOf = (name: string): TagClass => CLASS_OF.get(name) ?? 'other';

/** Share of a block's text inside links above which it is a list of links on the theme of the page. */
const TOPIC_ANCHORS = 0.7;
const MAX_TOPICS = 50;
const MAX_TOPIC_CHARS = 200;

/**
 * Anchors on the theme of a page (CN101645082A): the link texts, without repeats, in content blocks whose text is more
 * than 0.7 link text.
 */
export function topicAnchors(blocks: BlockTable): string[] {
  const found = new Set<string>();
  let topics = 0;
  for (let at = 0; at < blocks.count && found.size < MAX_TOPICS; at++) {
    const type = blocks.types[at];
    const isTopic = type === TOPIC_BLOCK;
    if (!isTopic && (type !== MAIN_BLOCK || blocks.anchorChars[at]! <= TOPIC_ANCHORS * blocks.chars[at]!)) continue;
    for (const line of (isTopic ? blocks.anchorTexts[topics++]! : blocks.textOf(at)).split('\n')) {
      const text = cleanText(line, MAX_TOPIC_CHARS);
      if (text !== '' && found.size < MAX_TOPICS) found.add(text);
    }
  }
  return [...found];
}

/** Thresholds; a block is pooled when it passes one of the two. */
interface BlockThresholds {
  /** Code points of its trimmed text nodes, without those of pooled blocks and titles below. */
  readonly maxLooseChars: number;
  readonly maxLooseLevels: number;
}

export const BLOCK_THRESHOLDS: BlockThresholds = Object.freeze({ maxLooseChars: 100, maxLooseLevels: 5 });

interface PageSegment {
  /** `title`: a title or heading; `block`: one that passed a threshold; `residual`: the rest at the root. */
  readonly kind: 'title' | 'block' | 'residual';
  /** The element, and its name; the root for the residual block. */
  readonly node: PageNode;
  readonly name: string;
  /** Names of its ancestors and its own, outermost first, the last eight. */
  readonly path: readonly string[];
  /** White space folded, a line per block or level tag. */
  readonly text: string;
  /** Code points of the trimmed text nodes, links included. */
  readonly chars: number;
  readonly anchorText: string;
  readonly anchorChars: number;
  readonly links: number;
  readonly levels: number;
}

/** Metadata from `meta` elements; the first of a kind counts. */
interface StatedFacts {
  readonly keywords: string | null;
  readonly description: string | null;
  /** Stated time of publication or change, as written. */
  readonly time: string | null;
}

interface PageSegments {
  /** In post-order: inner blocks come first. */
  readonly segments: readonly PageSegment[];
  readonly stated: StatedFacts;
}

const MAX_SEGMENTS = 20_000;
const MAX_CHARS = 2_000_000;
const TIME_NAMES = new Set(
  'article:published_time article:modified_time og:updated_time date pubdate publishdate dc.date dc.date.issued dcterms.created dcterms.date last-modified datepublished'.split(
    ' ',
  ),
);

/** Text not yet assigned to a block, on its way up. */
interface Loose {
  text: string;
  anchors: string;
  chars: number;
  anchorChars: number;
  links: number;
  levels: number;
}

interface Open {
  readonly node: PageNode;
  readonly loose: Loose;
  next: number;
}

const nothing = (): Loose => ({ text: '', anchors: '', chars: 0, anchorChars: 0, links: 0, levels: 0 });

/**
 * Segments a page into blocks, from the leaves up (CN101645082A, steps A1 to A4). Titles are blocks of their own; a
 * block tag whose loose text or level tags pass a threshold is pooled with all of it; any other tag passes its content
 * to its parent. The patent's queue may meet a parent before its last child; here a parent is judged once, after all of
 * them, and text of a pooled block is not counted again above. The rest at the root is the residual block. One walk, no
 * recursion, linear time.
 */
export function segmentPage(root: PageNode, thresholds: BlockThresholds = BLOCK_THRESHOLDS): PageSegments {
  const segments: PageSegment[] = [];
  const stated: Record<keyof StatedFacts, string | null> = { keywords: null, description: null, time: null };
  const open: Open[] = [{ node: root, loose: nothing(), next: 0 }];
  let anchors = 0;
  let total = 0;

  const pool = (kind: PageSegment['kind'], { node, loose }: Open): void => {
    if (segments.length >= MAX_SEGMENTS || loose.chars === 0) return;
    const path = open.slice(-8).map(({ node: each }) => each.name ?? '');
    const { chars, anchorChars, links, levels } = loose;
    const [text, anchorText] = [folded(loose.text), folded(loose.anchors)];
    segments.push({
      kind,
      node,
      name: node.name ?? '',
      path: path.filter((name) => name !== ''),
      text,
      chars,
      anchorText,
      anchorChars,
      links,
      levels,
    });
  };

  for (let at = open.at(-1); at !== undefined; at = open.at(-1)) {
    const child = at.node.children?.[at.next++];
    if (child === undefined) {
      leave(at);
      continue;
    }
    if (child.type === 'text') {
      addText(at.loose, child.data ?? '');
      continue;
    }
    if (child.children === undefined) continue;
    const { name = '' } = child;
    if (name === 'meta') readStated(child, stated);
    if (tagClassOf(name) === 'ignore') continue;
    if (name === 'a') {
      anchors++;
      at.loose.links++;
    }
    open.push({ node: child, loose: nothing(), next: 0 });
  }
  return { segments, stated };

  function addText(loose: Loose, whole: string): void {
    if (total >= MAX_CHARS) return;
    const data = whole.length > MAX_CHARS - total ? whole.slice(0, MAX_CHARS - total) : whole;
    const text = data.trim();
    const inLine = text === '' ? ' ' : data.replace(/\s+/g, ' ');
    loose.text += inLine;
    if (text === '') return;
    total += text.length;
    const chars = codePoints(text);
    loose.chars += chars;
    if (anchors > 0) {
      loose.anchors += inLine;
      loose.anchorChars += chars;
    }
  }

  function leave(at: Open): void {
    const { name = '' } = at.node;
    const tagClass = tagClassOf(name);
    const { loose } = at;
    if (name === 'a') anchors--;
    const parent = open.at(-2);
    if (parent === undefined) pool('residual', at);
    else if (tagClass === 'title') pool('title', at);
    else if (
      tagClass === 'block' &&
      (loose.chars > thresholds.maxLooseChars || loose.levels > thresholds.maxLooseLevels)
    ) {
      pool('block', at);
    } else handUp(parent.loose, loose, tagClass);
    open.pop();
  }
}

function handUp(to: Loose, from: Loose, tagClass: string): void {
  const edge = tagClass === 'block' || tagClass === 'level' ? '\n' : '';
  to.text += edge + from.text + edge;
  if (from.anchors !== '') to.anchors += `${from.anchors} `;
  to.chars += from.chars;
  to.anchorChars += from.anchorChars;
  to.links += from.links;
  to.levels += from.levels + (tagClass === 'level' ? 1 : 0);
}

const folded = (text: string): string =>
  text
    .replace(/ {2,}/g, ' ')
    .replace(/ ?\n[ \n]*/g, '\n')
    .trim();

function codePoints(text: string): number {
  let pairs = 0;
  for (let i = 0; i < text.length; i++) if ((text.charCodeAt(i) & 0xfc00) === 0xdc00) pairs++;
  return text.length - pairs;
}

function readStated({ attribs = {} }: PageNode, stated: Record<keyof StatedFacts, string | null>): void {
  const content = attribs.content?.trim().slice(0, 2_000);
  const name = (attribs.name ?? attribs.property ?? attribs.itemprop ?? attribs['http-equiv'])?.toLowerCase();
  if (content === undefined || content === '' || name === undefined) return;
  if (name === 'keywords' || name === 'description') stated[name] ??= content;
  else if (TIME_NAMES.has(name)) stated.time ??= content;
}

interface LabelledBlock {
  /** Code points of its text, and of the part of it inside links. */
  readonly chars: number;
  readonly anchorChars: number;
  /** Its words, stop words left out. */
  readonly words: readonly string[];
}

/** A block is like the main one above this share of common words. */
const MAIN_OVERLAP = 0.3;

/**
 * The published rule for the main content of a page (CN101645082A, module 230). The block with the longest text is
 * main; of equally long blocks, the first. A block that shares with it more than 0.3 of the words of the smaller of the
 * two is main as well. Of these, blocks with more than 0.7 of their text in links are topic blocks. The rest is noise.
 */
export function publishedTypes(blocks: readonly LabelledBlock[]): BlockType[] {
  const largest = blocks.reduce(
    (best, { chars }, i) => (best < 0 || chars > (blocks[best]?.chars ?? 0) ? i : best),
    -1,
  );
  const main = blocks[largest];
  if (main === undefined) return [];
  return blocks.map((block, i) => {
    if (i !== largest && wordOverlap(block.words, main.words) <= MAIN_OVERLAP) return 'noise';
    return block.anchorChars > TOPIC_ANCHORS * block.chars ? 'topic' : 'main';
  });
}

/** Share of common words (with multiplicity) in the smaller list; 0 when one is empty. */
export function wordOverlap(a: readonly string[], b: readonly string[]): number {
  const [smaller, larger] = a.length <= b.length ? [a, b] : [b, a];
  if (smaller.length === 0) return 0;
  const left = new Map<string, number>();
  for (const word of smaller) left.set(word, (left.get(word) ?? 0) + 1);
  let common = 0;
  for (const word of larger) {
    const count = left.get(word) ?? 0;
    if (count === 0) continue;
    left.set(word, count - 1);
    common++;
  }
  return common / smaller.length;
}

export interface PublishedContent {
  readonly blocks: readonly PageBlock[];
  /** Text of the main and topic blocks, a blank line between two. */
  readonly text: string;
  readonly stated: StatedFacts;
}

/**
 * Blocks, labels and content of a page by the patent: {@link segmentPage}, then {@link publishedTypes} on all but
 * titles.
 */
export function publishedContent(
  root: PageNode,
  cut: WordCutter,
  stopWords: ReadonlySet<string>,
  thresholds?: BlockThresholds,
): PublishedContent {
  const { segments, stated } = segmentPage(root, thresholds);
  const bodies = segments.filter(({ kind }) => kind !== 'title');
  const types = publishedTypes(
    bodies.map(({ text, chars, anchorChars }) => ({ chars, anchorChars, words: cut(text, stopWords) })),
  );
  const typeOf = new Map(bodies.map((segment, i) => [segment, types[i] ?? 'noise']));
  const seen = new Map<string, number>();
  const blocks = segments.map((segment): PageBlock => {
    const place = segment.path.slice(-4).join('>') || segment.kind;
    const count = (seen.get(place) ?? 0) + 1;
    seen.set(place, count);
    const { text, links, anchorChars, anchorText } = segment;
    const block = { type: typeOf.get(segment) ?? 'title', path: `${place}:${count}`, text, links };
    return { ...block, anchorChars, anchorText, ...spanOf(segment) };
  });
  const text = blocks
    .filter(({ type }) => type === 'main' || type === 'topic')
    .map((block) => block.text)
    .join('\n\n');
  return { blocks, text, stated };
}

function spanOf({ node: { startIndex, endIndex } }: PageSegment): Pick<PageBlock, 'span'> {
  return typeof startIndex === 'number' && typeof endIndex === 'number' ? { span: [startIndex, endIndex + 1] } : {};
}
