import { cleanText } from './clean-text.ts';

/** What a page may say about itself in several places. */
export const STATED_FIELDS = [
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

/** The statements of a field as they were written, and as many of them as were asked for, cleaned. */
interface Field {
  readonly written: Statement[];
  readonly clean: Statement[];
  /** Number of the written ones that were cleaned. */
  read: number;
}

/**
 * Statements of one page by field, in the order of the page, texts cleaned and bounded. They are cleaned when somebody
 * asks: of most fields one is enough.
 */
export class Statements {
  private readonly fields = new Map<StatedField, Field>();
  /** Whether the page calls itself an article. */
  isArticle = false;
  /** The longest text that structured data give for the page, as written. */
  articleBody: string | null = null;
  /** Blocks of JSON-LD that were read, and those that are no JSON. */
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

  /** The first of a field whose source is one of these, by the order of the sources. */
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

  /** The first of a field that gives an answer, with its source. */
  firstOf<Answer>(field: StatedField, read: (value: string) => Answer | null): Decision<Answer> | null {
    for (const { source, value: written } of this.fields.get(field)?.written ?? NONE) {
      const value = read(cleaned(field, written));
      if (value !== null) return { value, source };
    }
    return null;
  }
}
