// domain/page/diff/: differences of texts by words, and prints of the parts of a page.
import type { BlockTable } from '../block-table.ts';
import { addProseOf } from '../content/prose-lines.ts';
import { certainBlocks } from '../content/signed-text.ts';
import { Utf8Text } from '../text/utf8-text.ts';
import { printOf } from './text-print.ts';

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
}

/** Most places kept of a page: the largest, content first. */
export const MAX_BLOCK_PRINTS = 12;

interface Place {
  readonly path: string;
  readonly isMain: boolean;
  /** Its texts: those with sentences; all others, which count where there are none. */
  readonly prose: number[];
  readonly rest: number[];
  proseChars: number;
  restChars: number;
}

const FEED = 0x0a;
const prose = new Utf8Text();
const printed = new Utf8Text();

/**
 * Fingerprints of the blocks of a page by place. Elements of one kind in one container are one place, so that another
 * paragraph changes one print and shifts none. In the content the sentences count, as in the signature, or all text
 * where there are none.
 */
export function blockPrints(blocks: BlockTable): BlockPrint[] {
  return placesIn(blocks)
    .filter((place) => charsOf(place) > 0)
    .sort((a, b) => Number(b.isMain) - Number(a.isMain) || charsOf(b) - charsOf(a) || (a.path < b.path ? -1 : 1))
    .slice(0, MAX_BLOCK_PRINTS)
    .map((place) => {
      const { path, isMain } = place;
      return { path, isMain, chars: charsOf(place), print: printOfPlace(place, blocks) };
    });
}

const charsOf = ({ prose: { length }, proseChars, restChars }: Place): number => (length > 0 ? proseChars : restChars);

function placesIn(blocks: BlockTable): Place[] {
  const isCertain = certainBlocks(blocks);
  const content = new Map<number, Place>();
  const around = new Map<number, Place>();
  for (let at = 0; at < blocks.count; at++) {
    const isMain = isCertain[at] === 1;
    const places = isMain ? content : around;
    const number = blocks.places[at]!;
    let place = places.get(number);
    if (place === undefined) {
      place = { path: blocks.placeNames[number]!, isMain, prose: [], rest: [], proseChars: 0, restChars: 0 };
      places.set(number, place);
    }
    prose.clear();
    if (isMain) addProseOf(blocks, at, prose);
    if (prose.units > 0) {
      place.prose.push(at);
      place.proseChars += prose.units;
    } else {
      place.rest.push(at);
      place.restChars += blocks.chars[at]!;
    }
  }
  return [...content.values(), ...around.values()];
}

function printOfPlace(place: Place, blocks: BlockTable): number {
  const { bytes, starts, ends, chars } = blocks;
  const hasProse = place.prose.length > 0;
  printed.clear();
  for (const [i, at] of (hasProse ? place.prose : place.rest).entries()) {
    if (i > 0) printed.addByte(FEED);
    if (hasProse) addProseOf(blocks, at, printed);
    else printed.add(bytes, starts[at]!, ends[at]!, chars[at]!);
  }
  return printOf(printed);
}
