import { BlockTable, MAIN_BLOCK, NOISE_BLOCK } from '../block-table.ts';
import { TAG_NAMES } from '../tape/name-table.ts';
import { hiddenElements } from './block-context.ts';
import type { MainContent } from './main-content.ts';
import type { Outline } from './outline.ts';
import type { ElementColumns } from './outline-columns.ts';

/** No tape is this long. */
const LAST_ENTRY = 0x7fff_ffff;

/**
 * Lists the blocks of a page, at most `max`, for reports and signatures. Hidden blocks are left out unless they are
 * content. `table` is emptied first.
 */
export function pageBlocks(
  { outline, isMain, certainty }: MainContent,
  max: number,
  table = new BlockTable(),
): BlockTable {
  const { blockCount, blocks } = outline;
  const isHidden = hiddenElements(outline);
  const places = new Places(outline, table);
  table.clear();
  table.isArticle = outline.kinds.article && !outline.kinds.list;
  const last = blockCount - 1;
  if (last >= 0) table.setBytes(outline.bytes, blocks.to[last]!);
  for (let i = 0; i < blockCount && table.count < max; i++) {
    if (!isReported(i, blocks, isMain, isHidden)) continue;
    const place = places.of(blocks.holder[i]!);
    table.add({
      type: isMain[i] === 1 ? MAIN_BLOCK : NOISE_BLOCK,
      path: place.number,
      nth: ++place.blocks,
      firstText: blocks.firstText[i]!,
      endText: i < last ? blocks.firstText[i + 1]! : LAST_ENTRY,
      from: blocks.from[i]!,
      to: blocks.to[i]!,
      chars: blocks.chars[i]!,
      isWide: blocks.isWide[i]!,
      isFolded: Number(blocks.lines[i] === 1),
      links: blocks.links[i]!,
      anchorChars: blocks.linkChars[i]!,
      certainty: certainty[i]!,
    });
  }
  return table;
}

/** Hidden blocks are reported only where they are content. @param isHidden of each element */
export function isReported(
  block: number,
  { holder }: Outline['blocks'],
  isMain: Uint8Array,
  isHidden: Uint8Array,
): boolean {
  const around = holder[block]!;
  return around < 0 || isHidden[around] === 0 || isMain[block] === 1;
}

/** 1 for each block that the page shows. */
export function shownBlocks(outline: Outline): Uint8Array {
  const isHidden = hiddenElements(outline);
  const { holder } = outline.blocks;
  return Uint8Array.from({ length: outline.blockCount }, (_, i) =>
    Number(holder[i]! < 0 || isHidden[holder[i]!] === 0),
  );
}

interface Place {
  /** Names of the elements from the outermost, runs of one name counted: `body>div*3>p`. */
  readonly path: string;
  /** The path without its last run of one name, and the length of that run. */
  readonly before: string;
  readonly tag: number;
  readonly row: number;
  /** Position among the places of the page. */
  readonly position: number;
  readonly inside: Map<number, Place>;
  /** Number of its path in the table, and of its blocks so far. */
  number: number;
  blocks: number;
}

const placeIn = (before: string, tag: number, name: string, row: number, position = 0): Place => ({
  path: `${before}${name}${row > 1 ? `*${row}` : ''}`,
  before,
  tag,
  row,
  position,
  inside: new Map(),
  number: -1,
  blocks: 0,
});

/** The blocks of a page by their ancestors. Elements with the same names of ancestors are one place. */
class Places {
  private readonly elements: ElementColumns;
  private readonly table: BlockTable;
  private readonly root = placeIn('', -1, '', 0);
  private readonly places: Place[] = [this.root];
  /** Position of each element's place; 0: not looked up yet. */
  private readonly placeOf: Int32Array;

  constructor({ elements, elementCount }: Outline, table: BlockTable) {
    this.elements = elements;
    this.table = table;
    this.placeOf = new Int32Array(elementCount);
  }

  /** The place of the blocks in an element. @param holder -1: none */
  of(holder: number): Place {
    const place = holder < 0 ? this.root : this.find(holder);
    if (place.number < 0) place.number = this.table.addPath(place.path);
    return place;
  }

  private find(holder: number): Place {
    // Without recursion: pages nest deeper than a call stack allows.
    const way: number[] = [];
    let at = holder;
    while (at >= 0 && this.placeOf[at] === 0) {
      way.push(at);
      at = this.elements.parent[at]!;
    }
    let place = at < 0 ? this.root : this.places[this.placeOf[at]!]!;
    for (let k = way.length - 1; k >= 0; k--) {
      place = this.inside(place, this.elements.tag[way[k]!]!);
      this.placeOf[way[k]!] = place.position;
    }
    return place;
  }

  private inside(place: Place, tag: number): Place {
    const known = place.inside.get(tag);
    if (known !== undefined) return known;
    // Every element that begins a block has a known tag.
    const name = TAG_NAMES[tag]!;
    const before = place === this.root ? '' : `${place.path}>`;
    const inner =
      place.tag === tag
        ? placeIn(place.before, tag, name, place.row + 1, this.places.length)
        : placeIn(before, tag, name, 1, this.places.length);
    place.inside.set(tag, inner);
    this.places.push(inner);
    return inner;
  }
}
