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

/** Statements of one page by field, in the order of the page, texts cleaned and bounded. */
export class Statements {
  private readonly byField = new Map<StatedField, Statement[]>();
  /** Whether the page calls itself an article. */
  isArticle = false;
  /** The longest text that structured data give for the page, as written. */
  articleBody: string | null = null;
  /** Blocks of JSON-LD that were read, and those that are no JSON. */
  jsonLd = 0;
  malformed = 0;

  add(field: StatedField, source: string, written: string): void {
    const list = this.byField.get(field) ?? [];
    if (list.length >= MAX_STATEMENTS) return;
    if (field === 'image' && written.length > MAX_LONG_CHARS) return;
    const value = cleanText(written, field === 'description' || field === 'image' ? MAX_LONG_CHARS : MAX_CHARS);
    if (value === '') return;
    list.push({ source, value });
    this.byField.set(field, list);
  }

  of(field: StatedField): readonly Statement[] {
    return this.byField.get(field) ?? NONE;
  }

  /** The first of a field whose source is one of these, by the order of the sources. */
  first(field: StatedField, sources: readonly string[]): Statement | null {
    const list = this.of(field);
    for (const source of sources) {
      const found = list.find((each) => each.source === source);
      if (found !== undefined) return found;
    }
    return null;
  }
}
