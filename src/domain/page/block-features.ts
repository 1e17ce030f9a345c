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

class FeatureWriter {
  private readonly outline: Outline;
  private readonly page: PageShape;
  private readonly rows: Float32Array;
  private readonly titleWords: ReadonlySet<string>;
  private readonly firstH1: number;
  private column = 0;
  private widthBefore = 0;
  private sinceHeading = 0;
  private tailLevel = 0;

  constructor(outline: Outline, page: PageShape, rows: Float32Array) {
    this.outline = outline;
    this.page = page;
    this.rows = rows;
    this.titleWords = new Set(wordsOf(outline.kinds.title));
    this.firstH1 = outline.blocks.findIndex(({ heading }, i) => heading === 1 && page.isShown[i] === 1);
  }

  /** Rows are to be written in order. */
  write(i: number): void {
    const block = this.outline.blocks[i] as TextBlock;
    this.column = i * FEATURES.length;
    this.own(i, block);
    for (const by of [-1, 1]) {
      this.put(this.width(i + by), this.density(i + by), this.outline.blocks[i + by]?.heading ?? 0);
      this.put(this.width(i + 2 * by), this.density(i + 2 * by));
    }
    this.place(i, block);
    this.elementsAround(block);
    this.containing(i, block);
    this.wholePage();
    this.signs(block);
  }

  private put(...values: readonly number[]): void {
    for (const value of values) this.rows[this.column++] = value;
  }

  private width(i: number): number {
    return log(this.page.shapes[i]?.width ?? 0);
  }

  private density(i: number): number {
    const block = this.outline.blocks[i];
    return block === undefined ? 0 : block.linkChars / block.text.length;
  }

  private own(i: number, { text, tag, links, heading, path }: TextBlock): void {
    const shape = this.page.shapes[i];
    if (shape === undefined) return;
    this.put(this.width(i), this.density(i), log(links), heading, log(shape.marks), Number(shape.endsSentence));
    this.put(shape.digits / text.length, log(shape.lines - 1));
    for (const names of TAGS) this.put(Number(names.includes(tag)));
    let items = 0;
    let quotes = 0;
    for (const at of path) {
      const name = this.outline.elements[at]?.name;
      if (name === 'li') items++;
      else if (name === 'blockquote') quotes++;
    }
    this.put(items, quotes);
  }

  private place(i: number, { text, heading }: TextBlock): void {
    const { shapes, isShown, plain, linked } = this.page;
    let near = 0;
    let nearDensity = 0;
    for (let j = i - NEAR; j <= i + NEAR; j++) {
      near += Math.min(NEAR_WIDTH, shapes[j]?.width ?? 0);
      nearDensity += this.density(j);
    }
    this.put(log(near), nearDensity, i / this.outline.blocks.length, this.widthBefore / (plain + linked + 1));
    const width = shapes[i]?.width ?? 0;
    if (isShown[i] === 1) this.widthBefore += width;
    const since = this.firstH1 < 0 ? 0 : i - this.firstH1;
    this.put(Math.max(-30, Math.min(30, since)), this.firstH1 < 0 ? 0 : since > 0 ? 1 : since === 0 ? 2 : -1);
    this.sinceHeading = heading > 0 ? 0 : this.sinceHeading + 1;
    if (heading > 0) {
      if (TAIL.test(text)) this.tailLevel = heading;
      else if (heading <= this.tailLevel) this.tailLevel = 0;
    }
    this.put(Math.min(20, this.sinceHeading), this.tailLevel);
    this.put(heading > 0 || width < TITLE_WIDTH ? this.titleOverlap(text) : 0);
  }

  private elementsAround({ path }: TextBlock): void {
    const { elements, blocks } = this.outline;
    const parent = path.at(-1) ?? -1;
    const grand = path.at(-2) ?? -1;
    this.put(this.share(parent), this.densityIn(parent), log(elements[parent]?.blocks ?? 0));
    this.put(this.share(grand), this.densityIn(grand));
    // The widest element around that is not most of the page.
    let part = -1;
    for (let k = path.length - 1; k >= 0; k--) {
      const at = path[k] as number;
      if (this.share(at) >= 0.5 || (elements[at]?.blocks ?? 0) >= 0.5 * blocks.length) break;
      part = at;
    }
    this.put(this.share(part), this.densityIn(part), elements[part]?.depth ?? 0, path.length);
  }

  private containing(i: number, block: TextBlock): void {
    const { elements } = this.outline;
    const { plainOf, repeatedOf, container, containerFirst, containerLast } = this.page;
    const alike = repeatedOf[block.path.at(-1) ?? -1] ?? -1;
    const known = elements[alike];
    this.put(
      known === undefined ? 0 : log(known.alike),
      log(plainOf[alike] ?? 0),
      known === undefined ? 0 : this.densityIn(alike),
    );
    const depth = container < 0 ? 0 : block.path.indexOf(container);
    this.put(Number(depth >= 0), this.share(container), Number(((elements[container]?.signs ?? 0) & CONTENT) !== 0));
    this.put(i < containerFirst ? i - containerFirst : i > containerLast ? i - containerLast : 0);
  }

  private wholePage(): void {
    const { plain, linked, longBlocks, inParagraphs } = this.page;
    const { article, product, forum, list } = this.outline.kinds;
    this.put(log(plain), log(this.outline.blocks.length), linked / (plain + linked + 1), log(longBlocks));
    this.put(inParagraphs / (plain + 1), Number(article), Number(product), Number(forum), Number(list));
  }

  private signs({ path }: TextBlock): void {
    const { elements } = this.outline;
    const parent = path.at(-1) ?? -1;
    const around = this.page.signsOf[parent] ?? 0;
    for (const [sign] of AROUND) this.put(Number((around & sign) !== 0));
    const close = (elements[parent]?.signs ?? 0) | (elements[path.at(-2) ?? -1]?.signs ?? 0);
    for (const [sign] of CLASS_WORDS) this.put(Number((close & sign) !== 0));
  }

  private share(at: number): number {
    return at < 0 ? 1 : (this.page.plainOf[at] ?? 0) / (this.page.plain + 1);
  }

  private densityIn(at: number): number {
    const element = this.outline.elements[at];
    return element === undefined ? 0 : element.linkChars / (element.chars + 1);
  }

  private titleOverlap(text: string): number {
    if (this.titleWords.size === 0) return 0;
    const words = wordsOf(text);
    return words.length === 0 ? 0 : words.filter((word) => this.titleWords.has(word)).length / words.length;
  }
}

const wordsOf = (text: string): readonly string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
