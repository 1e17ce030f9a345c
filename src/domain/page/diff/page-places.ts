import type { PageBlock } from '../page-block.ts';
import { wordsPrint } from './text-print.ts';

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

/** The place of a path: it without the count. */
export function placeOf(path: string): string {
  const colon = path.lastIndexOf(':');
  const to = colon < 0 ? path.length : colon;
  return path.slice(Math.max(0, to - MAX_PATH_CHARS), to);
}

/** All texts of a page in reading order: each is in one place, whatever class it has. */
export function placedTexts(page: ReadPage): PlacedText[] {
  const texts: PlacedText[] = [];
  eachText(page, page.blocks.map(blockPlace), (place, text, isMain) => texts.push({ place, text, isMain }));
  return texts;
}

const blockPlace = ({ path }: PageBlock): string => placeOf(path);

function eachText(
  page: ReadPage,
  places: readonly string[],
  take: (place: string, text: string, isMain: boolean) => void,
): void {
  const { title, blocks } = page;
  if (title !== null && isText(title)) take(TITLE_PLACE, title, false);
  for (let i = 0; i < blocks.length; i++) {
    const { text, type } = blocks[i]!;
    if (isText(text)) take(places[i]!, text, type === 'main');
  }
  const beside = textBeside(page);
  if (isText(beside)) take(TEXT_PLACE, beside, true);
}

/** Most texts begin with a character above the controls and the space. */
const isText = (text: string): boolean =>
  (text.charCodeAt(0) > 0x20 && text.charCodeAt(0) < 0x80) || text.trim() !== '';

/** The text that is in no block: all of it without blocks; with them what the main content has beyond the last one. */
function textBeside({ text, mainText, blocks }: ReadPage): string {
  if (blocks.length === 0) return mainText ?? text;
  if (mainText === null) return '';
  let chars = -1;
  for (const { type, text: listed } of blocks) if (type === 'main') chars += listed.length + 1;
  if (mainText.length <= Math.max(0, chars)) return '';
  const main = blocks.filter(({ type }) => type === 'main').map((block) => block.text);
  return mainText.startsWith(main.join('\n')) ? mainText.slice(Math.max(0, chars)) : '';
}

/**
 * A print for each place of a page, content first, larger places first. `places`: that of each block, where known
 * already.
 */
export function placePrints(page: ReadPage, places: readonly string[] = page.blocks.map(blockPlace)): PlacePrint[] {
  const found = new Map<string, { isMain: boolean; chars: number; readonly texts: string[] }>();
  eachText(page, places, (place, text, isMain) => {
    const known = found.get(place);
    if (known === undefined) {
      found.set(place, { isMain, chars: text.length, texts: [text] });
      return;
    }
    known.isMain ||= isMain;
    known.chars += text.length;
    known.texts.push(text);
  });
  return [...found]
    .sort(([a, one], [b, other]) => {
      return Number(other.isMain) - Number(one.isMain) || other.chars - one.chars || (a < b ? -1 : 1);
    })
    .map(([place, { texts }]) => [place, wordsPrint(texts)]);
}
