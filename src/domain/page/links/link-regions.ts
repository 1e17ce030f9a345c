// domain/page/links/: links that are noise, and robots directives of a page.
import { type Classifier, createClassifier, type ElementClass } from '../content/boilerplate.ts';
import { isElement, type PageNode } from '../page-node.ts';

/** Place of an anchor, and the share of anchors around it. */
export interface LinkPlace {
  /**
   * `surround`: in navigation, footer, sidebar by tag or role, or hidden; `perhaps`: by class or id; `content`: the
   * nearest mark says content.
   */
  readonly region: 'surround' | 'perhaps' | 'content' | 'plain';
  /** The region of the page that the anchor belongs to. */
  readonly part: PagePart;
}

/** A region of the page between cuts. Characters count without white space, and only where there are links. */
export interface PagePart {
  textChars: number;
  anchorChars: number;
  links: number;
}

/** Share of a region's text that is anchors: 1 where there are only links without text, 0 without links. */
export function linkRatio({ textChars, anchorChars, links }: PagePart): number {
  return textChars === 0 ? Number(links > 0) : anchorChars / textChars;
}

/** Elements at which the published system cuts a page. */
export const PUBLISHED_CUTS: ReadonlySet<string> = new Set(['td', 'p', 'div']);
/** Their counterparts in current pages. */
export const TODAYS_CUTS: ReadonlySet<string> = new Set(
  'td p div ul ol dl table nav aside footer header main article section form blockquote figure'.split(' '),
);

/** The mark of an element for all its content; which range of the page's texts that is. */
interface Mark {
  readonly kind: 'surround' | 'perhaps' | 'content';
  /** Positions of its first text, and of the first one behind it. */
  readonly from: number;
  to: number;
  readonly outer: Mark | null;
}

/** Elements deeper than this belong to the part around them. */
const MAX_DEPTH = 2_000;
/** A larger share of the text is the page itself, whatever the class (`class="has-sidebar"`). */
const MAX_SURROUND_SHARE = 0.4;

/** An anchor with the part of its place that is known before the end of the page. */
interface FoundAnchor {
  readonly anchor: PageNode;
  readonly mark: Mark | null;
  readonly part: PagePart;
}

/** A text of the page with its length. Counting is expensive and most lengths are never needed, so it is lazy. */
interface FoundText {
  readonly data: string;
  readonly part: PagePart;
  readonly isInAnchor: boolean;
}

/**
 * Every anchor of a page with its place, in one pass without recursion. Text of scripts, styles and the like is
 * ignored.
 * @param cuts names of the elements that begin a region
 * @param classOf caches class names; to be shared by many pages
 */
export function linkPlaces(
  root: PageNode,
  cuts: ReadonlySet<string>,
  classOf: Classifier = createClassifier(false),
): Map<PageNode, LinkPlace> {
  const found: FoundAnchor[] = [];
  const texts: FoundText[] = [];
  // Of the open elements, by depth: the node, its next child, its mark and part, whether it is in an anchor.
  const nodes: PageNode[] = [root];
  const nexts: number[] = [0];
  const marks: (Mark | null)[] = [null];
  const parts: PagePart[] = [{ textChars: 0, anchorChars: 0, links: 0 }];
  const inAnchor: boolean[] = [false];
  let depth = 0;
  while (depth >= 0) {
    const child = nodes[depth]!.children?.[nexts[depth]!++];
    if (child === undefined) {
      const mark = marks[depth]!;
      if (mark !== null && (depth === 0 || mark !== marks[depth - 1])) mark.to = texts.length;
      depth--;
      continue;
    }
    const part = parts[depth]!;
    if (!isElement(child)) {
      const { type, data } = child;
      if (type === 'text' && data !== undefined && !isShortSpace(data)) {
        texts.push({ data, part, isInAnchor: inAnchor[depth]! });
      }
      continue;
    }
    const { name = '' } = child;
    if (UNREAD.has(name) || depth >= MAX_DEPTH) continue;
    const mark = markOf(classOf(child), marks[depth]!, texts.length);
    const ownPart = cuts.has(name) ? { textChars: 0, anchorChars: 0, links: 0 } : part;
    const isAnchor = name === 'a' && child.attribs?.href !== undefined;
    if (isAnchor) {
      ownPart.links++;
      found.push({ anchor: child, mark, part: ownPart });
    }
    // Without text, and its mark is not needed.
    if (child.children!.length === 0) continue;
    const isInAnchor = inAnchor[depth]! || isAnchor;
    depth++;
    nodes[depth] = child;
    nexts[depth] = 0;
    marks[depth] = mark;
    parts[depth] = ownPart;
    inAnchor[depth] = isInAnchor;
  }
  for (const { data, part, isInAnchor } of texts) {
    if (part.links === 0) continue;
    const chars = visibleChars(data);
    part.textChars += chars;
    if (isInAnchor) part.anchorChars += chars;
  }
  const isPage = pageTeller(texts);
  const places = new Map<PageNode, LinkPlace>();
  for (const { anchor, mark, part } of found) places.set(anchor, { region: regionOf(mark, isPage), part });
  return places;
}

const UNREAD = new Set('script style template svg math head noscript'.split(' '));

function markOf(found: ElementClass, outer: Mark | null, from: number): Mark | null {
  switch (found) {
    case 'surround':
    case 'silent':
      return { kind: 'surround', from, to: from, outer };
    case 'perhaps-surround':
      return { kind: 'perhaps', from, to: from, outer };
    case 'content':
      return { kind: 'content', from, to: from, outer };
    case 'plain':
      return outer;
  }
}

/** A surrounding mark holds for all inside. Within a doubtful mark, a mark of content wins. */
function regionOf(mark: Mark | null, isPage: (mark: Mark) => boolean): LinkPlace['region'] {
  for (let each = mark; each !== null; each = each.outer) if (each.kind === 'surround') return 'surround';
  for (let each = mark; each !== null; each = each.outer) {
    if (each.kind === 'content' || !isPage(each)) return each.kind;
  }
  return 'plain';
}

/** Whether a mark covers so much of the text that it is the page itself. */
function pageTeller(texts: readonly FoundText[]): (mark: Mark) => boolean {
  /** Characters before each text, and of all. */
  let before: Float64Array | null = null;
  return ({ from, to }) => {
    before ??= countBefore(texts);
    return before[to]! - before[from]! > MAX_SURROUND_SHARE * before[texts.length]!;
  };
}

function countBefore(texts: readonly FoundText[]): Float64Array {
  const before = new Float64Array(texts.length + 1);
  for (const [i, { data }] of texts.entries()) before[i + 1] = before[i]! + visibleChars(data);
  return before;
}

/** The indentation between two tags, mostly. */
const SHORT = 16;
const isShortSpace = (data: string): boolean => data.length <= SHORT && visibleChars(data) === 0;

function visibleChars(data: string): number {
  const { length } = data;
  let chars = 0;
  for (let i = 0; i < length; i++) if (data.charCodeAt(i) > 0x20) chars++;
  return chars;
}
