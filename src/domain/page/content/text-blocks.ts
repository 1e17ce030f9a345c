import { isElement, type PageNode } from '../page-node.ts';
import { createSignReader, HIDDEN, NOSCRIPT, SILENT, type SignReader } from './element-signs.ts';
import { createKindReader, type PageKinds } from './page-kinds.ts';

/** A run of text between two block boundaries. */
export interface TextBlock {
  /** White space folded. */
  readonly text: string;
  readonly linkChars: number;
  readonly links: number;
  /** Heading level 1 to 6, else 0. */
  readonly heading: number;
  /** Name of its parent element: `p`, `li`, `td`, `div`. */
  readonly tag: string;
  /** Ancestors, outermost first; positions in {@link Outline.elements}. */
  readonly path: readonly number[];
}

export interface OutlineElement {
  readonly name: string;
  /** Its own signs: class words and element signs. */
  readonly signs: number;
  /** Position of the parent element; -1: none. */
  readonly parent: number;
  readonly depth: number;
  /** Equal for elements of one name and class. */
  readonly looks: number;
  /** Elements of the same parent that look like it, itself included. */
  alike: number;
  /** Characters of all visible text below it, and of its links. */
  chars: number;
  linkChars: number;
  blocks: number;
}

export interface Outline {
  readonly blocks: readonly TextBlock[];
  readonly elements: readonly OutlineElement[];
  readonly kinds: PageKinds;
}

export interface OutlineLimits {
  readonly maxBlocks: number;
  readonly maxChars: number;
}

export const OUTLINE_LIMITS: OutlineLimits = Object.freeze({ maxBlocks: 20_000, maxChars: 2_000_000 });

/** Elements that begin a block: the level of a heading, 0 for others. */
const BLOCKS: ReadonlyMap<string, number> = new Map(
  'address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr li main nav noscript ol p pre section summary table tbody tfoot thead tr td th ul'
    .split(' ')
    .map((name) => [name, /^h[1-6]$/.test(name) ? Number(name[1]) : 0]),
);
/** White space that is more than single spaces. */
const UNFOLDED = /[\t-\r\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]| {2}/;

/** Actions at the end of an open element. */
const PLAIN = 0;
const ANCHOR = 1;
const BLOCK = 2;
const CLOSED = -1;

/**
 * One walk over the DOM, without recursion: a hostile page may nest to any depth. `onText` receives each text and its
 * block.
 */
export function outlineOf(
  root: PageNode,
  signsOf: SignReader = createSignReader(),
  limits: OutlineLimits = OUTLINE_LIMITS,
  onText?: (text: PageNode, block: number) => void,
): Outline {
  const walk = new OutlineWalk(limits, signsOf);
  // Of the open nodes, by depth: the node, its next child, what it is.
  const nodes: PageNode[] = [root];
  const nexts: number[] = [0];
  const kinds: number[] = [PLAIN];
  let depth = 0;
  while (depth >= 0) {
    const child = nodes[depth]!.children?.[nexts[depth]!++];
    if (child === undefined) {
      walk.leave(kinds[depth]!);
      depth--;
    } else if (child.type === 'text') {
      walk.text(child.data ?? '');
      onText?.(child, walk.finished);
    } else {
      const kind = isElement(child) ? walk.enter(child) : child.children === undefined ? CLOSED : PLAIN;
      if (kind === CLOSED) continue;
      depth++;
      nodes[depth] = child;
      nexts[depth] = 0;
      kinds[depth] = kind;
    }
  }
  return walk.end();
}

class OutlineWalk {
  private readonly limits: OutlineLimits;
  private readonly signsOf: SignReader;
  private readonly readKind = createKindReader();
  private readonly blocks: TextBlock[] = [];
  private readonly elements: OutlineElement[] = [];
  /** By class, then by name. */
  private readonly looks = new Map<string | undefined, Map<string, number>>();
  private looksCount = 0;
  /** Block elements around the current node, and the heading level of each. */
  private readonly path: number[] = [];
  private readonly headings: number[] = [];
  /** Number of open elements that hide their content. */
  private hiding = 0;
  private current = '';
  private linkChars = 0;
  private links = 0;
  private anchors = 0;
  private total = 0;
  private wantsSpace = false;

  constructor(limits: OutlineLimits, signsOf: SignReader) {
    this.limits = limits;
    this.signsOf = signsOf;
  }

  /** Number of complete blocks: the position of the current one. */
  get finished(): number {
    return this.blocks.length;
  }

  text(whole: string): void {
    const space = this.limits.maxChars - this.total;
    if (space <= 0 || this.blocks.length >= this.limits.maxBlocks) return;
    const data = whole.length > space ? whole.slice(0, space) : whole;
    const trimmed = data.trim();
    if (trimmed === '') {
      if (this.current !== '' && data !== '') this.wantsSpace = true;
      return;
    }
    const body = UNFOLDED.test(trimmed) ? trimmed.replace(/\s+/g, ' ') : trimmed;
    // Another first character: white space was trimmed.
    const isApart = data.charCodeAt(0) !== trimmed.charCodeAt(0);
    if (this.current === '') this.current = body;
    else this.current += this.wantsSpace || isApart ? ` ${body}` : body;
    this.total += body.length;
    if (this.anchors > 0) this.linkChars += body.length;
    this.wantsSpace = data.charCodeAt(data.length - 1) !== trimmed.charCodeAt(trimmed.length - 1);
  }

  /** The action at its end; `CLOSED`: its content is skipped. */
  enter(node: PageNode): number {
    const { name = '' } = node;
    const signs = this.signsOf(node);
    if ((signs & SILENT) !== 0) {
      this.readKind(node);
      return CLOSED;
    }
    if (name === 'html' || name === 'body') this.readKind(node);
    if (name === 'br') {
      // A line break within a paragraph keeps the block together.
      if (this.current !== '') this.current += '\n';
      this.wantsSpace = false;
      return CLOSED;
    }
    const level = BLOCKS.get(name);
    if (level !== undefined) {
      this.flush();
      this.path.push(this.elements.length);
      this.elements.push(this.elementOf(node, name, signs));
      this.headings.push(level === 0 ? (this.headings[this.headings.length - 1] ?? 0) : level);
      if ((signs & (HIDDEN | NOSCRIPT)) !== 0) this.hiding++;
      return BLOCK;
    }
    if ((signs & HIDDEN) !== 0) return CLOSED;
    if (name !== 'a') return PLAIN;
    this.anchors++;
    this.links++;
    return ANCHOR;
  }

  leave(kind: number): void {
    if (kind === ANCHOR) this.anchors--;
    else if (kind === BLOCK) {
      this.flush();
      const { signs } = this.elements[this.path.pop()!]!;
      if ((signs & (HIDDEN | NOSCRIPT)) !== 0) this.hiding--;
      this.headings.pop();
    }
  }

  end(): Outline {
    this.flush();
    const { blocks, elements } = this;
    // Text was counted for the innermost element; ancestors come before it.
    for (let at = elements.length - 1; at >= 0; at--) {
      const element = elements[at]!;
      if (element.parent < 0) continue;
      const around = elements[element.parent]!;
      around.chars += element.chars;
      around.linkChars += element.linkChars;
      around.blocks += element.blocks;
    }
    countAlike(elements);
    return { blocks, elements, kinds: this.readKind.kinds() };
  }

  private elementOf({ attribs }: PageNode, name: string, signs: number): OutlineElement {
    const classes = attribs?.class;
    let ofClass = this.looks.get(classes);
    if (ofClass === undefined) {
      ofClass = new Map();
      this.looks.set(classes, ofClass);
    }
    let looks = ofClass.get(name);
    if (looks === undefined) {
      looks = this.looksCount++;
      ofClass.set(name, looks);
    }
    // Its own place is on the path already.
    const depth = this.path.length - 1;
    const parent = depth === 0 ? -1 : this.path[depth - 1]!;
    return { name, signs, parent, depth, looks, alike: 1, chars: 0, linkChars: 0, blocks: 0 };
  }

  private flush(): void {
    const { current, path, links } = this;
    if (current !== '') {
      const text = current.endsWith('\n') ? current.trimEnd() : current;
      const linkChars = Math.min(this.linkChars, text.length);
      const holder = path.length === 0 ? undefined : this.elements[path[path.length - 1]!];
      const heading = this.headings[this.headings.length - 1] ?? 0;
      this.blocks.push({ text, linkChars, links, heading, tag: holder?.name ?? 'body', path: path.slice() });
      if (this.hiding === 0 && holder !== undefined) {
        holder.chars += text.length;
        holder.linkChars += linkChars;
        holder.blocks++;
      }
    }
    this.current = '';
    this.linkChars = 0;
    this.links = 0;
    this.wantsSpace = false;
  }
}

/** Counts the siblings that look like each element. */
function countAlike(elements: readonly OutlineElement[]): void {
  const groups = new Map<number, number>();
  const counts: number[] = [];
  const groupOf = new Int32Array(elements.length);
  for (let at = 0; at < elements.length; at++) {
    const { parent, looks } = elements[at]!;
    const key = (parent + 1) * 0x10_0000 + looks;
    let group = groups.get(key);
    if (group === undefined) {
      group = counts.length;
      groups.set(key, group);
      counts.push(0);
    }
    counts[group]!++;
    groupOf[at] = group;
  }
  for (let at = 0; at < elements.length; at++) elements[at]!.alike = counts[groupOf[at]!]!;
}
