import { TAIL, textHints } from '../text/text-hints.ts';
import type { BlockContext } from './block-context.ts';
import { CONTENT } from './element-signs.ts';
import { type ElementsAround, elementsAround } from './elements-around.ts';
import {
  AROUND_COLUMNS,
  CLOSE_COLUMNS,
  COLUMN_OF_TAG,
  FEATURES,
  HINT_COLUMNS,
  type SignColumns,
  TAGS,
} from './feature-columns.ts';
import type { PageShape } from './page-shape.ts';
import type { Outline, TextBlock } from './text-blocks.ts';

/** Whether a heading announces what belongs to other pages. */
export const announcesTail = ({ heading, text }: TextBlock): boolean =>
  heading > 0 && (textHints(text, { width: text.length, digits: 0 }) & TAIL) !== 0;

/** Number of neighbours on either side, and the bound of each one's width. */
const NEAR = 5;
const NEAR_WIDTH = 400;
/** Logarithms of whole numbers, the common case. */
const LOGS = Float64Array.from({ length: 4_096 }, (_, value) => Math.log2(1 + value));
const log = (value: number): number => (value < LOGS.length ? LOGS[value | 0]! : Math.log2(1 + value));

/**
 * A row of {@link FEATURES} for each block: the block, its neighbours, its ancestors, and the page.
 * @param allocate gives a zeroed array of so many numbers, which becomes the rows
 */
export function blockFeatures(
  outline: Outline,
  page: PageShape,
  context: BlockContext,
  allocate: (values: number) => Float32Array = (values) => new Float32Array(values),
): Float32Array {
  const { blocks } = outline;
  const rows = allocate(blocks.length * FEATURES.length);
  const writer = new FeatureWriter(outline, page, context, rows);
  for (let i = 0; i < blocks.length; i++) writer.write(i);
  return rows;
}

class FeatureWriter {
  private readonly outline: Outline;
  private readonly page: PageShape;
  private readonly rows: Float32Array;
  private readonly around: ElementsAround;
  private readonly context: BlockContext;
  /** Of each block. */
  private readonly widths: Float64Array;
  private readonly densities: Float64Array;
  private readonly whole: readonly number[];
  private readonly firstH1: number;
  private column = 0;
  private widthBefore = 0;
  private sinceHeading = 0;
  private tailLevel = 0;

  constructor(outline: Outline, page: PageShape, context: BlockContext, rows: Float32Array) {
    const { blocks } = outline;
    this.outline = outline;
    this.page = page;
    this.rows = rows;
    this.around = elementsAround(outline, page);
    this.context = context;
    this.widths = Float64Array.from(page.shapes, ({ width }) => log(width));
    this.densities = Float64Array.from(blocks, ({ linkChars, text }) => linkChars / text.length);
    this.whole = wholePage(outline, page);
    this.firstH1 = blocks.findIndex(({ heading }, i) => heading === 1 && page.isShown[i] === 1);
  }

  /** Rows are to be written in order. */
  write(i: number): void {
    const block = this.outline.blocks[i] as TextBlock;
    this.column = i * FEATURES.length;
    this.own(i, block);
    this.beside(i, -1);
    this.beside(i, 1);
    this.place(i, block);
    this.containing(i, block.path);
    for (const value of this.whole) this.put(value);
    this.signs(block.path);
    this.wider(i, block.path);
  }

  private put(value: number): void {
    this.rows[this.column++] = value;
  }

  private own(i: number, { text, tag, links, heading, path }: TextBlock): void {
    const shape = this.page.shapes[i];
    if (shape === undefined) return;
    this.put(this.widths[i]!);
    this.put(this.densities[i]!);
    this.put(log(links));
    this.put(heading);
    this.put(log(shape.marks));
    this.put(Number(shape.endsSentence));
    this.put(shape.digits / text.length);
    this.put(log(shape.lines - 1));
    const column = COLUMN_OF_TAG.get(tag);
    if (column !== undefined) this.rows[this.column + column] = 1;
    this.column += TAGS.length;
    const parent = path.length === 0 ? -1 : path[path.length - 1]!;
    this.put(parent < 0 ? 0 : this.around.items[parent]!);
    this.put(parent < 0 ? 0 : this.around.quotes[parent]!);
  }

  private beside(i: number, by: number): void {
    this.put(this.widths[i + by] ?? 0);
    this.put(this.densities[i + by] ?? 0);
    this.put(this.outline.blocks[i + by]?.heading ?? 0);
    this.put(this.widths[i + 2 * by] ?? 0);
    this.put(this.densities[i + 2 * by] ?? 0);
  }

  private place(i: number, { heading }: TextBlock): void {
    const { shapes, isShown, plain, linked } = this.page;
    let near = 0;
    let nearDensity = 0;
    const last = Math.min(shapes.length - 1, i + NEAR);
    for (let j = Math.max(0, i - NEAR); j <= last; j++) {
      near += Math.min(NEAR_WIDTH, shapes[j]!.width);
      nearDensity += this.densities[j]!;
    }
    this.put(log(near));
    this.put(nearDensity);
    this.put(i / this.outline.blocks.length);
    this.put(this.widthBefore / (plain + linked + 1));
    const width = shapes[i]?.width ?? 0;
    if (isShown[i] === 1) this.widthBefore += width;
    const since = this.firstH1 < 0 ? 0 : i - this.firstH1;
    this.put(Math.max(-30, Math.min(30, since)));
    this.put(this.firstH1 < 0 ? 0 : since > 0 ? 1 : since === 0 ? 2 : -1);
    this.sinceHeading = heading > 0 ? 0 : this.sinceHeading + 1;
    if (heading > 0) {
      if ((this.context.hints[i]! & TAIL) !== 0) this.tailLevel = heading;
      else if (heading <= this.tailLevel) this.tailLevel = 0;
    }
    this.put(Math.min(20, this.sinceHeading));
    this.put(this.tailLevel);
  }

  private containing(i: number, path: readonly number[]): void {
    const { elements } = this.outline;
    const { shares, densities, parts, isInside } = this.around;
    const { plainOf, repeatedOf, container, containerFirst, containerLast } = this.page;
    const parent = path.length === 0 ? -1 : path[path.length - 1]!;
    const grand = path.length < 2 ? -1 : path[path.length - 2]!;
    const part = parent < 0 ? -1 : parts[parent]!;
    this.put(parent < 0 ? 1 : shares[parent]!);
    this.put(parent < 0 ? 0 : densities[parent]!);
    this.put(parent < 0 ? 0 : log(elements[parent]!.blocks));
    this.put(grand < 0 ? 1 : shares[grand]!);
    this.put(grand < 0 ? 0 : densities[grand]!);
    this.put(part < 0 ? 1 : shares[part]!);
    this.put(part < 0 ? 0 : densities[part]!);
    this.put(part < 0 ? 0 : elements[part]!.depth);
    this.put(path.length);
    const alike = parent < 0 ? -1 : repeatedOf[parent]!;
    this.put(alike < 0 ? 0 : log(elements[alike]!.alike));
    this.put(alike < 0 ? 0 : log(plainOf[alike]!));
    this.put(alike < 0 ? 0 : densities[alike]!);
    this.put(container < 0 || (parent >= 0 && isInside[parent] === 1) ? 1 : 0);
    this.put(container < 0 ? 1 : shares[container]!);
    this.put(container < 0 ? 0 : Number((elements[container]!.signs & CONTENT) !== 0));
    this.put(i < containerFirst ? i - containerFirst : i > containerLast ? i - containerLast : 0);
  }

  private signs(path: readonly number[]): void {
    const { elements } = this.outline;
    const parent = path.length === 0 ? -1 : path[path.length - 1]!;
    const grand = path.length < 2 ? -1 : path[path.length - 2]!;
    this.putSigns(parent < 0 ? 0 : this.page.signsOf[parent]!, AROUND_COLUMNS);
    this.putSigns((parent < 0 ? 0 : elements[parent]!.signs) | (grand < 0 ? 0 : elements[grand]!.signs), CLOSE_COLUMNS);
  }

  private wider(i: number, path: readonly number[]): void {
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
    const parent = path.length === 0 ? -1 : path[path.length - 1]!;
    const alike = parent < 0 ? -1 : repeatedOf[parent]!;
    const { groups, groupAt, trunk } = this.around;
    const group = alike < 0 ? undefined : groups[alike];
    this.put(group === undefined ? 0 : group.plain / (plain + 1));
    this.put(group === undefined ? 0 : log(group.plain));
    this.put(group === undefined ? 0 : group.linkChars / (group.chars + 1));
    this.put(group === undefined ? 0 : groupAt[alike]!);
    this.put(group === undefined ? 0 : log(group.blocks / group.count));
    this.put(parent < 0 ? 0 : trunk[parent]!);
  }

  private putSigns(bits: number, { byBit, count }: SignColumns): void {
    for (let rest = bits; rest !== 0; rest &= rest - 1) {
      const column = byBit[31 - Math.clz32(rest & -rest)]!;
      if (column >= 0) this.rows[this.column + column] = 1;
    }
    this.column += count;
  }
}

function wholePage({ blocks, kinds }: Outline, { plain, linked, longBlocks, inParagraphs }: PageShape): number[] {
  return [
    log(plain),
    log(blocks.length),
    linked / (plain + linked + 1),
    log(longBlocks),
    inParagraphs / (plain + 1),
    Number(kinds.article),
    Number(kinds.product),
    Number(kinds.forum),
    Number(kinds.list),
  ];
}
