import type { BlockContext } from './block-context.ts';
import { CONTENT } from './element-signs.ts';
import { DECLARED_MANUAL, NO_MANUAL } from './manuals.ts';
import type { Outline } from './outline.ts';
import type { PageShape } from './page-shape.ts';

/** Prose is sure above this probability. */
const SURE = 0.8;
const LONG = 120;
const MOST_LINKED = 0.3;
/** Sure prose of this width makes a page one of prose. */
const MUCH_PROSE = 500;
/** Powers of the probabilities on a page of prose: an article, and another one. */
const POWER_OF_ARTICLES = 2.2;
const POWER_OF_OTHERS = 1.3;
/** Of a page of a manual: declared, and evident. */
const POWER_OF_MANUALS = 0.6;
const POWER_OF_EVIDENT_MANUALS = 1;
/** Narrower blocks may be said twice. */
const LEAST_COPY = 60;
const NOWHERE = -2;

/**
 * The blocks to take, most probable first, as long as the expected F1 grows: 2 x expected words found / (words taken +
 * expected words of the content). Where a page has sure prose, probabilities count as a power of them: certainty was
 * learnt from some sites and is too high on others, and many doubtful blocks would lift each other in. Lists and the
 * like, which have no such core, keep what is in doubt, and so nearly do pages that are no articles. Nearly all of a
 * manual is content, so its pages keep more. Of long blocks with one text, one is taken.
 *
 * @param manual whether the page is documentation, see manuals.ts
 */
export function chosenBlocks(
  outline: Outline,
  page: PageShape,
  context: BlockContext,
  chances: Float64Array,
  manual: number,
): Uint8Array {
  const { width } = outline.blocks;
  const order = new Uint32Array(chances.length);
  for (let i = 0; i < order.length; i++) order[i] = i;
  order.sort((a, b) => chances[b]! - chances[a]! || a - b);
  const isRepeated = repeatedBlocks(outline, context, order);
  const power = powerOf(outline, page, chances, manual);
  const expected = new Float64Array(chances.length);
  let content = 0;
  for (let i = 0; i < chances.length; i++) {
    if (isRepeated[i] === 1) continue;
    expected[i] = width[i]! * chances[i]! ** power;
    content += expected[i]!;
  }
  let found = 0;
  let taken = 0;
  let best = 0;
  let least = 1;
  for (const i of order) {
    if (isRepeated[i] === 1) continue;
    found += expected[i]!;
    taken += width[i]!;
    const f1 = (2 * found) / (taken + content);
    if (f1 > best) {
      best = f1;
      least = chances[i]!;
    }
  }
  const isTaken = new Uint8Array(chances.length);
  for (let i = 0; i < chances.length; i++) isTaken[i] = Number(chances[i]! >= least && isRepeated[i] === 0);
  return isTaken;
}

/** The power of the probabilities: 1 on a page without sure prose. */
function powerOf(outline: Outline, page: PageShape, chances: Float64Array, manual: number): number {
  if (manual !== NO_MANUAL) return manual === DECLARED_MANUAL ? POWER_OF_MANUALS : POWER_OF_EVIDENT_MANUALS;
  const { blocks } = outline;
  let prose = 0;
  for (let i = 0; i < chances.length; i++) {
    const isProse = blocks.width[i]! > LONG && blocks.linkChars[i]! < MOST_LINKED * blocks.chars[i]!;
    if (isProse && chances[i]! > SURE) prose += blocks.width[i]!;
  }
  const power = isArticle(outline, page) ? POWER_OF_ARTICLES : POWER_OF_OTHERS;
  return 1 + (power - 1) * Math.min(1, prose / MUCH_PROSE);
}

/** By what the page declares; else, if it marks no element as its content, as the press of former years does not. */
export function isArticle({ kinds, isOtherKind, elements }: Outline, { container }: PageShape): boolean {
  if (kinds.article) return true;
  return !isOtherKind && (container < 0 || (elements.signs[container]! & CONTENT) === 0);
}

/** Blocks whose text a more probable one elsewhere has, as on pages with a copy for narrow screens; no refrains. */
function repeatedBlocks(
  { blocks, bytes, elements }: Outline,
  { firstAlike }: BlockContext,
  order: Uint32Array,
): Uint8Array {
  const isRepeated = new Uint8Array(order.length);
  const placeOf = new Int32Array(order.length).fill(NOWHERE);
  const partOf = (i: number): number => (blocks.holder[i]! < 0 ? -1 : elements.parent[blocks.holder[i]!]!);
  for (const i of order) {
    const first = firstAlike[i]!;
    if (blocks.width[i]! < LEAST_COPY || blocks.chars[i] !== blocks.chars[first]) continue;
    // Texts with an equal beginning may differ behind it.
    if (bytes.compare(bytes, blocks.from[i]!, blocks.to[i]!, blocks.from[first]!, blocks.to[first]!) !== 0) continue;
    const place = partOf(i);
    if (placeOf[first] === NOWHERE) placeOf[first] = place;
    else if (placeOf[first] !== place) isRepeated[i] = 1;
  }
  return isRepeated;
}
