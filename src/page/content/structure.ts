import { TagTable, tagNumber } from '../tape/name-table.ts';
import { TAIL } from '../text/text-hints.ts';
import type { BlockContext } from './block-context.ts';
import {
  contentRegion,
  type ElementSpans,
  elementSpans,
  isArticle,
  NO_MANUAL,
  plainWidth,
  type Section,
  sectionsOf,
} from './choice.ts';
import { AROUND, RELATED } from './element-signs.ts';
import type { Outline } from './outline.ts';
import type { PageShape } from './page-shape.ts';

const TR = tagNumber('tr');
const CELLS = TagTable.of(['td', 'th']);
const ROW_GROUPS = TagTable.of(['tbody', 'thead', 'tfoot']);
/** Tables with these inside are for layout, except that manuals have headings within tables. */
const LAID_OUT = TagTable.of(['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'article', 'section', 'form']);
const HOLDS_TABLE = 1;
const HOLDS_LAID_OUT = 2;

/**
 * 1 for each table of data: it holds no other table. Except in manuals, it also has at least two rows of at least two
 * cells, and no headings.
 */
export function dataTables({ elementCount, elements }: Outline, isManual: boolean): Uint8Array {
  const { tag, parent } = elements;
  const holds = new Uint8Array(elementCount);
  const cells = new Int32Array(elementCount);
  const rows = new Int32Array(elementCount);
  // Ancestors come before their descendants.
  for (let at = elementCount - 1; at >= 0; at--) {
    const around = parent[at]!;
    if (around < 0) continue;
    holds[around]! |= holds[at]!;
    if (tag[at] === TABLE) holds[around]! |= HOLDS_TABLE;
    else if (LAID_OUT.has(tag[at]!)) holds[around]! |= HOLDS_LAID_OUT;
    else if (CELLS.has(tag[at]!)) cells[around]!++;
    else if (tag[at] === TR && cells[at]! > 1) rows[ROW_GROUPS.has(tag[around]!) ? parent[around]! : around]!++;
  }
  return Uint8Array.from({ length: elementCount }, (_, at) =>
    Number(tag[at] === TABLE && (isManual ? (holds[at]! & HOLDS_TABLE) === 0 : holds[at] === 0 && rows[at]! > 1)),
  );
}

/** Share of a part, or of what surrounds it, that must be chosen for the rest to be kept. */
const MOST = 0.5;
/** An element with less text beside a part says nothing about it. */
const LEAST_BESIDE = 60;
/** Headings and parts with more of their text in links lead elsewhere. */
const MOST_LINKED_HEADING = 0.8;
const MOST_LINKED = 0.5;
/** Sections that look alike are judged together if there are at least this many and this share of them is chosen. */
const LEAST_ALIKE = 3;
const SHARE_OF_ALIKE = 0.6;
/** Number of blocks before the content that are searched for its heading: in general, and in manuals. */
const HEADING_WITHIN = 12;
const MANUAL_HEADING_WITHIN = 40;

const PRE = tagNumber('pre');
const TABLE = tagNumber('table');
const PARTS = TagTable.of(['pre', 'dl', 'table']);

/** No element, no block. */
const NONE = -1;

/** A heading: its first block, and the block after its last. */
export interface Headline {
  readonly from: number;
  readonly end: number;
}

/**
 * Adds to the chosen blocks what belongs to them by the structure of the page. The choice judges each block by itself,
 * and a heading, a listing or a cell has few words that would speak for it.
 *
 * - A listing, a list of definitions or a table of data is kept whole when most of it, or most of what surrounds it, is
 *   chosen. In articles this does not apply to the latter two: tables there are as often teasers.
 * - Sections that look alike are kept when most of them are chosen. In declared manuals one is enough; in declared
 *   articles the rule does not apply.
 * - A heading is kept when what follows it and most of its section are kept. In declared articles, a heading before
 *   everything chosen is the headline, which is already known as the title.
 * - In manuals, everything between the page's own heading and the last chosen block is kept, except lists of links.
 *
 * Surroundings by name, role or class are never added.
 *
 * @param manual see manualKind
 * @returns the page's own heading, where that is not among the chosen blocks
 */
export function keepStructure(
  outline: Outline,
  page: PageShape,
  context: BlockContext,
  isMain: Uint8Array,
  manual: number,
): Headline | null {
  if (!isMain.includes(1)) return null;
  const keeper = new StructureKeeper(outline, page, context, isMain, manual !== NO_MANUAL);
  keeper.keepParts();
  keeper.keepSections();
  keeper.keepHeadings();
  return keeper.keepBeginning();
}

class StructureKeeper {
  private readonly outline: Outline;
  private readonly page: PageShape;
  private readonly context: BlockContext;
  private readonly isMain: Uint8Array;
  private readonly isManual: boolean;
  private readonly spans: ElementSpans;
  private readonly sections: readonly Section[];
  /** Signs of elements to which nothing is added. */
  private readonly barred: number;
  /** Width outside links of all shown blocks, and of the chosen ones, before each block. */
  private readonly plain: Float64Array;
  private readonly chosen: Float64Array;

  constructor(outline: Outline, page: PageShape, context: BlockContext, isMain: Uint8Array, isManual: boolean) {
    this.outline = outline;
    this.page = page;
    this.context = context;
    this.isMain = isMain;
    this.isManual = isManual;
    this.spans = elementSpans(outline);
    this.sections = sectionsOf(outline, page, this.spans);
    // Manuals have sections "See also".
    this.barred = isManual ? AROUND : AROUND | RELATED;
    this.plain = new Float64Array(outline.blockCount + 1);
    this.chosen = new Float64Array(outline.blockCount + 1);
    this.addUp();
  }

  private addUp(): void {
    const { outline, plain, chosen, isMain } = this;
    for (let i = 0; i < outline.blockCount; i++) {
      const width = this.page.isShown[i] === 1 ? plainWidth(outline, i) : 0;
      plain[i + 1] = plain[i]! + width;
      chosen[i + 1] = chosen[i]! + (isMain[i] === 1 ? width : 0);
    }
  }

  private plainIn(from: number, end: number): number {
    return this.plain[end]! - this.plain[from]!;
  }

  private chosenIn(from: number, end: number): number {
    return this.chosen[end]! - this.chosen[from]!;
  }

  keepParts(): void {
    const { outline, page, isMain, isManual, spans } = this;
    const { elements, elementCount } = outline;
    const onlyListings = !isManual && isArticle(outline, page);
    const region = onlyListings ? NONE : contentRegion(outline, spans, this.chosen);
    let isData: Uint8Array | null = null;
    for (let at = 0; at < elementCount; at++) {
      const tag = elements.tag[at]!;
      const [from, end] = [spans.first[at]!, spans.end[at]!];
      if (!PARTS.has(tag) || from < 0 || (page.signsOf[at]! & this.barred) !== 0) continue;
      if (tag !== PRE && (onlyListings || !this.isWithin(at, region))) continue;
      if (tag === TABLE) {
        isData ??= dataTables(outline, isManual);
        if (isData[at] === 0 || (!isManual && this.plainIn(from, end) > MOST * page.plain)) continue;
      }
      if (!this.isMostlyChosen(from, end) && !this.belongs(at, tag)) continue;
      for (let i = from; i < end; i++) if (page.isShown[i] === 1) isMain[i] = 1;
    }
    this.addUp();
  }

  private isWithin(element: number, region: number): boolean {
    return (
      region < 0 ||
      (this.spans.first[element]! >= this.spans.first[region]! && this.spans.end[element]! <= this.spans.end[region]!)
    );
  }

  private isMostlyChosen(from: number, end: number): boolean {
    const all = this.plainIn(from, end);
    return all > 0 && this.chosenIn(from, end) >= MOST * all;
  }

  /** Whether most of the text beside a part is chosen, and the part does not lead elsewhere. */
  private belongs(part: number, tag: number): boolean {
    const { spans, outline } = this;
    const [from, end] = [spans.first[part]!, spans.end[part]!];
    // In manuals, tables of links are overviews; lists of links are tables of contents.
    const mayLink = tag === PRE || (tag === TABLE && this.isManual);
    if (!mayLink && this.linkedIn(from, end) > MOST_LINKED) return false;
    const own = this.plainIn(from, end);
    for (let at = outline.elements.parent[part]!; at >= 0; at = outline.elements.parent[at]!) {
      const beside = this.plainIn(spans.first[at]!, spans.end[at]!) - own;
      if (beside < LEAST_BESIDE) continue;
      return this.chosenIn(spans.first[at]!, spans.end[at]!) - this.chosenIn(from, end) >= MOST * beside;
    }
    return false;
  }

  private linkedIn(from: number, end: number): number {
    const { chars, linkChars } = this.outline.blocks;
    let all = 0;
    let linked = 0;
    for (let i = from; i < end; i++) {
      all += chars[i]!;
      linked += linkChars[i]!;
    }
    return linked / all;
  }

  private isBarred(block: number): boolean {
    const holder = this.outline.blocks.holder[block]!;
    return this.page.isShown[block] === 0 || (holder >= 0 && (this.page.signsOf[holder]! & this.barred) !== 0);
  }

  /** The name of a heading says what its section is about, not what it is. */
  private isHeadingBarred({ element, from }: Section): boolean {
    const parent = element < 0 ? NONE : this.outline.elements.parent[element]!;
    return this.page.isShown[from] === 0 || (parent >= 0 && (this.page.signsOf[parent]! & this.barred) !== 0);
  }

  private announcesTail({ from }: Section): boolean {
    return (this.context.hints[from]! & TAIL) !== 0;
  }

  /** A heading may hold something hidden, such as its permalink. */
  private keep({ from, body }: Section): void {
    for (let i = from; i < body; i++) if (this.page.isShown[i] === 1) this.isMain[i] = 1;
  }

  keepSections(): void {
    const { outline, isManual, isMain } = this;
    if (outline.kinds.article && !isManual) return;
    for (const alike of this.sectionsAlike()) {
      if (alike.length < LEAST_ALIKE) continue;
      let [all, chosen, kept] = [0, 0, 0];
      for (const { from, end } of alike) {
        all += this.plainIn(from, end);
        chosen += this.chosenIn(from, end);
        if (this.chosenIn(from, end) >= MOST * this.plainIn(from, end)) kept++;
      }
      // In a declared manual, one of them speaks for all.
      const isMost = kept >= SHARE_OF_ALIKE * alike.length && chosen >= MOST * all;
      if (!isMost && (!outline.kinds.manual || kept === 0)) continue;
      for (const section of alike) {
        if (this.isHeadingBarred(section)) continue;
        const { from, end } = section;
        if (!isManual && (this.announcesTail(section) || this.linkedIn(from, end) > MOST_LINKED)) continue;
        this.keep(section);
        for (let i = section.body; i < end; i++) if (!this.isBarred(i)) isMain[i] = 1;
      }
    }
    this.addUp();
  }

  /** Sections of one level whose headings, and the elements around these, look alike. */
  private sectionsAlike(): Iterable<Section[]> {
    const { elements, elementCount } = this.outline;
    const groups = new Map<number, Section[]>();
    for (const section of this.sections) {
      const { element, level } = section;
      if (element < 0) continue;
      const parent = elements.parent[element]!;
      const around = parent < 0 ? 0 : elements.looks[parent]! + 1;
      const key = (elements.looks[element]! * (elementCount + 1) + around) * 8 + level;
      const group = groups.get(key);
      if (group === undefined) groups.set(key, [section]);
      else group.push(section);
    }
    return groups.values();
  }

  keepHeadings(): void {
    const { sections, isMain, outline, isManual } = this;
    const { chars, linkChars } = outline.blocks;
    const least = outline.kinds.article && !isManual ? isMain.indexOf(1) : 0;
    /** Whether the text after the next heading is chosen while that heading is not. */
    let isNextFollowed = false;
    for (let k = sections.length - 1; k >= 0; k--) {
      const section = sections[k]!;
      const { from, body, end } = section;
      const isBeforeHeading = sections[k + 1]?.from === body && isMain[body] === 0;
      const isFollowed: boolean = body < end && (isBeforeHeading ? isNextFollowed : isMain[body] === 1);
      isNextFollowed = isFollowed;
      if (from < least) break;
      if (isMain[from] === 1 || !isFollowed) continue;
      if (this.isHeadingBarred(section) || this.announcesTail(section)) continue;
      if (linkChars[from]! > MOST_LINKED_HEADING * chars[from]!) continue;
      if (this.chosenIn(body, end) >= MOST * this.plainIn(body, end)) this.keep(section);
    }
  }

  /** Looks for the heading above the first chosen block. Returns it unless it is to be chosen. */
  keepBeginning(): Headline | null {
    const { isMain, isManual, outline, sections } = this;
    const { blocks } = outline;
    const first = isMain.indexOf(1);
    const region = isManual ? contentRegion(outline, this.spans, this.chosen) : NONE;
    const least = first - (isManual ? MANUAL_HEADING_WITHIN : HEADING_WITHIN);
    let top = first;
    for (let k = sections.length - 1; k >= 0; k--) {
      const section = sections[k]!;
      const { element, from, body, end, level } = section;
      if (from >= first) continue;
      if (from < least) break;
      if (this.isHeadingBarred(section) || this.announcesTail(section)) continue;
      if (blocks.linkChars[from]! > MOST_LINKED * blocks.chars[from]!) continue;
      const isOwn = isManual && (level === 1 || (element >= 0 && this.isWithin(element, region)));
      if (end <= first && !isOwn) continue;
      if (!isManual) {
        return blocks.heading[first]! > 0 && blocks.heading[first]! <= level ? null : { from, end: body };
      }
      this.keep(section);
      top = from;
    }
    if (isManual) this.keepBetween(top, isMain.lastIndexOf(1));
    return null;
  }

  private keepBetween(from: number, to: number): void {
    const { isMain, outline } = this;
    const { chars, linkChars } = outline.blocks;
    for (let i = from; i < to; i++) {
      if (linkChars[i]! <= MOST_LINKED * chars[i]! && !this.isBarred(i)) isMain[i] = 1;
    }
  }
}
