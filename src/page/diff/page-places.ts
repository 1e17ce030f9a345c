import { BlockTable, MAIN_BLOCK } from '../block-table.ts';
import { type PageBlock, placeOf } from '../page-block.ts';
import { utf8Slice } from '../tape/interned-texts.ts';
import { trimmed, Utf8Text } from '../text/utf8.ts';

/** The texts of a page in addition to its blocks. */
export interface PageTexts {
  readonly title: string | null;
  /** Absent: as `title`. */
  readonly documentTitle?: string | null;
  /** All its text; used when it was not divided into blocks and has no main content. */
  readonly text: string;
  readonly mainText: string | null;
}

/** What can be read of a page, as parsing found it. */
export interface ReadPage extends PageTexts {
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

const documentTitle = (page: PageTexts): string | null =>
  page.documentTitle === undefined ? page.title : page.documentTitle;

/** All texts of a page in reading order: each is in one place, whatever class it has. */
export function placedTexts(page: ReadPage): PlacedText[] {
  const { blocks } = page;
  const title = documentTitle(page);
  const beside = textBeside(page, new BlockTable().fill(blocks));
  return [
    { place: TITLE_PLACE, text: title ?? '', isMain: false },
    ...blocks.map(({ path, text, type }) => ({ place: placeOf(path), text, isMain: type === 'main' })),
    { place: TEXT_PLACE, text: beside, isMain: true },
  ].filter(({ text }) => text.trim() !== '');
}

/**
 * The text outside all blocks: without blocks, all text; with blocks, the part of the main content after the last
 * block.
 */
function textBeside(page: PageTexts, blocks: BlockTable): string {
  const { mainText } = page;
  if (blocks.count === 0) return mainText ?? page.text;
  if (mainText === null) return '';
  let listed = -1;
  for (let at = 0; at < blocks.count; at++) if (blocks.types[at] === MAIN_BLOCK) listed += blocks.chars[at]! + 1;
  const chars = Math.max(0, listed);
  return mainText.length > chars && mainText.startsWith(blocks.mainText()) ? mainText.slice(chars) : '';
}

interface Place {
  readonly name: string;
  isMain: boolean;
  chars: number;
  /** Its blocks, and other text before and after them. */
  readonly blocks: number[];
  before: string;
  behind: string;
}

const source = new Utf8Text();
const words = new Utf8Text();

/** A print for each place of a page, content first, larger places first. */
export function placePrints(page: PageTexts, blocks: BlockTable): PlacePrint[] {
  return [...placesOf(page, blocks).values()]
    .sort((a, b) => Number(b.isMain) - Number(a.isMain) || b.chars - a.chars || (a.name < b.name ? -1 : 1))
    .map((place) => [place.name, printOfPlace(place, blocks)]);
}

function placesOf(page: PageTexts, blocks: BlockTable): Map<string, Place> {
  const places = new Map<string, Place>();
  const add = (name: string, chars: number, isMain: boolean): Place => {
    let place = places.get(name);
    if (place === undefined) {
      place = { name, isMain, chars: 0, blocks: [], before: '', behind: '' };
      places.set(name, place);
    }
    place.isMain ||= isMain;
    place.chars += chars;
    return place;
  };
  const title = documentTitle(page);
  if (title !== null && title.trim() !== '') add(TITLE_PLACE, title.length, false).before = title;
  for (let at = 0; at < blocks.count; at++) {
    if (isBlank(blocks, at)) continue;
    const name = blocks.placeNames[blocks.places[at]!]!;
    add(name, blocks.chars[at]!, blocks.types[at] === MAIN_BLOCK).blocks.push(at);
  }
  const beside = textBeside(page, blocks);
  if (beside.trim() !== '') add(TEXT_PLACE, beside.length, true).behind = beside;
  return places;
}

function isBlank({ bytes, starts, ends }: BlockTable, at: number): boolean {
  // Nearly all begin with a character that is not white space.
  const [from, to] = [starts[at]!, ends[at]!];
  if (from < to && bytes[from]! > 0x20 && bytes[from]! < 0x80) return false;
  const [first, end] = trimmed(bytes, from, to);
  return first === end;
}

function printOfPlace({ blocks: rows, before, behind }: Place, blocks: BlockTable): number {
  const { bytes, starts, ends, chars, isFolded } = blocks;
  words.clear();
  addWords(before);
  for (const at of rows) {
    if (isFolded[at] === 1) words.addWords(bytes, starts[at]!, ends[at]!, chars[at]!);
    else words.addFolded(bytes, starts[at]!, ends[at]!);
  }
  addWords(behind);
  return shortPrintOf(words);
}

function addWords(text: string): void {
  if (text === '') return;
  source.clear();
  source.addString(text);
  words.addFolded(source.bytes, 0, source.end);
}

const SEED = 0x811c9dc5;
const PRIME = 0x01000193;
/** UTF-16 units hashed at a time; the last word of each part ends in zeros. */
const PART = 8_192;
const encoder = new TextEncoder();

/**
 * Fingerprint of a text, 32 bits: FNV-1a (Fowler, Noll, Vo) over UTF-8, four bytes a step, which is several times as
 * fast as over the characters of a string.
 */
function printOf(text: Utf8Text): number {
  const { bytes, end, units } = text;
  if (text.isAscii || units <= PART) return hashed(SEED ^ units, bytes, end) >>> 0;
  // Parts of a text with wide characters end where its string would be cut.
  const string = utf8Slice(bytes, 0, end);
  let hash = SEED ^ units;
  for (let from = 0; from < units; from += PART) {
    const part = encoder.encode(string.slice(from, from + PART));
    hash = hashed(hash, part, part.length);
  }
  return hash >>> 0;
}

function hashed(before: number, bytes: Uint8Array, end: number, start = 0): number {
  let hash = before;
  let at = start;
  for (; at + 3 < end; at += 4) {
    hash = stepped(hash, bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24));
  }
  if (at === end) return hash;
  let last = 0;
  for (let shift = 0; at < end; at++, shift += 8) last |= bytes[at]! << shift;
  return stepped(hash, last);
}

function stepped(hash: number, word: number): number {
  const next = Math.imul(hash ^ word, PRIME);
  return next ^ (next >>> 15);
}

/** As {@link printOf}, of a range of bytes; equal to it for ASCII. */
export const rangePrintOf = (bytes: Uint8Array, from: number, to: number): number =>
  hashed(SEED ^ (to - from), bytes, to, from) >>> 0;

/** Print of texts in their order; a single text keeps its own. */
export const joinedPrint = (prints: readonly number[]): number =>
  prints.length === 1 ? prints[0]! : prints.reduce(stepped, SEED) >>> 0;

/** Bits of a print of words. */
export const PRINT_BITS = 24;

/** As {@link printOf}, {@link PRINT_BITS} wide. */
const shortPrintOf = (text: Utf8Text): number => printOf(text) >>> (32 - PRINT_BITS);
