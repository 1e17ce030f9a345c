import {
  ADVERT,
  BODY,
  BYLINE,
  CARD,
  COMMENT,
  FOOT,
  FORM,
  HEAD,
  NAVIGATION,
  OVERLAY,
  POST,
  PRODUCT,
  RELATED,
  REVIEW,
  SHARE,
  SIDE,
  UNSEEN,
} from './class-words.ts';
import { ARTICLE, ASIDE, CONTENT, HEADER, HIDDEN, LIST, NOSCRIPT, SURROUND, TABLE } from './element-signs.ts';
import { type ElementsAround, elementsAround } from './elements-around.ts';
import type { PageShape } from './page-shape.ts';
import type { Outline, TextBlock } from './text-blocks.ts';

const CLASS_WORDS = [
  [NAVIGATION, 'navigation'],
  [FOOT, 'foot'],
  [SIDE, 'side'],
  [SHARE, 'share'],
  [RELATED, 'related'],
  [ADVERT, 'advert'],
  [OVERLAY, 'overlay'],
  [COMMENT, 'comment'],
  [BYLINE, 'byline'],
  [FORM, 'form'],
  [HEAD, 'head'],
  [UNSEEN, 'unseen'],
  [BODY, 'body'],
  [PRODUCT, 'product'],
  [POST, 'post'],
  [CARD, 'card'],
  [REVIEW, 'review'],
] as const;
const AROUND = [
  ...CLASS_WORDS,
  [HIDDEN, 'hidden'],
  [NOSCRIPT, 'noscript'],
  [SURROUND, 'surround'],
  [CONTENT, 'content'],
  [ARTICLE, 'article'],
  [ASIDE, 'aside'],
  [TABLE, 'table'],
  [LIST, 'list'],
  [HEADER, 'header'],
] as const;
const TAGS = [['p'], ['li'], ['td', 'th'], ['div', 'section'], ['dd', 'dt'], ['pre'], ['blockquote'], ['figcaption']];

/** Names of the columns of {@link blockFeatures}, in order. Widths and counts are log2(1 + n). */
export const FEATURES: readonly string[] = [
  ...'width density links heading marks endsSentence digits lines'.split(' '),
  ...TAGS.map(([name]) => `is:${name}`),
  'inItems',
  'inQuotes',
  ...[-1, 1].flatMap((by) => [`width${by}`, `density${by}`, `heading${by}`, `width${2 * by}`, `density${2 * by}`]),
  ...'nearWidth nearDensity at widthBefore sinceH1 sideOfH1 sinceHeading tail titleOverlap'.split(' '),
  ...'parentShare parentDensity parentBlocks grandShare grandDensity partShare partDensity partDepth depth'.split(' '),
  ...'alike alikeWidth alikeDensity inContainer containerShare containerDeclared outside'.split(' '),
  ...'plain blocks pageDensity longBlocks paragraphs isArticle isProduct isForum isList'.split(' '),
  ...AROUND.map(([, name]) => `in:${name}`),
  ...CLASS_WORDS.map(([, name]) => `at:${name}`),
];

/** Headings under which pages put what belongs to other pages, or what readers say. */
const TAIL =
  /^(?:related|you may also|you might also|more (?:from|in|on|stories|news|articles)|read (?:more|next|also)|recommended|see also|share this|latest (?:news|posts|articles|stories)|recent (?:posts|articles)|popular|trending|most (?:read|popular)|comments?|leave a (?:reply|comment)|about the author|tags|categories|newsletter|subscribe|follow us|sign up|advertisement|sponsored|customers also|frequently bought|相关|相關|推荐|推薦|热门|熱門|评论|評論|関連|おすすめ|人気|コメント)/i;
/** Whether a heading announces what belongs to other pages. */
export const announcesTail = ({ heading, text }: TextBlock): boolean => heading > 0 && TAIL.test(text);

/** Blocks on either side that make up the neighbourhood, and what each of them counts at most. */
const NEAR = 5;
const NEAR_WIDTH = 400;
/** Longer blocks are no headings, whatever their tag. */
const TITLE_WIDTH = 200;

const log = (value: number): number => Math.log2(1 + value);

/** A row of {@link FEATURES} for each block: what it is, what stands beside it, what it lies in, and what the page is. */
export function blockFeatures(outline: Outline, page: PageShape): Float32Array {
  const { blocks } = outline;
  const rows = new Float32Array(blocks.length * FEATURES.length);
  const writer = new FeatureWriter(outline, page, rows);
  for (let i = 0; i < blocks.length; i++) writer.write(i);
  return rows;
}

const COLUMN_OF_TAG: ReadonlyMap<string, number> = new Map(
  TAGS.flatMap((names, column) => names.map((name) => [name, column])),
);
const AROUND_SIGNS = AROUND.map(([sign]) => sign as number);
const CLOSE_SIGNS = CLASS_WORDS.map(([sign]) => sign as number);

class FeatureWriter {
  private readonly outline: Outline;
  private readonly page: PageShape;
  private readonly rows: Float32Array;
  private readonly around: ElementsAround;
  /** Of each block. */
  private readonly widths: Float64Array;
  private readonly densities: Float64Array;
  private readonly whole: readonly number[];
  private readonly titleWords: ReadonlySet<string>;
  private readonly firstH1: number;
  private column = 0;
  private widthBefore = 0;
  private sinceHeading = 0;
  private tailLevel = 0;

  constructor(outline: Outline, page: PageShape, rows: Float32Array) {
    const { blocks } = outline;
    this.outline = outline;
    this.page = page;
    this.rows = rows;
    this.around = elementsAround(outline, page);
    this.widths = Float64Array.from(page.shapes, ({ width }) => log(width));
    this.densities = Float64Array.from(blocks, ({ linkChars, text }) => linkChars / text.length);
    this.whole = wholePage(outline, page);
    this.titleWords = new Set(wordsOf(outline.kinds.title));
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

  private place(i: number, { text, heading }: TextBlock): void {
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
      if (TAIL.test(text)) this.tailLevel = heading;
      else if (heading <= this.tailLevel) this.tailLevel = 0;
    }
    this.put(Math.min(20, this.sinceHeading));
    this.put(this.tailLevel);
    this.put(heading > 0 || width < TITLE_WIDTH ? this.titleOverlap(text) : 0);
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
    this.putSigns(parent < 0 ? 0 : this.page.signsOf[parent]!, AROUND_SIGNS);
    this.putSigns((parent < 0 ? 0 : elements[parent]!.signs) | (grand < 0 ? 0 : elements[grand]!.signs), CLOSE_SIGNS);
  }

  private putSigns(bits: number, signs: readonly number[]): void {
    if (bits !== 0) {
      for (let i = 0; i < signs.length; i++) if ((bits & signs[i]!) !== 0) this.rows[this.column + i] = 1;
    }
    this.column += signs.length;
  }

  private titleOverlap(text: string): number {
    if (this.titleWords.size === 0) return 0;
    const words = wordsOf(text);
    let shared = 0;
    for (const word of words) if (this.titleWords.has(word)) shared++;
    return words.length === 0 ? 0 : shared / words.length;
  }
}

const wordsOf = (text: string): readonly string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

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
