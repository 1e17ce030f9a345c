import { type Classifier, createClassifier, type ElementClass } from './boilerplate.ts';
import { isElement, type PageNode } from './page-node.ts';

/** Where an anchor stands, and how much of its surroundings is anchors. */
export interface LinkPlace {
  /** `surround`: in navigation, footer, sidebar by tag or role, or hidden; `perhaps`: by class or id; `content`: nearest such mark says content. */
  readonly region: 'surround' | 'perhaps' | 'content' | 'plain';
  /** The part of the page that the anchor belongs to. */
  readonly part: PagePart;
}

/** A stretch of the page between cuts; characters count without white space. */
export interface PagePart {
  textChars: number;
  anchorChars: number;
  links: number;
}

/** Share of a part's text that is anchors: 1 where there are only links without text, 0 where there are none. */
export function linkRatio({ textChars, anchorChars, links }: PagePart): number {
  return textChars === 0 ? Number(links > 0) : anchorChars / textChars;
}

/** Where the published system cuts a page. */
export const PUBLISHED_CUTS: ReadonlySet<string> = new Set(['td', 'p', 'div']);
/** And what stands for them in pages of today. */
export const TODAYS_CUTS: ReadonlySet<string> = new Set(
  'td p div ul ol dl table nav aside footer header main article section form blockquote figure'.split(' '),
);

/** What an element says of all that it holds; told at its end, when it is known how much that is. */
interface Mark {
  readonly kind: 'surround' | 'perhaps' | 'content';
  /** Characters of text inside. */
  chars: number;
  readonly outer: Mark | null;
}

/** Elements deeper than this belong to the part around them. */
const MAX_DEPTH = 2_000;
/** What holds more of the text than this is the page, whatever it is called (`class="has-sidebar"`). */
const MAX_SURROUND_SHARE = 0.4;

/** An anchor with what is known of its place before the end of the page. */
interface FoundAnchor {
  readonly anchor: PageNode;
  readonly mark: Mark | null;
  readonly part: PagePart;
}

/**
 * Every anchor of a page with its place, in one pass without recursion. Text of scripts, styles and the like does not count.
 * @param cuts names of the elements that begin a part of their own
 * @param classOf remembers class names; for many pages it should be the same one
 */
export function linkPlaces(
  root: PageNode,
  cuts: ReadonlySet<string>,
  classOf: Classifier = createClassifier(false),
): Map<PageNode, LinkPlace> {
  const found: FoundAnchor[] = [];
  // Of the open elements, by depth: the node, its next child, its mark and part, whether it is in an anchor, characters of all text in it so far.
  const nodes: PageNode[] = [root];
  const nexts: number[] = [0];
  const marks: (Mark | null)[] = [null];
  const parts: PagePart[] = [{ textChars: 0, anchorChars: 0, links: 0 }];
  const inAnchor: boolean[] = [false];
  const chars: number[] = [0];
  let depth = 0;
  while (depth >= 0) {
    const child = nodes[depth]!.children?.[nexts[depth]!++];
    if (child === undefined) {
      const mark = marks[depth]!;
      if (mark !== null && (depth === 0 || mark !== marks[depth - 1])) mark.chars = chars[depth]!;
      if (depth > 0) chars[depth - 1]! += chars[depth]!;
      depth--;
      continue;
    }
    const part = parts[depth]!;
    if (!isElement(child)) {
      const count = visibleChars(child);
      chars[depth]! += count;
      part.textChars += count;
      if (inAnchor[depth]!) part.anchorChars += count;
      continue;
    }
    const { name = '' } = child;
    if (UNREAD.has(name) || depth >= MAX_DEPTH) continue;
    const mark = markOf(classOf(child), marks[depth]!);
    const ownPart = cuts.has(name) ? { textChars: 0, anchorChars: 0, links: 0 } : part;
    const isAnchor = name === 'a' && child.attribs?.href !== undefined;
    if (isAnchor) {
      ownPart.links++;
      found.push({ anchor: child, mark, part: ownPart });
    }
    // Nothing to be read, and no mark of it is asked for.
    if (child.children!.length === 0) continue;
    const isInAnchor = inAnchor[depth]! || isAnchor;
    depth++;
    nodes[depth] = child;
    nexts[depth] = 0;
    marks[depth] = mark;
    parts[depth] = ownPart;
    inAnchor[depth] = isInAnchor;
    chars[depth] = 0;
  }
  const total = chars[0]!;
  const places = new Map<PageNode, LinkPlace>();
  for (const { anchor, mark, part } of found) places.set(anchor, { region: regionOf(mark, total), part });
  return places;
}

const UNREAD = new Set('script style template svg math head noscript'.split(' '));

function markOf(found: ElementClass, outer: Mark | null): Mark | null {
  switch (found) {
    case 'surround':
    case 'silent':
      return { kind: 'surround', chars: 0, outer };
    case 'perhaps-surround':
      return { kind: 'perhaps', chars: 0, outer };
    case 'content':
      return { kind: 'content', chars: 0, outer };
    case 'plain':
      return outer;
  }
}

/** What surrounds content also surrounds what stands in it; within a doubtful mark, a mark of content goes before it. */
function regionOf(mark: Mark | null, total: number): LinkPlace['region'] {
  let region: LinkPlace['region'] = 'plain';
  for (let each = mark; each !== null; each = each.outer) {
    if (each.kind === 'perhaps' && each.chars > MAX_SURROUND_SHARE * total) continue;
    if (each.kind === 'surround') return 'surround';
    if (region === 'plain') region = each.kind;
  }
  return region;
}

function visibleChars({ type, data }: PageNode): number {
  if (type !== 'text' || data === undefined) return 0;
  const { length } = data;
  let chars = 0;
  for (let i = 0; i < length; i++) if (data.charCodeAt(i) > 0x20) chars++;
  return chars;
}
