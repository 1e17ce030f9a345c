import { isElement, type PageNode } from '../page-block.ts';

/** An element of the page with the facts about its text, descendants included. */
interface Box {
  readonly node: PageNode;
  readonly parent: number;
  /** Characters without white space, and those of them in links. */
  chars: number;
  linkChars: number;
  commas: number;
  /** It has a block element inside. */
  hasBlocks: boolean;
  /** -1: it is no candidate. */
  score: number;
}

const words = (list: string): ReadonlySet<string> => new Set(list.split(' '));
const UNREAD = words('script style noscript template head svg iframe form button select textarea nav');
const BLOCKS = words('p div section article main aside header footer ul ol dl table pre blockquote form h1 h2 h3 h4');
const LINE_ENDS = words(
  'p div section article main aside header footer li dt dd tr pre blockquote h1 h2 h3 h4 h5 h6 br',
);
const LISTS = words('ul ol table div');
const UNLIKELY =
  /combx|comment|community|cookie|consent|disqus|extra|footer|masthead|menu|pager|pagination|popup|promo|related|remark|rss|share|shoutbox|sidebar|social|sponsor|widget|\bad-|\bads?\b/i;
const LIKELY = /article|body|column|content|entry|main|post|shadow|story|text/i;
/** Weights of tags and of names. */
const OF_TAG: Readonly<Record<string, number>> = {
  div: 5,
  article: 5,
  section: 5,
  pre: 3,
  td: 3,
  blockquote: 3,
  h1: -5,
  h2: -5,
  ul: -3,
  ol: -3,
  dl: -3,
  th: -5,
};
const OF_NAME = 25;
const LEAST_PARAGRAPH = 25;
const LONG_PARAGRAPH = 80;
const MANY_COMMAS = 10;
/** If the result is shorter, extraction is repeated with the elements that were left out by name. */
const LEAST_TEXT = 500;
/** Elements around a paragraph that get points for it. */
const LEVELS = 5;
const COMMAS = /[,،،，、]/g;
const SPACE = /\s+/g;

/**
 * The text that a reading mode shows of a page, by the widely used method of counting paragraphs and commas (Arc90
 * Readability, 2009). Paragraphs give points to the elements around them. The element with most points, reduced by its
 * share of links, is the content, together with similar elements beside it. A baseline for comparison; a crawl does not
 * use it.
 */
export function readableText(root: PageNode): string {
  const strict = readText(root, true);
  if (strict.length >= LEAST_TEXT) return strict;
  const loose = readText(root, false);
  return loose.length > strict.length ? loose : strict;
}

/** @param isStrict whether elements with names of surroundings are left out */
function readText(root: PageNode, isStrict: boolean): string {
  const boxes = boxesOf(root, isStrict);
  const best = bestOf(boxes);
  if (best < 0) return '';
  const { parent, score } = boxes[best]!;
  const least = Math.max(10, 0.2 * score);
  const boxOf = new Map(boxes.map((box) => [box.node, box]));
  return boxes
    .filter((box, at) => at === best || (parent >= 0 && box.parent === parent && isAlike(box, least)))
    .map(({ node }) => textOf(node, boxOf))
    .join('\n');
}

const linkShare = ({ chars, linkChars }: Box): number => (chars === 0 ? 0 : linkChars / chars);

function isAlike(box: Box, least: number): boolean {
  if (box.score >= least) return true;
  const share = linkShare(box);
  return box.node.name === 'p' && (box.chars > LONG_PARAGRAPH ? share < 0.25 : box.chars > 0 && share === 0);
}

const namesOf = ({ attribs = {} }: PageNode): string => `${attribs.class ?? ''} ${attribs.id ?? ''}`.slice(0, 1_000);

function isSkipped(node: PageNode, isStrict: boolean): boolean {
  const { name = '' } = node;
  if (UNREAD.has(name)) return true;
  if (!isStrict || name === 'body' || name === 'html' || name === 'article' || name === 'main') return false;
  const names = namesOf(node);
  return UNLIKELY.test(names) && !LIKELY.test(names);
}

/** The elements that are read, parents first. Without recursion: a DOM may nest to any depth. */
function boxesOf(root: PageNode, isStrict: boolean): Box[] {
  const boxes: Box[] = [];
  const open: { readonly node: PageNode; readonly parent: number; readonly inLink: boolean }[] = [
    { node: root, parent: -1, inLink: false },
  ];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, parent } = next;
    if (node.type === 'text') {
      if (parent >= 0) addText(boxes[parent]!, node.data ?? '', next.inLink);
      continue;
    }
    if (isElement(node) && isSkipped(node, isStrict)) continue;
    const inLink = next.inLink || node.name === 'a';
    boxes.push({ node, parent, chars: 0, linkChars: 0, commas: 0, hasBlocks: false, score: -1 });
    const at = boxes.length - 1;
    for (const child of (node.children ?? []).toReversed()) open.push({ node: child, parent: at, inLink });
  }
  for (let at = boxes.length - 1; at > 0; at--) {
    const { parent, chars, linkChars, commas, hasBlocks, node } = boxes[at]!;
    const around = boxes[parent]!;
    around.chars += chars;
    around.linkChars += linkChars;
    around.commas += commas;
    around.hasBlocks ||= hasBlocks || BLOCKS.has(node.name ?? '');
  }
  return boxes;
}

function addText(box: Box, text: string, inLink: boolean): void {
  const chars = text.replace(SPACE, '').length;
  box.chars += chars;
  if (inLink) box.linkChars += chars;
  box.commas += text.match(COMMAS)?.length ?? 0;
}

/** Gives the points; -1: the page has no paragraph. */
function bestOf(boxes: readonly Box[]): number {
  for (const box of boxes) {
    if (!isParagraph(box) || box.chars < LEAST_PARAGRAPH) continue;
    const points = 1 + box.commas + Math.min(3, Math.floor(box.chars / 100));
    let at = box.parent;
    for (let level = 0; level < LEVELS && at >= 0; level++) {
      const around = boxes[at]!;
      give(around, points / (level === 0 ? 1 : level === 1 ? 2 : 3 * level));
      at = around.parent;
    }
  }
  let best = -1;
  for (let at = 0; at < boxes.length; at++) {
    const box = boxes[at]!;
    if (box.score < 0) continue;
    box.score *= 1 - linkShare(box);
    if (best < 0 || box.score > boxes[best]!.score) best = at;
  }
  return best;
}

function isParagraph({ node, hasBlocks }: Box): boolean {
  const { name = '' } = node;
  return name === 'p' || name === 'pre' || name === 'td' || (name === 'div' && !hasBlocks);
}

function give(box: Box, points: number): void {
  if (box.score < 0) {
    const names = namesOf(box.node);
    const byName = LIKELY.test(names) ? OF_NAME : UNLIKELY.test(names) ? -OF_NAME : 0;
    box.score = Math.max(0, (OF_TAG[box.node.name ?? ''] ?? 0) + byName);
  }
  box.score += points;
}

/** Lists and boxes of links within the content are left out. */
const isLinkList = (box: Box): boolean =>
  LISTS.has(box.node.name ?? '') && box.commas < MANY_COMMAS && linkShare(box) > 0.5;

/** @param boxOf of each element that is read */
function textOf(root: PageNode, boxOf: ReadonlyMap<PageNode, Box>): string {
  let text = '';
  const open: (PageNode | string)[] = [root];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (typeof node === 'string') text += node;
    else if (node.type === 'text') text += (node.data ?? '').replace(SPACE, ' ');
    else {
      const box = boxOf.get(node);
      if (box === undefined || isLinkList(box)) continue;
      if (LINE_ENDS.has(node.name ?? '')) {
        text += '\n';
        open.push('\n');
      }
      for (const child of (node.children ?? []).toReversed()) open.push(child);
    }
  }
  return text.replace(/ *\n\s*/g, '\n').trim();
}
