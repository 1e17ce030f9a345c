import type { PageBlock } from '../page-block.ts';
import type { createWordPrint } from './word-print.ts';

/** What can be read of a page, as parsing found it. */
export interface ReadPage {
  readonly title: string | null;
  /** All its text; counts where it was not cut into blocks and has no main content. */
  readonly text: string;
  readonly mainText: string | null;
  readonly blocks: readonly PageBlock[];
}

/** A text of a page with its place: elements of one kind in one container, as `body>main>article>p`. */
export interface PlacedText {
  readonly place: string;
  readonly text: string;
  /** Whether it is content. */
  readonly isMain: boolean;
}

/** A place of a page, and the fingerprint of all its words in reading order. */
export type PlacePrint = readonly [place: string, print: number];

/** The place of the title, and of text that is in no block. */
export const TITLE_PLACE = 'title';
export const TEXT_PLACE = 'text';

/** Cuts a path from its beginning: the end says most. */
const MAX_PATH_CHARS = 120;

/** The place of a block: its path without the count. */
export function placeOf(path: string): string {
  const colon = path.lastIndexOf(':');
  const to = colon < 0 ? path.length : colon;
  return path.slice(Math.max(0, to - MAX_PATH_CHARS), to);
}

/** All texts of a page in reading order: each is in one place, whatever class it has. */
export function placedTexts(page: ReadPage): PlacedText[] {
  const texts = page.blocks.map(({ path, text, type }) => ({ place: placeOf(path), text, isMain: type === 'main' }));
  const parts = [
    { place: TITLE_PLACE, text: page.title ?? '', isMain: false },
    ...texts,
    { place: TEXT_PLACE, text: textBeside(page), isMain: true },
  ];
  return parts.filter(({ text }) => text.trim() !== '');
}

/** The text that is in no block: all of it without blocks; with them what the main content has beyond the last one. */
function textBeside({ text, mainText, blocks }: ReadPage): string {
  if (blocks.length === 0) return mainText ?? text;
  if (mainText === null) return '';
  const listed = blocks
    .filter(({ type }) => type === 'main')
    .map((block) => block.text)
    .join('\n');
  return mainText.length > listed.length && mainText.startsWith(listed) ? mainText.slice(listed.length) : '';
}

/** A print for each place of a page, content first, larger places first. */
export function placePrints(page: ReadPage, printOf: ReturnType<typeof createWordPrint>): PlacePrint[] {
  const places = new Map<string, { isMain: boolean; chars: number; readonly texts: string[] }>();
  for (const { place, text, isMain } of placedTexts(page)) {
    let found = places.get(place);
    if (found === undefined) {
      found = { isMain: false, chars: 0, texts: [] };
      places.set(place, found);
    }
    found.isMain ||= isMain;
    found.chars += text.length;
    found.texts.push(text);
  }
  return [...places]
    .sort(([a, one], [b, other]) => {
      return Number(other.isMain) - Number(one.isMain) || other.chars - one.chars || (a < b ? -1 : 1);
    })
    .map(([place, { texts }]) => [place, printOf(texts)]);
}
