import type { PageBlock } from '../page-block.ts';
import { HIDDEN, NOSCRIPT } from './element-signs.ts';
import type { MainContent } from './main-content.ts';
import type { OutlineElement } from './text-blocks.ts';

/** The blocks of a page for reports and signatures; hidden blocks are left out unless they are content. */
export function pageBlocks({ outline, isMain, certainty }: MainContent, max: number): PageBlock[] {
  const { blocks, elements } = outline;
  const isHidden = hiddenElements(elements);
  const places = new Places(elements);
  const listed: PageBlock[] = [];
  for (let i = 0; i < blocks.length && listed.length < max; i++) {
    const { path, text, links, linkChars } = blocks[i]!;
    const holder = path.length === 0 ? -1 : path[path.length - 1]!;
    if (holder >= 0 && isHidden[holder] === 1 && !isMain[i]) continue;
    listed.push({
      type: isMain[i] ? 'main' : 'noise',
      path: places.next(holder),
      text,
      links,
      anchorChars: linkChars,
      certainty: certainty[i]!,
    });
  }
  return listed;
}

/** Whether each element or an ancestor hides its content. */
function hiddenElements(elements: readonly OutlineElement[]): Uint8Array {
  const isHidden = new Uint8Array(elements.length);
  for (let at = 0; at < elements.length; at++) {
    const { signs, parent } = elements[at]!;
    isHidden[at] = (signs & (HIDDEN | NOSCRIPT)) !== 0 || (parent >= 0 && isHidden[parent] === 1) ? 1 : 0;
  }
  return isHidden;
}

interface Place {
  /** Names of the elements from the outermost, runs of one name counted: `body>div*3>p`. */
  readonly path: string;
  /** The path without its last run of one name, and the length of that run. */
  readonly before: string;
  readonly name: string;
  readonly row: number;
  /** Position among the places of the page. */
  readonly position: number;
  readonly inside: Map<string, Place>;
  /** Number of blocks so far. */
  blocks: number;
}

const placeIn = (before: string, name: string, row: number, position = 0): Place => ({
  path: `${before}${name}${row > 1 ? `*${row}` : ''}`,
  before,
  name,
  row,
  position,
  inside: new Map(),
  blocks: 0,
});

/** Names the blocks of a page by their ancestors. Elements with the same names of ancestors are one place. */
class Places {
  private readonly elements: readonly OutlineElement[];
  private readonly root = placeIn('', '', 0);
  private readonly places: Place[] = [this.root];
  /** Position of each element's place; 0: not looked up yet. */
  private readonly placeOf: Int32Array;

  constructor(elements: readonly OutlineElement[]) {
    this.elements = elements;
    this.placeOf = new Int32Array(elements.length);
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
      at = this.elements[at]!.parent;
    }
    let place = at < 0 ? this.root : this.places[this.placeOf[at]!]!;
    for (let k = way.length - 1; k >= 0; k--) {
      place = this.inside(place, this.elements[way[k]!]!.name);
      this.placeOf[way[k]!] = place.position;
    }
    return place;
  }

  private inside(place: Place, name: string): Place {
    const known = place.inside.get(name);
    if (known !== undefined) return known;
    const before = place === this.root ? '' : `${place.path}>`;
    const inner =
      place.name === name
        ? placeIn(place.before, name, place.row + 1, this.places.length)
        : placeIn(before, name, 1, this.places.length);
    place.inside.set(name, inner);
    this.places.push(inner);
    return inner;
  }
}
