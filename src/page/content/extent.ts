import { lettersOf } from '../metadata/site-names.ts';
import type { Tape } from '../tape/tape.ts';
import { isMostlyIn, noscriptElements } from './block-context.ts';
import { contentRegion, elementSpans, plainWidth } from './choice.ts';
import {
  ADVERT,
  CONTENT,
  FOOT,
  FORM,
  HEADER,
  NAVIGATION,
  OVERLAY,
  SHARE,
  SIDE,
  SURROUND,
  UNSEEN,
} from './element-signs.ts';
import { createMainContent, type MainContent, textOf } from './main-content.ts';
import { type Outline, OutlineReader } from './outline.ts';
import { shownBlocks } from './page-blocks.ts';
import { pageShape } from './page-shape.ts';

/** Signs of navigation, header and footer; comments and the like are text of the page. */
const FRAME = NAVIGATION | FOOT | SIDE | SHARE | ADVERT | OVERLAY | FORM | UNSEEN | SURROUND;
/** Outside the content, an element with a larger share of its text in links is unnamed navigation. */
const MOST_LINKED = 1 / 3;

/**
 * Everything a page shows except its navigation, header, footer and sidebars: elements that are these by name, role or
 * class, a `header` outside the content, and elements outside the content that consist of links. Main content always
 * stays.
 */
function createContentWithoutNavigation(): (tape: Tape) => MainContent {
  const mainContent = createMainContent();
  return (tape) => {
    const found = mainContent(tape);
    const { outline } = found;
    const isMain = unframedBlocks(found);
    return { ...found, text: textOf(outline, isMain), isMain, headline: null };
  };
}

function unframedBlocks({ outline, isMain, headline }: MainContent): Uint8Array {
  const { blockCount, blocks } = outline;
  const { isShown, signsOf } = pageShape(outline);
  const isLinks = linkElements(outline, isMain);
  const isFramed = (element: number): boolean => {
    const signs = signsOf[element]!;
    return (signs & FRAME) !== 0 || (signs & (HEADER | CONTENT)) === HEADER || isLinks[element] === 1;
  };
  return Uint8Array.from({ length: blockCount }, (_, i) => {
    if (isMain[i] === 1 || (headline !== null && i >= headline.from && i < headline.end)) return 1;
    const holder = blocks.holder[i]!;
    return Number(isShown[i] === 1 && (holder < 0 || !isFramed(holder)));
  });
}

/** 1 for each element inside an element outside the content that consists of links. */
function linkElements(outline: Outline, isMain: Uint8Array): Uint8Array {
  const { blockCount, elementCount, elements } = outline;
  const isLinks = new Uint8Array(elementCount);
  const chosen = new Float64Array(blockCount + 1);
  for (let i = 0; i < blockCount; i++) chosen[i + 1] = chosen[i]! + (isMain[i] === 1 ? plainWidth(outline, i) : 0);
  if (chosen[blockCount] === 0) return isLinks;
  const spans = elementSpans(outline);
  const region = contentRegion(outline, spans, chosen);
  const isAround = new Uint8Array(elementCount);
  for (let at = region; at >= 0; at = elements.parent[at]!) isAround[at] = 1;
  for (let at = 0; at < elementCount; at++) {
    const parent = elements.parent[at]!;
    if (isAround[at] === 1 || at === region || spans.first[at]! < 0) continue;
    if (parent === region || (parent >= 0 && isAround[parent] === 0)) isLinks[at] = parent < 0 ? 0 : isLinks[parent]!;
    else {
      const isChosen = chosen[spans.end[at]!]! > chosen[spans.first[at]!]!;
      isLinks[at] = Number(!isChosen && elements.linkChars[at]! > MOST_LINKED * elements.chars[at]!);
    }
  }
  return isLinks;
}

/** Takes everything a page shows as its main content: a document has no navigation around it to leave out. */
export function createWholeContent(): (tape: Tape) => MainContent {
  const outlines = new OutlineReader();
  return (tape) => {
    const outline = outlines.read(tape);
    const isMain = shownBlocks(outline);
    return { text: textOf(outline, isMain), outline, isMain, headline: null, certainty: Float64Array.from(isMain) };
  };
}

/** How much of a page is its content: the main content, the page without navigation, or all of a document. */
export type Extent = 'main' | 'page' | 'document';

/** A finder for each extent, created on first use. */
export function createContents(): Readonly<Record<Extent, (tape: Tape) => MainContent>> {
  const makers = { main: createMainContent, page: createContentWithoutNavigation, document: createWholeContent };
  const finders = new Map<Extent, (tape: Tape) => MainContent>();
  const finder =
    (extent: Extent) =>
    (tape: Tape): MainContent => {
      const found = finders.get(extent) ?? makers[extent]();
      finders.set(extent, found);
      return found(tape);
    };
  return { main: finder('main'), page: finder('page'), document: finder('document') };
}

/** Shorter text counts as a notice. */
const LEAST_BODY = 200;
/** A stated text this many times as long as what was found is more than a summary of it. */
const LONGER = 2;
/** Number of passages of it that are looked for in the page, and their length in letters. */
const PASSAGES = 6;
const PASSAGE_LETTERS = 24;

/**
 * Whether a page is the shell of an application whose content is the text that it states. The stated text must be at
 * least {@link LONGER} times as long as the main content found. No passage of it may stand in the page, not even in
 * parts that are hidden or for clients without scripts. Pages that show their text, or the beginning of it, are not
 * shells.
 *
 * @param stated text of its structured data (JSON-LD `articleBody`)
 */
export function isShellOf({ text, outline }: MainContent, stated: string): boolean {
  if (stated.length < LEAST_BODY || stated.length < LONGER * text.length) return false;
  const wanted = lettersOf(stated);
  if (wanted.length < LEAST_BODY / 2) return false;
  let shown = '';
  for (let i = 0; i < outline.blockCount; i++) shown += outline.textOf(i);
  const letters = lettersOf(shown);
  for (let i = 0; i < PASSAGES; i++) {
    const from = Math.round(((wanted.length - PASSAGE_LETTERS) * i) / (PASSAGES - 1));
    if (letters.includes(wanted.slice(from, from + PASSAGE_LETTERS))) return false;
  }
  return true;
}

/** Whether most of the main content stands in `noscript` elements. */
export function isFromNoscript({ isMain, outline }: MainContent): boolean {
  const around = noscriptElements(outline);
  return around !== null && isMostlyIn(outline, around, isMain);
}
