import { createClassifier } from './boilerplate.ts';
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
  readonly isContent: boolean;
  /** Whether its name or role calls it surroundings, or only its class or id; what it holds may say otherwise. */
  readonly surround: 'surely' | 'perhaps' | null;
  readonly parent: number;
  readonly depth: number;
  /** Of all text below, and of its links, characters. */
  chars: number;
  linkChars: number;
  blocks: number;
}

export interface Outline {
  readonly blocks: readonly TextBlock[];
  readonly elements: readonly OutlineElement[];
}

export interface OutlineLimits {
  readonly maxBlocks: number;
  readonly maxChars: number;
}

export const OUTLINE_LIMITS: OutlineLimits = Object.freeze({ maxBlocks: 20_000, maxChars: 2_000_000 });

const BLOCKS = new Set(
  'address article aside blockquote body br caption center dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr li main nav ol p pre section summary table tbody tfoot thead tr td th ul'.split(
    ' ',
  ),
);
/** White space that is more than single spaces. */
const UNFOLDED = /[\t-\r\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]| {2}/;
const HEADING = /^h([1-6])$/;

/** One walk over the DOM, without recursion: a hostile page may nest as deep as it likes. */
export function outlineOf(root: PageNode, concealed = false, limits: OutlineLimits = OUTLINE_LIMITS): Outline {
  const classOf = createClassifier(concealed);
  const blocks: TextBlock[] = [];
  const elements: OutlineElement[] = [];
  let text = '';
  let linkChars = 0;
  let links = 0;
  let total = 0;
  let wantsSpace = false;
  const path: number[] = [];
  let heading = 0;
  let anchors = 0;
  let tag = 'body';

  const flush = (): void => {
    if (text !== '') {
      const block = {
        text,
        linkChars: Math.min(linkChars, text.length),
        links,
        heading,
        tag,
        path: [...path],
      };
      blocks.push(block);
      for (const at of path) {
        const element = elements[at] as OutlineElement;
        element.chars += text.length;
        element.linkChars += block.linkChars;
        element.blocks++;
      }
    }
    text = '';
    linkChars = 0;
    links = 0;
    wantsSpace = false;
  };

  type Step = { readonly node: PageNode; readonly isEnd: boolean; readonly undo?: () => void };
  const stack: Step[] = [{ node: root, isEnd: false }];
  for (let step = stack.pop(); step !== undefined; step = stack.pop()) {
    const { node } = step;
    if (step.isEnd) {
      step.undo?.();
      continue;
    }
    if (node.type === 'text') {
      if (total >= limits.maxChars || blocks.length >= limits.maxBlocks) continue;
      const data = node.data ?? '';
      const folded = UNFOLDED.test(data) ? data.replace(/[\s\u00a0]+/g, ' ') : data;
      if (folded === ' ' || folded === '') {
        if (text !== '' && folded !== '') wantsSpace = true;
        continue;
      }
      const body = folded.trim();
      const lead = text !== '' && (wantsSpace || folded.startsWith(' ')) ? ' ' : '';
      text += lead + body;
      total += body.length;
      if (anchors > 0) linkChars += body.length;
      wantsSpace = folded.endsWith(' ');
      continue;
    }
    if (!isElement(node)) {
      // The document itself.
      for (const child of [...(node.children ?? [])].reverse()) stack.push({ node: child, isEnd: false });
      continue;
    }
    const { name = '', children = [] } = node;
    const kind = classOf(node);
    if (kind === 'silent') continue;
    if (name === 'br') {
      // A line break within a paragraph keeps the block together.
      if (text !== '') text += '\n';
      wantsSpace = false;
      continue;
    }
    const isBlock = BLOCKS.has(name);
    if (isBlock) {
      flush();
      const parent = path.at(-1) ?? -1;
      const level = HEADING.exec(name);
      const before = { heading, tag };
      elements.push({
        name,
        isContent: kind === 'content',
        surround: kind === 'surround' ? 'surely' : kind === 'perhaps-surround' ? 'perhaps' : null,
        parent,
        depth: path.length,
        chars: 0,
        linkChars: 0,
        blocks: 0,
      });
      path.push(elements.length - 1);
      if (level !== null) heading = Number(level[1]);
      tag = name;
      stack.push({
        node,
        isEnd: true,
        undo: () => {
          flush();
          path.pop();
          heading = before.heading;
          tag = before.tag;
        },
      });
    } else if (name === 'a') {
      anchors++;
      links++;
      stack.push({ node, isEnd: true, undo: () => void anchors-- });
    }
    for (let i = children.length - 1; i >= 0; i--) stack.push({ node: children[i] as PageNode, isEnd: false });
  }
  flush();
  return { blocks, elements };
}
