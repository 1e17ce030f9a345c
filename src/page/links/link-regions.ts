// page/links/: links that are noise, hub pages, and robots directives of a page.

import {
  type Classifier,
  createClassifier,
  MAIN_CONTENT,
  PERHAPS_SURROUNDING,
  PLAIN,
  SILENT,
  SURROUNDING,
} from '../content/boilerplate.ts';
import { ATTRIBUTE, TagTable, tagNumber } from '../tape/name-table.ts';
import { CLOSE, type Tape, TEXT } from '../tape/tape.ts';

/** Place of an anchor, and the share of anchors around it. */
export interface LinkPlace {
  /**
   * `surround`: in navigation, footer, sidebar by tag or role, or hidden; `perhaps`: by class or id; `content`: the
   * nearest mark says content.
   */
  readonly region: 'surround' | 'perhaps' | 'content' | 'plain';
  /** The region of the page that the anchor belongs to. */
  readonly part: PagePart;
}

/** A region of the page between cuts. Characters are counted without white space, and only where there are links. */
export interface PagePart {
  textChars: number;
  anchorChars: number;
  links: number;
}

/** Share of a region's text that is anchor text: 1 if it only has links without text, 0 without links. */
export function linkRatio({ textChars, anchorChars, links }: PagePart): number {
  return textChars === 0 ? Number(links > 0) : anchorChars / textChars;
}

/** Elements at which the published system cuts a page. */
export const PUBLISHED_CUTS = TagTable.of(['td', 'p', 'div']);
/** Their counterparts in current pages. */
export const TODAYS_CUTS = TagTable.of(
  'td p div ul ol dl table nav aside footer header main article section form blockquote figure'.split(' '),
);

/** The mark of an element, valid for all its content, and the range of the page's texts that it covers. */
interface Mark {
  readonly kind: number;
  /** Positions of its first text, and of the first text after it. */
  readonly from: number;
  to: number;
  readonly outer: Mark | null;
}

/** Elements deeper than this belong to the part around them. */
const MAX_DEPTH = 2_000;
/** A larger share of the text is the page itself, whatever the class (`class="has-sidebar"`). */
const MAX_SURROUND_SHARE = 0.4;

const UNREAD = TagTable.of('script style template svg math head noscript'.split(' '));
const A = tagNumber('a');

/**
 * The place of every anchor of a page, by its entry on the tape, in one pass without recursion. Text of scripts, styles
 * and the like is ignored.
 * @param cuts elements that begin a region
 * @param classOf caches the meaning of class names; shared by many pages
 */
export function linkPlaces(
  tape: Tape,
  cuts: TagTable,
  classOf: Classifier = createClassifier(false),
): Map<number, LinkPlace> {
  const places = new PlaceWalk(tape, cuts, classOf);
  places.walk();
  return places.found();
}

class PlaceWalk {
  private readonly tape: Tape;
  private readonly cuts: TagTable;
  private readonly classOf: Classifier;
  /** Entries of the anchors, with the part of their places that is known before the end of the page. */
  private readonly anchors: { readonly at: number; readonly mark: Mark | null; readonly part: PagePart }[] = [];
  /** Entries of the texts, the part of each, and whether it is in an anchor. */
  private readonly texts: number[] = [];
  private readonly textParts: PagePart[] = [];
  private readonly isInAnchor: boolean[] = [];
  /** Of the open elements, by depth. */
  private readonly marks: (Mark | null)[] = [null];
  private readonly parts: PagePart[] = [emptyPart()];
  private readonly inAnchor: boolean[] = [false];
  private depth = 0;

  constructor(tape: Tape, cuts: TagTable, classOf: Classifier) {
    this.tape = tape;
    this.cuts = cuts;
    this.classOf = classOf;
  }

  walk(): void {
    const { tape } = this;
    for (let at = 0; at < tape.length; at++) {
      const kind = tape.kindAt(at);
      if (kind === TEXT) this.addText(at);
      else if (kind === CLOSE) this.leave();
      else if (kind >= 0) {
        if (UNREAD.has(kind) || this.depth >= MAX_DEPTH) at = tape.closeOf(at);
        else this.enter(at, kind);
      }
    }
  }

  private addText(at: number): void {
    if (!this.tape.isVisible(at) || this.tape.isSection(at)) return;
    this.texts.push(at);
    this.textParts.push(this.parts[this.depth]!);
    this.isInAnchor.push(this.inAnchor[this.depth]!);
  }

  private enter(at: number, tag: number): void {
    const { tape, depth } = this;
    const mark = this.markOf(at);
    const part = this.cuts.has(tag) ? emptyPart() : this.parts[depth]!;
    const isAnchor = tag === A && tape.find(at, ATTRIBUTE.href) >= 0;
    if (isAnchor) {
      part.links++;
      this.anchors.push({ at, mark, part });
    }
    this.depth = depth + 1;
    this.marks[depth + 1] = mark;
    this.parts[depth + 1] = part;
    this.inAnchor[depth + 1] = isAnchor || this.inAnchor[depth]!;
  }

  private leave(): void {
    const mark = this.marks[this.depth]!;
    if (mark !== null && mark !== this.marks[this.depth - 1]) mark.to = this.texts.length;
    this.depth--;
  }

  private markOf(at: number): Mark | null {
    const outer = this.marks[this.depth]!;
    const found = this.classOf(this.tape, at);
    if (found === PLAIN) return outer;
    const from = this.texts.length;
    return { kind: found === SILENT ? SURROUNDING : found, from, to: from, outer };
  }

  found(): Map<number, LinkPlace> {
    const { tape, texts, textParts, isInAnchor } = this;
    for (let i = 0; i < texts.length; i++) {
      const part = textParts[i]!;
      if (part.links === 0) continue;
      const chars = visibleChars(tape, texts[i]!);
      part.textChars += chars;
      if (isInAnchor[i]) part.anchorChars += chars;
    }
    const places = new Map<number, LinkPlace>();
    for (const { at, mark, part } of this.anchors) places.set(at, { region: this.regionOf(mark), part });
    return places;
  }

  /** A surrounding mark applies to everything inside. Within a doubtful mark, a mark of content wins. */
  private regionOf(mark: Mark | null): LinkPlace['region'] {
    for (let each = mark; each !== null; each = each.outer) if (each.kind === SURROUNDING) return 'surround';
    for (let each = mark; each !== null; each = each.outer) {
      if (each.kind === MAIN_CONTENT) return 'content';
      if (each.kind === PERHAPS_SURROUNDING && !this.isPage(each)) return 'perhaps';
    }
    return 'plain';
  }

  /** Characters before each text, and of all; most pages need none of them. */
  private charsBefore: Float64Array | null = null;

  /** Whether a mark covers so much of the text that it covers the page itself. */
  private isPage({ from, to }: Mark): boolean {
    const { tape, texts } = this;
    if (this.charsBefore === null) {
      this.charsBefore = new Float64Array(texts.length + 1);
      for (let i = 0; i < texts.length; i++) {
        this.charsBefore[i + 1] = this.charsBefore[i]! + visibleChars(tape, texts[i]!);
      }
    }
    const before = this.charsBefore;
    return before[to]! - before[from]! > MAX_SURROUND_SHARE * before[texts.length]!;
  }
}

const emptyPart = (): PagePart => ({ textChars: 0, anchorChars: 0, links: 0 });

/** UTF-16 units of a text beyond spaces and control characters. */
function visibleChars(tape: Tape, at: number): number {
  const { bytes } = tape;
  const end = tape.textEnd(at);
  let chars = 0;
  for (let i = tape.textStart(at); i < end; i++) {
    const byte = bytes[i]!;
    if (byte < 0x80) chars += Number(byte > 0x20);
    else if (byte >= 0xc0) chars += byte < 0xf0 ? 1 : 2;
  }
  return chars;
}

/** A page with a larger share of anchors in its text exists for its links. */
const MOSTLY_ANCHORS = 0.5;

/**
 * Whether a page is a hub: it has no main content, or only links as main content, and its text is mostly anchor text.
 * Its links are then its content. How many of its *links* are in lists does not matter: an ordinary page has most of
 * its links in its navigation.
 * @param mainText `null`: none was found
 * @param isMostlyLinks whether the main content is mostly links
 */
export function isHub(tape: Tape, mainText: string | null, isMostlyLinks: boolean): boolean {
  return (mainText === null || isMostlyLinks) && anchorShare(tape) > MOSTLY_ANCHORS;
}

/** Share of the visible characters of a page that are in anchors; 0 without text. */
function anchorShare(tape: Tape): number {
  let all = 0;
  let inAnchors = 0;
  let anchorEnd = -1;
  for (let at = 0; at < tape.length; at++) {
    const kind = tape.kindAt(at);
    if (kind === TEXT) {
      if (!tape.isVisible(at) || tape.isSection(at)) continue;
      const chars = visibleChars(tape, at);
      all += chars;
      if (at < anchorEnd) inAnchors += chars;
    } else if (kind >= 0) {
      if (UNREAD.has(kind)) at = tape.closeOf(at);
      else if (kind === A && at >= anchorEnd && tape.find(at, ATTRIBUTE.href) >= 0) anchorEnd = tape.closeOf(at);
    }
  }
  return all === 0 ? 0 : inAnchors / all;
}
