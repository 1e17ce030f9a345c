// page/diff/: differences of texts by words, and prints of the parts of a page.

import type { BlockTable } from '../block-table.ts';
import { certainBlocks, isProseSigned } from '../content/signed-text.ts';
import { addProseOf, isSteadyLine } from '../prose/prose.ts';
import { Utf8Text } from '../text/utf8.ts';
import { joinedPrint, rangePrintOf } from './page-places.ts';
import { ELSEWHERE } from './place-diff.ts';

/** Fingerprint of one place of a page at a visit. */
export interface BlockPrint {
  /** Path in the DOM: the elements of its blocks, as `body>main>article>p`. */
  readonly path: string;
  /** 32 bits, equal for equal text. */
  readonly print: number;
  /** Characters that were counted. */
  readonly chars: number;
  /** Whether it belongs to the signed text. */
  readonly isMain: boolean;
  /** Its elements in reading order, where it is content and has several. */
  readonly siblings?: readonly SiblingPrint[];
}

/**
 * Fingerprint of one of the elements at a place, 16 bits, not 0; the characters that were counted; and its number
 * among the blocks of its path, from 1. The number 0 stands for all further elements.
 */
export type SiblingPrint = readonly [print: number, chars: number, nth: number];

/**
 * Most places kept for a page: the largest, content first. If the content has more, the last one stands for the rest.
 */
export const MAX_BLOCK_PRINTS = 12;
/** Most elements of a page that are distinguished. */
export const MAX_SIBLINGS = 64;

interface Place {
  readonly path: string;
  readonly isMain: boolean;
  /** Its blocks that count, and their characters. */
  readonly counted: number[];
  chars: number;
}

/** What counts of each block: a range of bytes, and its UTF-16 units. */
interface CountedText {
  readonly bytes: Uint8Array;
  readonly starts: Int32Array;
  readonly ends: Int32Array;
  readonly units: Int32Array;
}

/** What counts in the content, and around it. */
interface CountedTexts {
  readonly isMain: Uint8Array;
  readonly content: CountedText;
  readonly around: CountedText;
}

/** Lines of the content that are signed for change, and where those of each block begin and end. */
const prose = new Utf8Text();

/**
 * Fingerprints of the blocks of a page by place. Elements of one kind in one container are one place, so that another
 * paragraph changes one print and shifts none. In the content, only text that is signed for change counts: the steady
 * lines, or all text.
 */
export function blockPrints(blocks: BlockTable): BlockPrint[] {
  const texts = countedTexts(blocks);
  const places = placesIn(blocks, texts);
  const content = places.filter(({ isMain }) => isMain).sort(byChars);
  const kept = content.length <= MAX_BLOCK_PRINTS ? content : content.slice(0, MAX_BLOCK_PRINTS - 1);
  const others = content.slice(kept.length);
  let left = MAX_SIBLINGS;
  const prints = kept.map((place) => {
    const print = printOfPlace(place, texts.content, blocks, left);
    left -= print.siblings?.length ?? 0;
    return print;
  });
  if (others.length > 0) prints.push(printOfPlace(joined(others), texts.content, blocks, 0));
  const around = places.filter(({ isMain }) => !isMain).sort(byChars);
  for (const place of around.slice(0, MAX_BLOCK_PRINTS - prints.length)) {
    prints.push(printOfPlace(place, texts.around, blocks, 0));
  }
  return prints;
}

const byChars = (a: Place, b: Place): number => b.chars - a.chars || (a.path < b.path ? -1 : 1);

const joined = (places: readonly Place[]): Place => ({
  path: ELSEWHERE,
  isMain: true,
  counted: places.flatMap(({ counted }) => counted),
  chars: places.reduce((sum, { chars }) => sum + chars, 0),
});

function countedTexts(blocks: BlockTable): CountedTexts {
  const { count, bytes, starts, ends, chars } = blocks;
  const isMain = certainBlocks(blocks);
  const lines = { starts: new Int32Array(count), ends: new Int32Array(count), units: new Int32Array(count) };
  prose.clear();
  for (let at = 0; at < count; at++) {
    if (isMain[at] === 0) continue;
    const before = prose.units;
    lines.starts[at] = prose.end;
    addProseOf(blocks, at, prose, isSteadyLine);
    lines.ends[at] = prose.end;
    lines.units[at] = prose.units - before;
  }
  const whole = { bytes, starts, ends, units: chars };
  const isProse = isProseSigned(prose.units, blocks, isMain);
  return { isMain, content: isProse ? { ...lines, bytes: prose.bytes } : whole, around: whole };
}

/** Content that is not signed weighs nothing. */
function placesIn({ count, places: numbers, placeNames }: BlockTable, texts: CountedTexts): Place[] {
  const content = new Map<number, Place>();
  const around = new Map<number, Place>();
  for (let at = 0; at < count; at++) {
    const isMain = texts.isMain[at] === 1;
    const chars = (isMain ? texts.content : texts.around).units[at]!;
    if (chars === 0) continue;
    const places = isMain ? content : around;
    const number = numbers[at]!;
    const place = places.get(number);
    if (place === undefined) places.set(number, { path: placeNames[number]!, isMain, counted: [at], chars });
    else {
      place.counted.push(at);
      place.chars += chars;
    }
  }
  return [...content.values(), ...around.values()];
}

/** @param most how many elements can be distinguished; below two, none are */
function printOfPlace(
  { path, isMain, counted, chars }: Place,
  { bytes, starts, ends, units }: CountedText,
  { nths }: BlockTable,
  most: number,
): BlockPrint {
  const prints = counted.map((at) => rangePrintOf(bytes, starts[at]!, ends[at]!));
  const print = joinedPrint(prints);
  if (!isMain || most < 2 || prints.length < 2) return { path, isMain, chars, print };
  const apart = prints.length <= most ? prints.length : most - 1;
  const siblings = prints.slice(0, apart).map((own, i): SiblingPrint => {
    const at = counted[i]!;
    return [shortPrint(own), units[at]!, nths[at]!];
  });
  if (apart < prints.length) {
    const rest = counted.slice(apart).reduce((sum, at) => sum + units[at]!, 0);
    siblings.push([shortPrint(joinedPrint(prints.slice(apart))), rest, 0]);
  }
  return { path, isMain, chars, print, siblings };
}

const shortPrint = (print: number): number => print >>> 16 || 1;
