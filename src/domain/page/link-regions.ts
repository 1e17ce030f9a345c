import { createClassifier } from './boilerplate.ts';
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

interface OpenElement {
  readonly node: PageNode;
  next: number;
  readonly mark: Mark | null;
  readonly part: PagePart;
  readonly inAnchor: boolean;
  /** Characters of text so far, all below included. */
  chars: number;
}

/**
 * Every anchor of a page with its place, in one pass without recursion. Text of scripts, styles and the like does not count.
 * @param cuts names of the elements that begin a part of their own
 */
export function linkPlaces(root: PageNode, cuts: ReadonlySet<string>): Map<PageNode, LinkPlace> {
  const classOf = createClassifier(false);
  const found: (Pick<OpenElement, 'mark' | 'part'> & { readonly anchor: PageNode })[] = [];
  const part: PagePart = { textChars: 0, anchorChars: 0, links: 0 };
  const open: OpenElement[] = [{ node: root, next: 0, mark: null, part, inAnchor: false, chars: 0 }];
  let total = 0;
  for (let top = open[0]; top !== undefined; top = open.at(-1)) {
    const child: PageNode | undefined = top.node.children?.[top.next++];
    if (child === undefined) {
      open.pop();
      const outer = open.at(-1);
      if (outer === undefined) total = top.chars;
      else outer.chars += top.chars;
      if (top.mark !== null && top.mark !== outer?.mark) top.mark.chars = top.chars;
      continue;
    }
    if (!isElement(child)) {
      const chars = visibleChars(child);
      top.chars += chars;
      top.part.textChars += chars;
      if (top.inAnchor) top.part.anchorChars += chars;
      continue;
    }
    const { name = '' } = child;
    if (UNREAD.has(name) || open.length > MAX_DEPTH) continue;
    const mark = markOf(classOf(child), top.mark);
    const part: PagePart = cuts.has(name) ? { textChars: 0, anchorChars: 0, links: 0 } : top.part;
    const isAnchor = name === 'a' && child.attribs?.href !== undefined;
    if (isAnchor) {
      part.links++;
      found.push({ anchor: child, mark, part });
    }
    open.push({ node: child, next: 0, mark, part, inAnchor: top.inAnchor || isAnchor, chars: 0 });
  }
  return new Map(found.map(({ anchor, mark, part }) => [anchor, { region: regionOf(mark, total), part }]));
}

const UNREAD = new Set('script style template svg math head noscript'.split(' '));

function markOf(found: ReturnType<ReturnType<typeof createClassifier>>, outer: Mark | null): Mark | null {
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
  let chars = 0;
  for (let i = 0; i < data.length; i++) if (data.charCodeAt(i) > 0x20) chars++;
  return chars;
}
