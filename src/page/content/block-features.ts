import { type Prose, proseOf, titledBlocks } from '../prose/prose.ts';
import { tagNumber } from '../tape/name-table.ts';
import { TAIL, textHints } from '../text/text-hints.ts';
import {
  AROUND_COLUMNS,
  type BlockContext,
  CLOSE_COLUMNS,
  COLUMN_OF_TAG,
  FEATURES,
  HINT_COLUMNS,
  type SignColumns,
  TAGS,
} from './block-context.ts';
import { CONTENT } from './element-signs.ts';
import type { Outline } from './outline.ts';
import type { PageShape } from './page-shape.ts';

/** Fewer similar siblings do not form a group. */
const LEAST_ALIKE = 3;

/** Context of an element, for the features. */
interface ElementsAround {
  /** Share of the page's plain text, and of its own text in links. */
  readonly shares: Float64Array;
  readonly densities: Float64Array;
  /** Number of list entries and quotations around its content, itself included. */
  readonly items: Int32Array;
  readonly quotes: Int32Array;
  /** The widest element around its content that is not most of the page; -1: none. */
  readonly parts: Int32Array;
  /** Sums over the siblings that look alike, by group, and the position of each element among its siblings. */
  readonly groups: Groups;
  readonly groupAt: Int32Array;
  /** Number of elements from it up to the nearest with half of the page's text. */
  readonly trunk: Int32Array;
}

interface Groups {
  readonly plain: Float64Array;
  readonly chars: Int32Array;
  readonly linkChars: Int32Array;
  readonly blocks: Int32Array;
  readonly count: Int32Array;
}

const LI = tagNumber('li');
const BLOCKQUOTE = tagNumber('blockquote');

function elementsAround(
  { elementCount: count, elements, blockCount }: Outline,
  { plain, plainOf }: PageShape,
): ElementsAround {
  const { tag, parent, alike, group, chars, linkChars, blocks } = elements;
  const shares = new Float64Array(count);
  const densities = new Float64Array(count);
  const items = new Int32Array(count);
  const quotes = new Int32Array(count);
  const parts = new Int32Array(count);
  const trunk = new Int32Array(count);
  const groupAt = new Int32Array(count);
  const groups: Groups = {
    plain: new Float64Array(count),
    chars: new Int32Array(count),
    linkChars: new Int32Array(count),
    blocks: new Int32Array(count),
    count: new Int32Array(count),
  };
  // Elements come after their ancestors.
  for (let at = 0; at < count; at++) {
    const outer = parent[at]!;
    const share = plainOf[at]! / (plain + 1);
    shares[at] = share;
    densities[at] = linkChars[at]! / (chars[at]! + 1);
    items[at] = (outer < 0 ? 0 : items[outer]!) + Number(tag[at] === LI);
    quotes[at] = (outer < 0 ? 0 : quotes[outer]!) + Number(tag[at] === BLOCKQUOTE);
    const isMost = share >= 0.5 || blocks[at]! >= 0.5 * blockCount;
    const around = outer < 0 ? -1 : parts[outer]!;
    parts[at] = isMost ? -1 : around < 0 ? at : around;
    trunk[at] = share >= 0.5 ? 0 : (outer < 0 ? 0 : trunk[outer]!) + 1;
    if (alike[at]! < LEAST_ALIKE) continue;
    const its = group[at]!;
    groups.plain[its]! += plainOf[at]!;
    groups.chars[its]! += chars[at]!;
    groups.linkChars[its]! += linkChars[at]!;
    groups.blocks[its]! += blocks[at]!;
    groupAt[at] = groups.count[its]!++;
  }
  return { shares, densities, items, quotes, parts, groups, groupAt, trunk };
}

/** Whether a heading announces content that belongs to other pages. */
export const announcesTail = (outline: Outline, block: number): boolean =>
  outline.blocks.heading[block]! > 0 &&
  (textHints(outline.textOf(block), { width: outline.blocks.chars[block]!, digits: 0 }) & TAIL) !== 0;

/** Number of neighbours on either side, and the bound of each one's width. */
const NEAR = 5;
const NEAR_WIDTH = 400;
/** Logarithms of whole numbers, the common case. */
const LOGS = Float64Array.from({ length: 4_096 }, (_, value) => Math.log2(1 + value));
const log = (value: number): number => (value < LOGS.length ? LOGS[value | 0]! : Math.log2(1 + value));

/**
 * A row of {@link FEATURES} for each block: the block, its neighbours, its ancestors, and the page.
 * @param allocate returns a zeroed array of the given length, which becomes the rows
 */
export function blockFeatures(
  outline: Outline,
  page: PageShape,
  context: BlockContext,
  allocate: (values: number) => Float32Array = (values) => new Float32Array(values),
): Float32Array {
  const { blockCount } = outline;
  const rows = allocate(blockCount * FEATURES.length);
  const writer = new FeatureWriter(outline, page, context, rows);
  for (let i = 0; i < blockCount; i++) writer.write(i);
  return rows;
}

/** Rows on either side of those of the blocks, so that neighbours of the first and the last block are 0. */
const MARGIN = 2;
const TITLE_FAR = 40;

class FeatureWriter {
  private readonly outline: Outline;
  private readonly page: PageShape;
  private readonly rows: Float32Array;
  private readonly around: ElementsAround;
  private readonly context: BlockContext;
  private readonly prose: Prose;
  private readonly titled: Uint8Array;
  private sinceTitle = -TITLE_FAR;
  /** Of each block, with a margin. */
  private readonly widths: Float64Array;
  private readonly densities: Float64Array;
  private readonly headings: Int32Array;
  private readonly whole: readonly number[];
  private readonly firstH1: number;
  private column = 0;
  private widthBefore = 0;
  private sinceHeading = 0;
  private tailLevel = 0;

  constructor(outline: Outline, page: PageShape, context: BlockContext, rows: Float32Array) {
    const { blockCount, blocks } = outline;
    this.outline = outline;
    this.page = page;
    this.rows = rows;
    this.around = elementsAround(outline, page);
    this.context = context;
    this.prose = proseOf(outline, page);
    this.titled = titledBlocks(outline);
    this.widths = new Float64Array(blockCount + 2 * MARGIN);
    this.densities = new Float64Array(blockCount + 2 * MARGIN);
    this.headings = new Int32Array(blockCount + 2 * MARGIN);
    let firstH1 = -1;
    for (let i = 0; i < blockCount; i++) {
      this.widths[i + MARGIN] = log(blocks.width[i]!);
      this.densities[i + MARGIN] = blocks.linkChars[i]! / blocks.chars[i]!;
      this.headings[i + MARGIN] = blocks.heading[i]!;
      if (firstH1 < 0 && blocks.heading[i] === 1 && page.isShown[i] === 1) firstH1 = i;
    }
    this.firstH1 = firstH1;
    this.whole = wholePage(outline, page);
  }

  /** Rows must be written in order. */
  write(i: number): void {
    const parent = this.outline.blocks.holder[i]!;
    const grand = parent < 0 ? -1 : this.outline.elements.parent[parent]!;
    this.column = i * FEATURES.length;
    this.own(i, parent);
    this.beside(i, -1);
    this.beside(i, 1);
    this.place(i);
    this.containing(i, parent, grand);
    for (const value of this.whole) this.put(value);
    this.signs(parent, grand);
    this.wider(i, parent);
    this.prosed(i, parent);
  }

  private put(value: number): void {
    this.rows[this.column++] = value;
  }

  private own(i: number, parent: number): void {
    const { blocks, elements } = this.outline;
    this.put(this.widths[i + MARGIN]!);
    this.put(this.densities[i + MARGIN]!);
    this.put(log(blocks.links[i]!));
    this.put(blocks.heading[i]!);
    this.put(log(blocks.marks[i]!));
    this.put(blocks.endsSentence[i]!);
    this.put(blocks.digits[i]! / blocks.chars[i]!);
    this.put(log(blocks.lines[i]! - 1));
    const column = parent < 0 ? -1 : COLUMN_OF_TAG.at(elements.tag[parent]!);
    if (column >= 0) this.rows[this.column + column] = 1;
    this.column += TAGS.length;
    this.put(parent < 0 ? 0 : this.around.items[parent]!);
    this.put(parent < 0 ? 0 : this.around.quotes[parent]!);
  }

  private beside(i: number, by: number): void {
    const at = i + MARGIN;
    this.put(this.widths[at + by]!);
    this.put(this.densities[at + by]!);
    this.put(this.headings[at + by]!);
    this.put(this.widths[at + 2 * by]!);
    this.put(this.densities[at + 2 * by]!);
  }

  private place(i: number): void {
    const { blockCount, blocks } = this.outline;
    const { isShown, plain, linked } = this.page;
    let near = 0;
    let nearDensity = 0;
    const last = Math.min(blockCount - 1, i + NEAR);
    for (let j = Math.max(0, i - NEAR); j <= last; j++) {
      near += Math.min(NEAR_WIDTH, blocks.width[j]!);
      nearDensity += this.densities[j + MARGIN]!;
    }
    this.put(log(near));
    this.put(nearDensity);
    this.put(i / blockCount);
    this.put(this.widthBefore / (plain + linked + 1));
    if (isShown[i] === 1) this.widthBefore += blocks.width[i]!;
    const since = this.firstH1 < 0 ? 0 : i - this.firstH1;
    this.put(Math.max(-30, Math.min(30, since)));
    this.put(this.firstH1 < 0 ? 0 : since > 0 ? 1 : since === 0 ? 2 : -1);
    const heading = blocks.heading[i]!;
    this.sinceHeading = heading > 0 ? 0 : this.sinceHeading + 1;
    if (heading > 0) {
      if ((this.context.hints[i]! & TAIL) !== 0) this.tailLevel = heading;
      else if (heading <= this.tailLevel) this.tailLevel = 0;
    }
    this.put(Math.min(20, this.sinceHeading));
    this.put(this.tailLevel);
  }

  private containing(i: number, parent: number, grand: number): void {
    const { elements } = this.outline;
    const { shares, densities, parts } = this.around;
    const { plainOf, repeatedOf, container, isInside, containerFirst, containerLast } = this.page;
    const part = parent < 0 ? -1 : parts[parent]!;
    this.put(parent < 0 ? 1 : shares[parent]!);
    this.put(parent < 0 ? 0 : densities[parent]!);
    this.put(parent < 0 ? 0 : log(elements.blocks[parent]!));
    this.put(grand < 0 ? 1 : shares[grand]!);
    this.put(grand < 0 ? 0 : densities[grand]!);
    this.put(part < 0 ? 1 : shares[part]!);
    this.put(part < 0 ? 0 : densities[part]!);
    this.put(part < 0 ? 0 : elements.depth[part]!);
    this.put(parent < 0 ? 0 : elements.depth[parent]! + 1);
    const alike = parent < 0 ? -1 : repeatedOf[parent]!;
    this.put(alike < 0 ? 0 : log(elements.alike[alike]!));
    this.put(alike < 0 ? 0 : log(plainOf[alike]!));
    this.put(alike < 0 ? 0 : densities[alike]!);
    this.put(container < 0 || (parent >= 0 && isInside[parent] === 1) ? 1 : 0);
    this.put(container < 0 ? 1 : shares[container]!);
    this.put(container < 0 ? 0 : Number((elements.signs[container]! & CONTENT) !== 0));
    this.put(i < containerFirst ? i - containerFirst : i > containerLast ? i - containerLast : 0);
  }

  private signs(parent: number, grand: number): void {
    const { signs } = this.outline.elements;
    this.putSigns(parent < 0 ? 0 : this.page.signsOf[parent]!, AROUND_COLUMNS);
    this.putSigns((parent < 0 ? 0 : signs[parent]!) | (grand < 0 ? 0 : signs[grand]!), CLOSE_COLUMNS);
  }

  private wider(i: number, parent: number): void {
    const { hints, copies, sinceTail, sinceLong, untilLong, longBefore, longAfter, section } = this.context;
    const { plain, repeatedOf } = this.page;
    this.putSigns(hints[i]!, HINT_COLUMNS);
    this.put(log(copies[i]!));
    this.put(sinceTail[i]!);
    this.put(sinceLong[i]!);
    this.put(untilLong[i]!);
    this.put(longBefore[i]!);
    this.put(longAfter[i]!);
    this.put(log(section[i]!));
    this.put(section[i]! / (plain + 1));
    this.grouped(parent < 0 ? -1 : repeatedOf[parent]!);
    this.put(parent < 0 ? 0 : this.around.trunk[parent]!);
  }

  private prosed(i: number, parent: number): void {
    const { widest, scores, most, up, down, alike, first, last } = this.prose;
    const grand = parent < 0 ? -1 : this.outline.elements.parent[parent]!;
    this.put(this.widths[i + MARGIN]! - log(widest));
    this.put(parent < 0 ? 1 : Math.min(12, up[parent]!));
    this.put(parent < 0 ? 0 : Math.min(12, down[parent]!));
    this.put(parent < 0 ? 0 : Math.max(scores[parent]!, grand < 0 ? 0 : scores[grand]!) / (most + 1));
    this.put(most / (this.page.plain + 1));
    this.put(parent < 0 ? 0 : alike[parent]!);
    this.put(this.titled[i]!);
    if (this.titled[i] === 1) this.sinceTitle = i;
    this.put(Math.min(TITLE_FAR, i - this.sinceTitle));
    this.put(Math.max(-30, Math.min(30, i < first ? i - first : i > last ? i - last : 0)));
    this.put(Math.min(3, this.context.copiesBefore[i]!));
  }

  /** @param alike the element repeated most around the block; -1: none */
  private grouped(alike: number): void {
    const { elements } = this.outline;
    if (alike < 0 || elements.alike[alike]! < LEAST_ALIKE) {
      this.column += 5;
      return;
    }
    const { groups, groupAt } = this.around;
    const group = elements.group[alike]!;
    this.put(groups.plain[group]! / (this.page.plain + 1));
    this.put(log(groups.plain[group]!));
    this.put(groups.linkChars[group]! / (groups.chars[group]! + 1));
    this.put(groupAt[alike]!);
    this.put(log(groups.blocks[group]! / groups.count[group]!));
  }

  private putSigns(bits: number, { byBit, count }: SignColumns): void {
    for (let rest = bits; rest !== 0; rest &= rest - 1) {
      const column = byBit[31 - Math.clz32(rest & -rest)]!;
      if (column >= 0) this.rows[this.column + column] = 1;
    }
    this.column += count;
  }
}

function wholePage({ blockCount, kinds }: Outline, { plain, linked, longBlocks, inParagraphs }: PageShape): number[] {
  return [
    log(plain),
    log(blockCount),
    linked / (plain + linked + 1),
    log(longBlocks),
    inParagraphs / (plain + 1),
    Number(kinds.article),
    Number(kinds.product),
    Number(kinds.forum),
    Number(kinds.list),
  ];
}
