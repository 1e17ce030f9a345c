import { HIDDEN, NOSCRIPT } from '../content/element-signs.ts';
import type { Outline } from '../content/outline.ts';
import type { PageShape } from '../content/page-shape.ts';
import { TagTable } from '../tape/tag-names.ts';

/** Where the prose of a page stands: the blocks of text outside links, and the element that holds most of them. */
export interface Prose {
  /** Width of the widest block of it. */
  readonly widest: number;
  /** Score of each element: its prose, that of its children, and half of that of their children. */
  readonly scores: Float64Array;
  /** The highest of them. */
  readonly most: number;
  /** Levels from each element up to the nearest one that holds the core, too, and from there down to the core. */
  readonly up: Int32Array;
  readonly down: Int32Array;
  /** Share of the prose of the page in elements that look like each element. */
  readonly alike: Float64Array;
  /** First and last block of prose below the core; those of the page without one. */
  readonly first: number;
  readonly last: number;
}

/** Most of a block that may be links. */
const MOST_LINKED = 0.3;
/** Narrower blocks are labels. */
const LEAST_WIDTH = 25;
/** Blocks as wide as this count in full, narrower ones in proportion: a long paragraph says more than many teasers. */
const FULL_WIDTH = 300;
/** An element with this part of the best score that lies deeper is as good. */
const DEEPER = 0.999;
/** Text in these stands for the element around them. */
const LINES = TagTable.of('p li dd dt blockquote pre h1 h2 h3 h4 h5 h6'.split(' '));

export function proseOf({ blockCount, blocks, elementCount, elements }: Outline, { isShown }: PageShape): Prose {
  const { parent, tag, looks, signs } = elements;
  const own = new Float64Array(blockCount);
  const scores = new Float64Array(elementCount);
  const ofLooks = new Float64Array(elementCount);
  let widest = 0;
  let all = 0;
  for (let i = 0; i < blockCount; i++) {
    const width = blocks.width[i]!;
    if (isShown[i] === 0 || width < LEAST_WIDTH || blocks.heading[i]! > 0) continue;
    const linked = blocks.linkChars[i]! / blocks.chars[i]!;
    if (linked > MOST_LINKED) continue;
    if (width > widest) widest = width;
    own[i] = width * (1 - linked) * Math.min(1, width / FULL_WIDTH);
    all += own[i]!;
    let at = blocks.holder[i]!;
    if (at < 0) continue;
    ofLooks[looks[at]!]! += own[i]!;
    if (LINES.has(tag[at]!) && parent[at]! >= 0) at = parent[at]!;
    for (let level = 0; level < 3 && at >= 0; level++, at = parent[at]!)
      scores[at]! += level < 2 ? own[i]! : own[i]! / 2;
  }
  let core = -1;
  let most = 0;
  for (let at = 0; at < elementCount; at++) {
    if (scores[at]! < DEEPER * most || scores[at] === 0 || (signs[at]! & (HIDDEN | NOSCRIPT)) !== 0) continue;
    core = at;
    most = Math.max(most, scores[at]!);
  }
  const up = new Int32Array(elementCount);
  const down = new Int32Array(elementCount).fill(-1);
  for (let at = core, levels = 0; at >= 0; at = parent[at]!, levels++) down[at] = levels;
  const alike = new Float64Array(elementCount);
  const isBelow = new Uint8Array(elementCount);
  for (let at = 0; at < elementCount; at++) {
    const around = parent[at]!;
    if (down[at]! < 0) {
      up[at] = around < 0 ? 1 : up[around]! + 1;
      down[at] = around < 0 ? 0 : down[around]!;
    }
    alike[at] = ofLooks[looks[at]!]! / (all + 1);
    isBelow[at] = Number(at === core || (around >= 0 && isBelow[around] === 1));
  }
  let first = -1;
  let last = blockCount - 1;
  for (let i = 0; i < blockCount; i++) {
    if (own[i] === 0 || blocks.holder[i]! < 0 || isBelow[blocks.holder[i]!] === 0) continue;
    if (first < 0) first = i;
    last = i;
  }
  return { widest, scores, most, up, down, alike, first: Math.max(0, first), last };
}
