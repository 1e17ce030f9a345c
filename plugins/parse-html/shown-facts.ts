import { ATTRIBUTE, type Statements, type Tape, TEXT, TextMeanings, tagNumber } from 'incrawl/bundled';
import { writtenTime } from 'incrawl/plugin';
import { OPAQUE, ROLES } from './element-roles.ts';
import { shownText } from './shown-text.ts';

const A = tagNumber('a');
/** Elements about other things than the page. */
const ELSEWHERE = new Set(['aside', 'figure', 'footer', 'form', 'nav'].map(tagNumber));
const TIME = tagNumber('time');

/** Entries of the tape around a heading that are searched for its author and date. */
const BEFORE = 60;
const BEHIND = 180;
/** The same for dates in plain text: the header of a site shows today's. */
const JUST_BEFORE = 25;
/** A longer text is neither a name nor a date. */
const MAX_NAME = 80;
const MAX_BYLINE = 160;
/** An element with more entries is not a byline, whatever its class. */
const BYLINE_ENTRIES = 40;
const MAX_DATE = 60;
/** A text of this many bytes is the article: later dates belong to other pages, or to its subject. */
const ARTICLE_BYTES = 240;

/** What an `itemprop` (schema.org) or a class says of its element. */
const NOTHING = 0;
const AUTHOR = 1;
const PUBLISHED = 2;
const MODIFIED = 3;
const PROPERTIES: ReadonlyMap<string, number> = new Map([
  ['author', AUTHOR],
  ['datepublished', PUBLISHED],
  ['datemodified', MODIFIED],
]);
const AUTHOR_LINK = /(?:^|\s)author(?:\s|$)/i;
const BYLINE = /(?:^|[\s_-])(?:by-?line|authors?(?:-?name)?)(?:$|\s)/i;
const UPDATED = /(?:^|[\s_-])(?:updated|modified)(?:$|[\s_-])/i;
/** Words before a date. */
const DATED =
  /^(?:first |last |originally )?(?:published|posted|updated|modified|veröffentlicht|erstellt|aktualisiert|stand|publié|publicado|actualizado|pubblicato|gepubliceerd|опубликовано|公開日|更新日|发布时间|發布時間)(?: on| at| am| le| el| il| op)?\s*[:\uff1a]?\s*/i;
const CHANGED = /^(?:last )?(?:updated|modified|aktualisiert|stand|actualizado|更新日)/i;
/** Text after a name in a byline. */
const BEHIND_NAME =
  /(?:\b(?:last )?(?:updated|posted|published|follow)\b|(?:\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?\s+)?\d|[|\u2022\u00b7*]).*$/isu;

function byClass(names: string): number {
  if (BYLINE.test(names)) return AUTHOR;
  return UPDATED.test(names) ? MODIFIED : NOTHING;
}

/**
 * Reads authors and dates beside the heading of a page: microdata, `time` elements, `rel=author`, bylines by their
 * class, dates in text. They are trusted least, and read only if nothing else states them. Reusable for any number of
 * pages.
 */
export class ShownFacts {
  private readonly properties = new TextMeanings((name) => PROPERTIES.get(name.trim().toLowerCase()) ?? NOTHING);
  private readonly classes = new TextMeanings((names) => byClass(names));

  private tape!: Tape;
  private stated!: Statements;
  private isAuthorWanted = false;
  private isDateWanted = false;

  /** @param heading entry of the heading on the tape */
  read(tape: Tape, heading: number, stated: Statements): void {
    this.tape = tape;
    this.stated = stated;
    this.isAuthorWanted = !stated.has('authors');
    this.isDateWanted = !stated.has('publishedAt');
    if (!this.isAuthorWanted && !this.isDateWanted) return;
    const end = Math.min(tape.length, tape.closeOf(heading) + BEHIND);
    for (let at = Math.max(0, heading - BEFORE); at < end; at++) {
      const kind = tape.kindAt(at);
      if (kind === TEXT) {
        const bytes = tape.textEnd(at) - tape.textStart(at);
        if (bytes >= ARTICLE_BYTES && at > heading) return;
        if (bytes <= MAX_DATE && at > heading - JUST_BEFORE && tape.isVisible(at)) this.readText(at);
      } else if (kind >= 0) {
        const isElsewhere = ELSEWHERE.has(kind);
        if (isElsewhere || (ROLES.at(kind) & OPAQUE) !== 0) at = tape.closeOf(at) - 1;
        else if (this.readElement(at, kind)) at = tape.closeOf(at);
      }
    }
  }

  /** Whether the element states something; then nothing inside it does. */
  private readElement(at: number, tag: number): boolean {
    const { tape } = this;
    // Half of all elements have no attributes.
    if (tag !== TIME && tape.firstAttribute(at) === tape.endOfAttributes(at)) return false;
    const itemprop = tape.find(at, ATTRIBUTE.itemprop);
    const property = itemprop < 0 ? NOTHING : this.properties.of(tape.interned, tape.internedAt(itemprop));
    if (property === AUTHOR) return this.addName(at, 'itemprop author');
    if (property !== NOTHING || tag === TIME) return this.addTime(at, property);
    if (tag === A && AUTHOR_LINK.test(tape.attribute(at, 'rel') ?? '')) return this.addName(at, 'rel author');
    if (this.isAuthorWanted && tape.closeOf(at) - at <= BYLINE_ENTRIES && this.classAt(at) === AUTHOR)
      this.addByline(at);
    return false;
  }

  /** The innermost byline counts: its links are the names, otherwise its text up to a time, a number or a bar. */
  private addByline(at: number): void {
    const { tape } = this;
    const end = tape.closeOf(at);
    let isNamed = false;
    for (let each = at + 1; each < end; each++) {
      const kind = tape.kindAt(each);
      if (kind < 0) continue;
      if (this.classAt(each) === AUTHOR) return;
      if (kind === A && this.addName(each, 'byline')) isNamed = true;
    }
    const text = isNamed ? '' : shownText(tape, at, MAX_BYLINE);
    if (text.length < MAX_BYLINE) this.stated.add('authors', 'byline', text.replace(BEHIND_NAME, '').trim());
  }

  private addName(at: number, source: string): boolean {
    if (!this.isAuthorWanted) return false;
    const written = this.tape.attribute(at, 'content') ?? shownText(this.tape, at, MAX_NAME);
    const isName = written.length < MAX_NAME && written.trim() !== '';
    if (isName) this.stated.add('authors', source, written);
    return isName;
  }

  private addTime(at: number, property: number): boolean {
    const { tape } = this;
    const isChange = property === MODIFIED || (property === NOTHING && this.classAt(at) === MODIFIED);
    if (!this.isDateWanted) return true;
    const written = tape.attribute(at, 'content') ?? tape.attribute(at, 'datetime') ?? shownText(tape, at, MAX_DATE);
    const source = property === NOTHING ? 'time' : `itemprop ${isChange ? 'dateModified' : 'datePublished'}`;
    this.stated.add(isChange ? 'modifiedAt' : 'publishedAt', source, written);
    return true;
  }

  /** A text that is a date and little more. */
  private readText(at: number): void {
    if (!this.isDateWanted) return;
    if (!this.hasYear(this.tape.textStart(at), this.tape.textEnd(at))) return;
    const text = this.tape.textAt(at).trim();
    const date = text.replace(DATED, '');
    if (writtenTime(date) !== null) this.stated.add(CHANGED.test(text) ? 'modifiedAt' : 'publishedAt', 'text', date);
  }

  /** Whether a range has four digits in a row: most texts have none, and no string is made of them. */
  private hasYear(from: number, to: number): boolean {
    const { bytes } = this.tape;
    let digits = 0;
    for (let at = from; at < to; at++) {
      const byte = bytes[at]!;
      digits = byte >= 0x30 && byte <= 0x39 ? digits + 1 : 0;
      if (digits === 4) return true;
    }
    return false;
  }

  private classAt(at: number): number {
    const position = this.tape.find(at, ATTRIBUTE.class);
    return position < 0 ? NOTHING : this.classes.of(this.tape.interned, this.tape.internedAt(position));
  }
}
