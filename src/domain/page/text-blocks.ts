import { createSignReader, HIDDEN, NOSCRIPT, SILENT, type SignReader } from './element-signs.ts';
import { createKindReader, type PageKinds } from './page-kinds.ts';
import { isElement, type PageNode } from './page-node.ts';

/** A run of text between two block boundaries. */
export interface TextBlock {
  /** White space folded. */
  readonly text: string;
  readonly linkChars: number;
  readonly links: number;
  /** 1 to 6 of a heading, else 0. */
  readonly heading: number;
  /** Name of the element that holds it: `p`, `li`, `td`, `div`. */
  readonly tag: string;
  /** Elements around it, outermost first; positions in {@link Outline.elements}. */
  readonly path: readonly number[];
}

export interface OutlineElement {
  readonly name: string;
  /** Its own signs: class words and element signs. */
  readonly signs: number;
  /** Position of the element around it; -1: none. */
  readonly parent: number;
  readonly depth: number;
  /** Equal for elements of one name and class. */
  readonly looks: number;
  /** Elements of the same parent that look like it, itself included. */
  alike: number;
  /** Of all text below that is shown, and of its links, characters. */
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

const BLOCKS = new Set(
  'address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr li main nav noscript ol p pre section summary table tbody tfoot thead tr td th ul'.split(
    ' ',
  ),
);
/** White space that is more than single spaces. */
const UNFOLDED = /[\t-\r\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]| {2}/;
const HEADING = /^h([1-6])$/;

/** One walk over the DOM, without recursion: a hostile page may nest as deep as it likes. `onText` is told to which block a text belongs. */
export function outlineOf(
  root: PageNode,
  signsOf: SignReader = createSignReader(),
  limits: OutlineLimits = OUTLINE_LIMITS,
  onText?: (text: PageNode, block: number) => void,
): Outline {
  const walk = new OutlineWalk(limits, signsOf);
  const open: { readonly node: PageNode; next: number }[] = [{ node: root, next: 0 }];
  for (let at = open.at(-1); at !== undefined; at = open.at(-1)) {
    const child = at.node.children?.[at.next++];
    if (child === undefined) {
      walk.leave(at.node);
      open.pop();
    } else if (child.type === 'text') {
      walk.text(child.data ?? '');
      onText?.(child, walk.finished);
    } else if (isElement(child) ? walk.enter(child) : child.children !== undefined) open.push({ node: child, next: 0 });
  }
  return walk.end();
}

class OutlineWalk {
  private readonly limits: OutlineLimits;
  private readonly signsOf: SignReader;
  private readonly readKind = createKindReader();
  private readonly blocks: TextBlock[] = [];
  private readonly elements: OutlineElement[] = [];
  private readonly looks = new Map<string, number>();
  /** Block elements around, and the heading and tag that each of them stands for. */
  private readonly path: number[] = [];
  private readonly headings: number[] = [];
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

  /** Blocks that are whole: the position of the one at work. */
  get finished(): number {
    return this.blocks.length;
  }

  text(whole: string): void {
    const room = this.limits.maxChars - this.total;
    if (room <= 0 || this.blocks.length >= this.limits.maxBlocks) return;
    const data = whole.length > room ? whole.slice(0, room) : whole;
    const folded = UNFOLDED.test(data) ? data.replace(/\s+/g, ' ') : data;
    const body = folded.trim();
    if (body === '') {
      if (this.current !== '' && folded !== '') this.wantsSpace = true;
      return;
    }
    const lead = this.current !== '' && (this.wantsSpace || folded.startsWith(' ')) ? ' ' : '';
    this.current += lead + body;
    this.total += body.length;
    if (this.anchors > 0) this.linkChars += body.length;
    this.wantsSpace = folded.endsWith(' ');
  }

  /** Whether what is inside is to be read. */
  enter(node: PageNode): boolean {
    const { name = '' } = node;
    const signs = this.signsOf(node);
    if ((signs & SILENT) !== 0) {
      this.readKind(node);
      return false;
    }
    if (name === 'html' || name === 'body') this.readKind(node);
    if (name === 'br') {
      // A line break within a paragraph keeps the block together.
      if (this.current !== '') this.current += '\n';
      this.wantsSpace = false;
      return false;
    }
    if (BLOCKS.has(name)) {
      this.flush();
      this.elements.push(this.elementOf(node, name, signs));
      this.path.push(this.elements.length - 1);
      const level = HEADING.exec(name);
      this.headings.push(level === null ? (this.headings.at(-1) ?? 0) : Number(level[1]));
      return true;
    }
    if ((signs & HIDDEN) !== 0) return false;
    if (name === 'a') {
      this.anchors++;
      this.links++;
    }
    return true;
  }

  leave({ name }: PageNode): void {
    if (name === undefined) return;
    if (name === 'a') this.anchors--;
    else if (BLOCKS.has(name)) {
      this.flush();
      this.path.pop();
      this.headings.pop();
    }
  }

  end(): Outline {
    this.flush();
    const { blocks, elements } = this;
    const counts = new Map<number, number>();
    const keyOf = ({ parent, looks }: OutlineElement): number => (parent + 1) * 2 ** 20 + looks;
    for (const element of elements) counts.set(keyOf(element), (counts.get(keyOf(element)) ?? 0) + 1);
    for (const element of elements) element.alike = counts.get(keyOf(element)) ?? 1;
    return { blocks, elements, kinds: this.readKind.kinds() };
  }

  private elementOf({ attribs }: PageNode, name: string, signs: number): OutlineElement {
    const written = attribs?.class === undefined ? name : `${name} ${attribs.class}`;
    let looks = this.looks.get(written);
    if (looks === undefined) {
      looks = this.looks.size;
      this.looks.set(written, looks);
    }
    const parent = this.path.at(-1) ?? -1;
    return { name, signs, parent, depth: this.path.length, looks, alike: 1, chars: 0, linkChars: 0, blocks: 0 };
  }

  private flush(): void {
    const { current, path, links, elements } = this;
    if (current !== '') {
      const text = current.endsWith('\n') ? current.trimEnd() : current;
      const linkChars = Math.min(this.linkChars, text.length);
      const tag = elements[path.at(-1) ?? -1]?.name ?? 'body';
      this.blocks.push({ text, linkChars, links, heading: this.headings.at(-1) ?? 0, tag, path: [...path] });
      if (path.every((at) => ((elements[at]?.signs ?? 0) & (HIDDEN | NOSCRIPT)) === 0)) {
        for (const at of path) {
          const element = elements[at] as OutlineElement;
          element.chars += text.length;
          element.linkChars += linkChars;
          element.blocks++;
        }
      }
    }
    this.current = '';
    this.linkChars = 0;
    this.links = 0;
    this.wantsSpace = false;
  }
}
