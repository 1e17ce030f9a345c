// domain/page/diff/: differences of texts by words, and prints of the parts of a page.
import type { BlockTable } from '../block-table.ts';
import { addProseOf } from '../content/prose-lines.ts';
import { certainBlocks, isProseSigned } from '../content/signed-text.ts';
import { Utf8Text } from '../text/utf8-text.ts';
import { ELSEWHERE } from './changed-places.ts';
import { printOf, rangePrintOf } from './text-print.ts';

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
  /** Its elements in reading order, where it is content and has several; absent in segments of older versions. */
  readonly siblings?: readonly SiblingPrint[];
}

/**
 * Fingerprint of one of the elements at a place, 16 bits, not 0; the characters that were counted; and its number
 * among the blocks of its path, from 1. The number 0 stands for all further elements.
 */
export type SiblingPrint = readonly [print: number, chars: number, nth: number];

/** Most places kept of a page: the largest, content first. Where the content has more, the last one has its rest. */
export const MAX_BLOCK_PRINTS = 12;
/** Most elements of a page that are told apart. */
export const MAX_SIBLINGS = 64;

interface Place {
  readonly path: string;
  readonly isMain: boolean;
  readonly isProse: boolean;
  /** Its blocks that count, and their characters. */
  readonly counted: number[];
  chars: number;
}

const FEED = 0x0a;
const prose = new Utf8Text();
const text = new Utf8Text();

/**
 * Fingerprints of the blocks of a page by place. Elements of one kind in one container are one place, so that another
 * paragraph changes one print and shifts none. In the content that counts which is signed: the sentences, or all text.
 */
export function blockPrints(blocks: BlockTable): BlockPrint[] {
  const places = placesIn(blocks);
  const content = places.filter(({ isMain }) => isMain).sort(byChars);
  const kept = content.length <= MAX_BLOCK_PRINTS ? content : content.slice(0, MAX_BLOCK_PRINTS - 1);
  let left = MAX_SIBLINGS;
  const prints = kept.map((place): BlockPrint => {
    const found = printOfPlace(place, blocks, left);
    left -= found.siblings?.length ?? 0;
    return found;
  });
  if (kept.length < content.length) prints.push(restOf(content.slice(kept.length), blocks));
  const around = places.filter(({ isMain }) => !isMain).sort(byChars);
  return [
    ...prints,
    ...around.slice(0, MAX_BLOCK_PRINTS - prints.length).map((place) => printOfPlace(place, blocks, 0)),
  ];
}

const byChars = (a: Place, b: Place): number => b.chars - a.chars || (a.path < b.path ? -1 : 1);

function restOf(places: readonly Place[], blocks: BlockTable): BlockPrint {
  const counted = places.flatMap((place) => place.counted);
  const chars = places.reduce((sum, place) => sum + place.chars, 0);
  return printOfPlace({ path: ELSEWHERE, isMain: true, isProse: places[0]!.isProse, counted, chars }, blocks, 0);
}

function placesIn(blocks: BlockTable): Place[] {
  const isCertain = certainBlocks(blocks);
  const units = proseUnits(blocks, isCertain);
  const areSentences = isProseSigned(
    units.reduce((sum, each) => sum + each, 0),
    blocks,
    isCertain,
  );
  const content = new Map<number, Place>();
  const around = new Map<number, Place>();
  for (let at = 0; at < blocks.count; at++) {
    const isMain = isCertain[at] === 1;
    // Content that is not signed weighs nothing.
    const chars = isMain && areSentences ? units[at]! : blocks.chars[at]!;
    if (chars === 0) continue;
    const places = isMain ? content : around;
    const number = blocks.places[at]!;
    const place = places.get(number);
    if (place === undefined) {
      const isProse = isMain && areSentences;
      places.set(number, { path: blocks.placeNames[number]!, isMain, isProse, counted: [at], chars });
    } else {
      place.counted.push(at);
      place.chars += chars;
    }
  }
  return [...content.values(), ...around.values()];
}

/** UTF-16 units of the sentences of each block of the content. */
function proseUnits(blocks: BlockTable, isCertain: Uint8Array): Int32Array {
  const units = new Int32Array(blocks.count);
  for (let at = 0; at < blocks.count; at++) {
    if (isCertain[at] === 0) continue;
    prose.clear();
    addProseOf(blocks, at, prose);
    units[at] = prose.units;
  }
  return units;
}

/** @param most elements that can be told apart; fewer than two are none */
function printOfPlace({ path, isMain, isProse, counted, chars }: Place, blocks: BlockTable, most: number): BlockPrint {
  const { bytes, starts, ends, nths } = blocks;
  const count = counted.length;
  const isApart = isMain && count > 1 && most > 1;
  const siblings: SiblingPrint[] = [];
  text.clear();
  let from = 0;
  let units = 0;
  for (const [i, at] of counted.entries()) {
    if (i > 0) text.addByte(FEED);
    const isRest = i > siblings.length;
    if (!isRest) [from, units] = [text.end, text.units];
    if (isProse) addProseOf(blocks, at, text);
    else text.add(bytes, starts[at]!, ends[at]!, blocks.chars[at]!);
    // The last one that may be told apart has all the rest.
    if (!isApart || (siblings.length === most - 1 && i < count - 1)) continue;
    siblings.push([rangePrintOf(text.bytes, from, text.end), text.units - units, isRest ? 0 : nths[at]!]);
  }
  return { path, isMain, chars, print: printOf(text), ...(isApart ? { siblings } : {}) };
}
