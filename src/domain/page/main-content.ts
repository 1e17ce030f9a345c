import type { PageBlock } from './page-block.ts';
import type { PageNode } from './page-node.ts';
import { type Outline, type OutlineElement, outlineOf, type TextBlock } from './text-blocks.ts';

export interface MainContent {
  /** In reading order, a line a block; empty when the page has no text. */
  readonly text: string;
  readonly outline: Outline;
  /** Which blocks belong to it. */
  readonly isMain: readonly boolean[];
}

/** Share of the text outside links and surroundings that a container must hold to be taken for the content. */
const CONTAINER_SHARE = 0.9;
/** A container that says it is content needs this share. */
const DECLARED_SHARE = 0.35;
const MAX_LINK_DENSITY = 0.5;

/** Headings under which pages put what belongs to other pages. */
const TAIL =
  /^(?:related|you may also|you might also|more (?:from|in|on|stories|news|articles)|read (?:more|next|also)|recommended|see also|share this|latest (?:news|posts|articles|stories)|recent (?:posts|articles)|popular|trending|most (?:read|popular)|comments?|leave a (?:reply|comment)|about the author|tags|categories|newsletter|subscribe|follow us|sign up|advertisement|sponsored)\b/i;

export function mainContent(root: PageNode): MainContent {
  const shown = contentOf(outlineOf(root));
  if (shown.text.length >= LEAST_CHARS) return shown;
  const concealed = contentOf(outlineOf(root, true));
  return concealed.text.length > 2 * shown.text.length ? concealed : shown;
}

/** A page with less may keep its content where scripts do not run. */
const LEAST_CHARS = 400;
/** With this share of its text in links, and so many blocks of them, a page is a list of links: they are its content. */
const INDEX_DENSITY = 0.3;
const INDEX_BLOCKS = 15;

function contentOf(outline: Outline): MainContent {
  const { blocks, elements } = outline;
  const surrounds = surroundsOf(elements);
  const isSurround = blocks.map(({ path }) => path.some((at) => surrounds[at]));
  const container = containerOf(outline, surrounds, isSurround);
  const inside = blocks.map((block, i) => !isSurround[i] && (container === -1 || block.path.includes(container)));
  const isIndex = isIndexPage(blocks.filter((_, i) => inside[i]));
  const isMain = blocks.map((block, i) => inside[i] === true && (isIndex || isContent(block)));
  dropTails(outline, isMain);
  if (!isIndex) dropLoneHeadings(outline, isMain);
  let text = linesOf(outline, isMain);
  // Everything looked like surroundings: better all that is no mere link than nothing.
  if (text.length < 80) {
    for (const [i, block] of blocks.entries()) isMain[i] = isContent(block);
    text = linesOf(outline, isMain);
  }
  return { text, outline, isMain };
}

function isIndexPage(blocks: readonly TextBlock[]): boolean {
  let chars = 0;
  let linkChars = 0;
  let linked = 0;
  for (const block of blocks) {
    chars += block.text.length;
    linkChars += block.linkChars;
    if (block.linkChars > block.text.length / 2) linked++;
  }
  return linked >= INDEX_BLOCKS && linkChars >= INDEX_DENSITY * chars;
}

/** What calls itself surroundings but holds much of the page's text is none: a name is not to be relied on. */
const MOST_OF_A_SURROUND = 0.4;

/** What only its class calls surroundings is some when it is mostly links, or little. */
const WORDY_DENSITY = 0.25;
const LITTLE_OF_THE_PAGE = 0.05;

function surroundsOf(elements: readonly OutlineElement[]): boolean[] {
  const plain = ({ chars, linkChars }: OutlineElement): number => chars - linkChars;
  const total = elements.reduce((most, element) => Math.max(most, plain(element)), 0);
  return elements.map((element) => {
    const own = plain(element);
    if (element.surround === null || own >= MOST_OF_A_SURROUND * total) return false;
    if (element.surround === 'surely') return true;
    return element.linkChars > WORDY_DENSITY * element.chars || own < LITTLE_OF_THE_PAGE * total;
  });
}

const linesOf = (outline: Outline, isMain: readonly boolean[]): string =>
  outline.blocks
    .filter((_, i) => isMain[i])
    .map(({ text }) => text)
    .join('\n');

/** The element that holds the content: one that says so, else the deepest that holds nearly all plain text. -1: the whole page. */
function containerOf(
  { blocks, elements }: Outline,
  surrounds: readonly boolean[],
  isSurround: readonly boolean[],
): number {
  const plain = new Float64Array(elements.length);
  let total = 0;
  for (const [i, { text, linkChars, path }] of blocks.entries()) {
    if (isSurround[i]) continue;
    total += text.length - linkChars;
    for (const at of path) plain[at] = (plain[at] ?? 0) + text.length - linkChars;
  }
  if (total === 0) return -1;
  let best = -1;
  let bestDepth = -1;
  for (const [at, element] of elements.entries()) {
    if (surrounds[at] || !isContainer(element)) continue;
    const share = (plain[at] ?? 0) / total;
    if (share < (element.isContent ? DECLARED_SHARE : CONTAINER_SHARE)) continue;
    // What is declared wins over what merely holds much; of either, the deepest.
    const depth = element.depth + (element.isContent ? 1_000 : 0);
    if (depth > bestDepth) {
      best = at;
      bestDepth = depth;
    }
  }
  return best;
}

const isContainer = ({ name }: OutlineElement): boolean =>
  /^(?:main|article|section|div|td|body|form|center)$/.test(name);

function isContent({ text, linkChars, heading, tag }: TextBlock): boolean {
  if (heading > 0) return true;
  const density = linkChars / text.length;
  if (density <= MAX_LINK_DENSITY) return true;
  // A list of links may be the content; a lone link between paragraphs is not.
  return tag === 'td' || tag === 'th';
}

/** From a heading that announces other pages on, as deep as it stands. */
function dropTails({ blocks }: Outline, isMain: boolean[]): void {
  for (let i = 0; i < blocks.length; i++) {
    const block = blocks[i] as TextBlock;
    if (block.heading === 0 || !isMain[i] || !TAIL.test(block.text)) continue;
    const around = block.path.at(-2);
    for (let j = i; j < blocks.length; j++) {
      const next = blocks[j] as TextBlock;
      if (around !== undefined && !next.path.includes(around)) break;
      if (j > i && next.heading > 0 && next.heading <= block.heading && !TAIL.test(next.text)) break;
      isMain[j] = false;
    }
  }
}

/** A heading whose text is gone says nothing. */
function dropLoneHeadings({ blocks }: Outline, isMain: boolean[]): void {
  for (let i = blocks.length - 1, hasText = false, level = 7; i >= 0; i--) {
    const { heading } = blocks[i] as TextBlock;
    if (!isMain[i]) continue;
    if (heading === 0) {
      hasText = true;
      level = 7;
    } else {
      if (!hasText && heading >= level && heading > 1) isMain[i] = false;
      hasText = false;
      level = heading;
    }
  }
}

/** The blocks of a page as reports and signatures know them. */
export function pageBlocks({ outline, isMain }: MainContent, max: number): PageBlock[] {
  const { blocks, elements } = outline;
  const seen = new Map<string, number>();
  return blocks.slice(0, max).map((block, i) => {
    const names = block.path.slice(-4).map((at) => elements[at]?.name ?? '');
    const place = names.join('>');
    const count = (seen.get(place) ?? 0) + 1;
    seen.set(place, count);
    const { text, links, linkChars } = block;
    return { type: isMain[i] ? 'main' : 'noise', path: `${place}:${count}`, text, links, anchorChars: linkChars };
  });
}
