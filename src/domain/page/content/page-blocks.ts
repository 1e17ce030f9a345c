import type { PageBlock } from '../page-block.ts';
import { TAG_NAMES } from '../tape/tag-names.ts';
import { HIDDEN, NOSCRIPT } from './element-signs.ts';
import type { MainContent } from './main-content.ts';
import type { Outline } from './outline.ts';
import type { ElementColumns } from './outline-columns.ts';

/** The blocks of a page for reports and signatures; hidden blocks are left out unless they are content. */
export function pageBlocks({ outline, isMain, certainty }: MainContent, max: number): PageBlock[] {
  const { blockCount, blocks } = outline;
  const isHidden = hiddenElements(outline);
  const places = new Places(outline);
  const listed: PageBlock[] = [];
  for (let i = 0; i < blockCount && listed.length < max; i++) {
    const holder = blocks.holder[i]!;
    if (holder >= 0 && isHidden[holder] === 1 && isMain[i] === 0) continue;
    listed.push({
      type: isMain[i] === 1 ? 'main' : 'noise',
      path: places.next(holder),
      text: outline.textOf(i),
      links: blocks.links[i]!,
      anchorChars: blocks.linkChars[i]!,
      certainty: certainty[i]!,
    });
  }
  return listed;
}

/** Whether each element or an ancestor hides its content. */
export function hiddenElements({ elementCount, elements }: Outline): Uint8Array {
  const isHidden = new Uint8Array(elementCount);
  for (let at = 0; at < elementCount; at++) {
    const parent = elements.parent[at]!;
    const hides = (elements.signs[at]! & (HIDDEN | NOSCRIPT)) !== 0;
    isHidden[at] = Number(hides || (parent >= 0 && isHidden[parent] === 1));
  }
  return isHidden;
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
  /** Number of blocks so far. */
  blocks: number;
}

const placeIn = (before: string, tag: number, name: string, row: number, position = 0): Place => ({
  path: `${before}${name}${row > 1 ? `*${row}` : ''}`,
  before,
  tag,
  row,
  position,
  inside: new Map(),
  blocks: 0,
});

/** Names the blocks of a page by their ancestors. Elements with the same names of ancestors are one place. */
class Places {
  private readonly elements: ElementColumns;
  private readonly root = placeIn('', -1, '', 0);
  private readonly places: Place[] = [this.root];
  /** Position of each element's place; 0: not looked up yet. */
  private readonly placeOf: Int32Array;

  constructor({ elements, elementCount }: Outline) {
    this.elements = elements;
    this.placeOf = new Int32Array(elementCount);
  }

  /**
   * The path of the next block in an element, its number among those of the place behind a colon. @param holder -1:
   * none
   */
  next(holder: number): string {
    const place = holder < 0 ? this.root : this.find(holder);
    return `${place.path}:${++place.blocks}`;
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
    // All that begin a block are known.
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
