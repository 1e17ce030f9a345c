import { ATTRIBUTE, CLOSE, readJsonLd, type Tape, TEXT, tagNumber } from 'incrawl/bundled';
import { APART, BLOCK, MUTED, OPAQUE, ROLES, SPECIAL } from './element-roles.ts';
import { FoldedBytes } from './folded-bytes.ts';
import { foldText } from './folded-text.ts';
import { type LinkMeaning, linkMeaning } from './link-element.ts';
import { readMeta } from './meta-element.ts';
import { emptyFacts, type PageFacts, type RawLink } from './page-facts.ts';
import { shownText } from './shown-text.ts';

export interface WalkOptions {
  readonly maxLinks: number;
  /** Agents whose `meta` robots lines apply, lower case: `robots` and our own. */
  readonly agents: ReadonlySet<string>;
}

const MAX_TITLE = 1024;
export const MAX_ANCHOR = 256;

const A = tagNumber('a');
const AREA = tagNumber('area');
const BASE = tagNumber('base');
const FRAME = tagNumber('frame');
const H1 = tagNumber('h1');
const HTML = tagNumber('html');
const IFRAME = tagNumber('iframe');
const IMG = tagNumber('img');
const LINK = tagNumber('link');
const META = tagNumber('meta');
const SCRIPT = tagNumber('script');
const TITLE = tagNumber('title');

/** Reads links and facts of pages in document order; reusable for any number of pages. */
export class PageWalk {
  private options!: WalkOptions;
  private tape!: Tape;
  private facts = emptyFacts();
  private maxRawLinks = 0;
  /** End of the outermost muted element; -1: none. */
  private mutedTo = -1;
  /** The open anchor (`null`: none), its end, its text, and that of its first image. */
  private anchor: RawLink | null = null;
  private anchorTo = -1;
  private readonly anchorText = new FoldedBytes(1 << 12);
  private alt = '';

  read(tape: Tape, options: WalkOptions): PageFacts {
    this.tape = tape;
    this.options = options;
    this.facts = emptyFacts();
    // Duplicates are merged when links are resolved; until then they need memory.
    this.maxRawLinks = 4 * options.maxLinks;
    this.mutedTo = -1;
    this.anchor = null;
    for (let at = 0; at < tape.length; at++) {
      const kind = tape.kindAt(at);
      if (kind === TEXT) {
        if (this.anchor !== null) this.anchorText.add(tape.bytes, tape.textStart(at), tape.textEnd(at));
      } else if (kind === CLOSE) this.leave(at);
      else if (kind >= 0) {
        const roles = ROLES.at(kind);
        if (roles !== 0) this.enter(at, kind, roles);
        if ((roles & OPAQUE) !== 0) at = tape.closeOf(at) - 1;
      }
    }
    this.endAnchor();
    return this.facts;
  }

  private enter(at: number, tag: number, roles: number): void {
    this.boundary(roles);
    if (this.mutedTo < 0 && (roles & MUTED) !== 0) this.mutedTo = this.tape.closeOf(at);
    if ((roles & SPECIAL) !== 0) this.special(at, tag);
  }

  private leave(at: number): void {
    if (this.anchor !== null) {
      if (at === this.anchorTo) this.endAnchor();
      else this.boundary(ROLES.at(this.tape.tagEndedAt(at)));
    }
    if (at === this.mutedTo) this.mutedTo = -1;
  }

  private boundary(roles: number): void {
    if (this.anchor !== null && (roles & (BLOCK | APART)) !== 0) this.anchorText.space();
  }

  private special(at: number, tag: number): void {
    const { tape, facts } = this;
    switch (tag) {
      case A:
        this.startAnchor(at);
        break;
      case IMG:
        if (this.anchor !== null) this.alt ||= tape.attribute(at, 'alt') ?? '';
        break;
      case AREA:
        this.addLink(tape.attribute(at, 'href'), PLAIN, tape.attribute(at, 'rel'), tape.attribute(at, 'alt'));
        break;
      case FRAME:
      case IFRAME:
        this.addLink(tape.attribute(at, 'src'), FRAMED, undefined, tape.attribute(at, 'title'));
        break;
      case LINK:
        this.readLink(at);
        break;
      case META:
        readMeta(tape, at, facts, this.options.agents, this.addRefresh);
        break;
      case BASE:
        facts.baseHref ??= tape.attribute(at, 'href') ?? null;
        break;
      case HTML:
        facts.lang ??= tape.attribute(at, 'lang') ?? tape.attribute(at, 'xml:lang') ?? null;
        facts.isAmp ||= isAmp(tape, at);
        break;
      case H1:
        this.readHeading(at);
        break;
      case SCRIPT:
        this.readScript(at);
        break;
      case TITLE:
        this.readTitle(at);
        break;
    }
  }

  private readLink(at: number): void {
    const attributes = this.linkAttributes(at);
    const { href, rel: relations, title } = attributes;
    const meaning = linkMeaning(attributes);
    if (meaning !== null) this.addLink(href, meaning, relations, title);
  }

  private readonly addRefresh = (url: string): void => {
    this.addLink(url, REFRESH, undefined, '');
  };

  private linkAttributes(at: number): Record<string, string> {
    const attributes: Record<string, string> = {};
    for (const name of LINK_ATTRIBUTES) {
      const value = this.tape.attribute(at, name);
      if (value !== undefined) attributes[name] = value;
    }
    return attributes;
  }

  private readTitle(at: number): void {
    // Inside svg it names a drawing.
    if (this.mutedTo >= 0 || this.facts.title !== null) return;
    this.facts.title = foldText(this.rawText(at), MAX_TITLE) || null;
    if (this.facts.title !== null) this.facts.stated.add('title', 'title', this.facts.title);
  }

  /** The text of an element that holds no elements. */
  private rawText(at: number): string {
    const { tape } = this;
    let text = '';
    for (let each = at + 1; each < tape.closeOf(at); each++) if (tape.kindAt(each) === TEXT) text += tape.textAt(each);
    return text;
  }

  private readHeading(at: number): void {
    if (this.mutedTo >= 0) return;
    this.facts.headings.push(at);
    this.facts.stated.add('title', 'h1', shownText(this.tape, at, MAX_TITLE));
  }

  private readScript(at: number): void {
    const { tape } = this;
    const type = tape.find(at, ATTRIBUTE.type);
    // Most scripts have no type, or a shorter one.
    if (type < 0 || tape.valueEnd(type) - tape.valueStart(type) < JSON_LD_CHARS) return;
    if (JSON_LD.test(tape.valueAt(type)) && this.facts.stated.jsonLd < MAX_JSON_LD)
      readJsonLd(this.rawText(at), this.facts.stated);
  }

  private startAnchor(at: number): void {
    const { tape } = this;
    // An anchor ends the one before, as in browsers, even where its end tag is missing.
    this.endAnchor();
    // In SVG, links may use the older attribute, which browsers honour only there.
    const href = tape.attribute(at, 'href') ?? (this.mutedTo >= 0 ? tape.attribute(at, 'xlink:href') : undefined);
    this.anchor = this.addLink(href, PLAIN, tape.attribute(at, 'rel'), '', at);
    this.anchorTo = tape.closeOf(at);
    this.anchorText.begin(MAX_ANCHOR);
    this.alt = '';
  }

  private endAnchor(): void {
    const { tape, anchor } = this;
    if (anchor === null) return;
    this.anchor = null;
    anchor.anchor = this.anchorText.text || foldText(this.alt || this.labelOf(tape.openOf(this.anchorTo)), MAX_ANCHOR);
  }

  private labelOf(at: number): string {
    return this.tape.attribute(at, 'aria-label') || this.tape.attribute(at, 'title') || '';
  }

  private addLink(
    href: string | undefined,
    { rel, lang, variant, series }: LinkMeaning,
    relations: string | undefined,
    anchor: string | undefined,
    entry?: number,
  ): RawLink | null {
    if (href === undefined || this.facts.links.length >= this.maxRawLinks) return null;
    const nofollow = relations !== undefined && NOFOLLOW.test(relations);
    const link: RawLink = {
      href,
      rel,
      nofollow,
      lang,
      variant,
      series: series ?? (relations === undefined ? undefined : seriesOf(relations)),
      entry,
      anchor: anchor ? foldText(anchor, MAX_ANCHOR) : '',
    };
    this.facts.links.push(link);
    return link;
  }
}

const PLAIN: LinkMeaning = { rel: 'link' };
const FRAMED: LinkMeaning = { rel: 'frame' };
const REFRESH: LinkMeaning = { rel: 'refresh' };

const SERIES = /(?:^|\s)(next|prev)(?:\s|$)/i;
const seriesOf = (relations: string): RawLink['series'] =>
  SERIES.exec(relations)?.[1]?.toLowerCase() as RawLink['series'];

/** `amp`, or the high-voltage sign, with or without a variation selector. */
const AMP_NAME = /^(?:amp|\u26a1\ufe0f?)(?:[\s=/>]|$)/i;
const AMP_NAME_BYTES = 8;

/** Whether an `html` element declares AMP (https://amp.dev/documentation/guides-and-tutorials/learn/spec/amphtml). */
function isAmp(tape: Tape, at: number): boolean {
  for (let position = tape.firstAttribute(at); position < tape.endOfAttributes(at); position++) {
    const start = -tape.attributeAt(position);
    if (start > 0 && AMP_NAME.test(tape.string(start, start + AMP_NAME_BYTES))) return true;
  }
  return false;
}

const LINK_ATTRIBUTES = ['rel', 'type', 'hreflang', 'href', 'title', 'media'] as const;
const JSON_LD = /^\s*application\/ld\+json\s*(?:;|$)/i;
const JSON_LD_CHARS = 'application/ld+json'.length;
/** Blocks of JSON-LD read of a page. */
const MAX_JSON_LD = 32;
const NOFOLLOW = /(?:^|\s)(?:nofollow|ugc|sponsored)(?:\s|$)/i;
