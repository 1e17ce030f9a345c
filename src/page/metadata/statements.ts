import { cutText } from '../text/cut-text.ts';

/**
 * Control characters, soft hyphens, marks of the reading direction and other characters without a width; also
 * private-use characters, which are icons in the font of the page and mean nothing elsewhere.
 */
const UNSEEN =
  /[\0-\x08\x0e-\x1f\x7f-\x9f\xad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ue000-\uf8ff\ufeff\ufff9-\ufffb]/g;
const SPACES = /\s+/g;
/** A text without the differences between ways to write the same words, tested before the slower replacements. */
const PLAIN = /^[\x21-\x25\x27-\x7e]+(?: [\x21-\x25\x27-\x7e]+)*$/;
const REFERENCE = /&(?:#(\d{1,7})|#x([\da-f]{1,6})|(amp|lt|gt|quot|apos|nbsp|ndash|mdash|hellip|[lr]squo|[lr]dquo));/gi;

const NAMED: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  ndash: '\u2013',
  mdash: '\u2014',
  hellip: '\u2026',
  lsquo: '\u2018',
  rsquo: '\u2019',
  ldquo: '\u201c',
  rdquo: '\u201d',
};

/**
 * A short text on one line: character references decoded (they are common in JSON, and written twice in markup), white
 * space collapsed, characters that show nothing left out. Joiners stay: scripts and emoji need them.
 */
export function cleanText(written: string, maxLength: number): string {
  // The longest text is cut first, so that the work is bounded.
  const text = written.length > 8 * maxLength ? written.slice(0, 8 * maxLength) : written;
  if (text.length <= maxLength && PLAIN.test(text)) return text;
  const decoded = text.includes('&') ? text.replace(REFERENCE, decode) : text;
  return cutText(decoded.replace(UNSEEN, '').replace(SPACES, ' ').trim(), maxLength);
}

function decode(whole: string, decimal?: string, hex?: string, name?: string): string {
  if (name !== undefined) return NAMED[name.toLowerCase()] ?? whole;
  const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
  return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : whole;
}

/** What a page may say about itself in several places. */
const STATED_FIELDS = [
  'title',
  'authors',
  'publishedAt',
  'modifiedAt',
  'description',
  'siteName',
  'image',
  'lang',
] as const;
export type StatedField = (typeof STATED_FIELDS)[number];

export interface Statement {
  /** Where it stands, for people: `h1`, `og:title`, `json-ld datePublished`. */
  readonly source: string;
  readonly value: string;
}

/** A value and where it was found. */
export interface Decision<Value> {
  readonly value: Value;
  /** Sources that agree on it, the one whose text was taken first: `h1, og:title`. */
  readonly source: string;
}

/** Statements kept of a field: pages that repeat themselves cost no more. */
const MAX_STATEMENTS = 16;
const MAX_CHARS = 1024;
const MAX_LONG_CHARS = 2048;

const NONE: readonly Statement[] = [];

const cleaned = (field: StatedField, written: string): string =>
  cleanText(written, field === 'description' || field === 'image' ? MAX_LONG_CHARS : MAX_CHARS);

/** The statements of a field as they were written, with the cleaned ones so far. */
interface Field {
  readonly written: Statement[];
  readonly clean: Statement[];
  /** Number of statements that were cleaned. */
  read: number;
}

/**
 * Statements of one page by field, in the order of the page, texts cleaned and bounded. They are cleaned on demand: for
 * most fields one is enough.
 */
export class Statements {
  private readonly fields = new Map<StatedField, Field>();
  /** Whether the page declares itself an article. */
  isArticle = false;
  /** The longest text that structured data give for the page, as written. */
  articleBody: string | null = null;
  /** Number of JSON-LD blocks that were read, and of those that are not JSON. */
  jsonLd = 0;
  malformed = 0;

  add(field: StatedField, source: string, written: string): void {
    if (written === '' || (field === 'image' && written.length > MAX_LONG_CHARS)) return;
    const known = this.fields.get(field);
    if (known === undefined) this.fields.set(field, { written: [{ source, value: written }], clean: [], read: 0 });
    else if (known.written.length < MAX_STATEMENTS) known.written.push({ source, value: written });
  }

  has(field: StatedField): boolean {
    return this.fields.has(field);
  }

  of(field: StatedField): readonly Statement[] {
    const known = this.fields.get(field);
    if (known === undefined) return NONE;
    const { written, clean } = known;
    while (known.read < written.length) {
      const each = written[known.read++]!;
      const value = cleaned(field, each.value);
      if (value !== '') clean.push(value === each.value ? each : { source: each.source, value });
    }
    return clean;
  }

  /** The first statement of a field from one of these sources, in the order of the sources. */
  first(field: StatedField, sources: readonly string[]): Statement | null {
    const written = this.fields.get(field)?.written ?? NONE;
    for (const source of sources) {
      for (const each of written) {
        if (each.source !== source) continue;
        const value = cleaned(field, each.value);
        if (value !== '') return { source, value };
      }
    }
    return null;
  }

  /** The first statement of a field that yields an answer, with its source. */
  firstOf<Answer>(field: StatedField, read: (value: string) => Answer | null): Decision<Answer> | null {
    for (const { source, value: written } of this.fields.get(field)?.written ?? NONE) {
      const value = read(cleaned(field, written));
      if (value !== null) return { value, source };
    }
    return null;
  }
}
