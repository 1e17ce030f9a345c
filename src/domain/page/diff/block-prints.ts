// domain/page/diff/: differences of texts by words, and prints of the parts of a page.
import { certainBlocks, proseLines } from '../content/signed-text.ts';
import type { PageBlock } from '../page-block.ts';
import { placeOf } from './page-places.ts';
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
  /** Sentences; all other text, which counts where there are none. */
  readonly prose: string[];
  readonly rest: string[];
  chars: number;
}

/**
 * Fingerprints of the blocks of a page by place. Elements of one kind in one container are one place, so that another
 * paragraph changes one print and shifts none. In the content the sentences count, as in the signature, or all text
 * where there are none. `placesOf`: the place of each block, where known already.
 */
export function blockPrints(
  blocks: readonly PageBlock[],
  placesOf: readonly string[] = blocks.map(({ path }) => placeOf(path)),
): BlockPrint[] {
  const certain = new Set(certainBlocks(blocks));
  const content = new Map<string, Place>();
  const around = new Map<string, Place>();
  for (const [i, block] of blocks.entries()) {
    const isMain = certain.has(block);
    const path = placesOf[i]!;
    const places = isMain ? content : around;
    let place = places.get(path);
    if (place === undefined) {
      place = { path, isMain, prose: [], rest: [], chars: 0 };
      places.set(path, place);
    }
    const prose = isMain ? proseLines(block.text) : '';
    if (prose === '') place.rest.push(block.text);
    else place.prose.push(prose);
  }
  const found = [...content.values(), ...around.values()];
  for (const place of found) for (const text of textsOf(place)) place.chars += text.length;
  return found
    .filter(({ chars }) => chars > 0)
    .sort((a, b) => Number(b.isMain) - Number(a.isMain) || b.chars - a.chars || (a.path < b.path ? -1 : 1))
    .slice(0, MAX_BLOCK_PRINTS)
    .map((place) => {
      const { path, isMain, chars } = place;
      return { path, isMain, chars, print: printOf(textsOf(place).join('\n')) };
    });
}

const textsOf = ({ prose, rest }: Place): readonly string[] => (prose.length > 0 ? prose : rest);
