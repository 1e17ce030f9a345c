import { CrawlError } from '../errors.ts';

/** Longest expression, characters. */
const MAX_LENGTH = 4_000;

export interface Word {
  readonly text: string;
  /** From 0. */
  readonly at: number;
  readonly isQuoted: boolean;
}

/** Signs; longer ones first. */
const SIGNS = ['==', '!=', '!~', '<>', '<=', '>=', '&&', '||', '=', '<', '>', '~', '!', '(', ')', ','] as const;

/**
 * Splits an expression into words, signs and quoted texts. After an operator comes a value, in which signs such as =
 * may stand.
 */
export class Words {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    if (text.length > MAX_LENGTH) throw mistake(0, `an expression has at most ${MAX_LENGTH} characters`);
    this.#text = text;
  }

  get at(): number {
    this.#skip();
    return this.#at;
  }

  /** The next word without taking it, in lower case; '' at the end and before a quoted text. */
  peek(): string {
    const start = this.at;
    const word = this.#plain();
    this.#at = start;
    return word?.text.toLowerCase() ?? '';
  }

  isAtEnd(): boolean {
    return this.at >= this.#text.length;
  }

  /** Takes the next word when it is one of these. */
  take(...wanted: readonly string[]): boolean {
    if (!wanted.includes(this.peek())) return false;
    this.#plain();
    return true;
  }

  /** A name or a sign; `null` at the end. */
  next(): Word | null {
    this.#skip();
    return this.#plain();
  }

  /** A value: a quoted text, or all up to a blank, a comma or a parenthesis that it did not open itself. */
  value(): Word | null {
    const at = this.at;
    const quote = this.#text[at];
    if (quote === "'" || quote === '"') return this.#quoted(at, quote);
    let depth = 0;
    while (this.#at < this.#text.length) {
      const char = this.#text[this.#at] ?? '';
      if (/\s/.test(char) || (depth === 0 && (char === ')' || char === ','))) break;
      if (char === '(') depth++;
      if (char === ')') depth--;
      this.#at++;
    }
    if (depth > 0) throw mistake(at, 'a "(" of this value is not closed: text with single brackets needs quotes');
    return this.#at === at ? null : { text: this.#text.slice(at, this.#at), at, isQuoted: false };
  }

  #skip(): void {
    while (/\s/.test(this.#text[this.#at] ?? '')) this.#at++;
  }

  #plain(): Word | null {
    const at = this.#at;
    if (at >= this.#text.length) return null;
    const sign = SIGNS.find((each) => this.#text.startsWith(each, at));
    const text = sign ?? /^[\w.:/-]+/.exec(this.#text.slice(at))?.[0] ?? this.#text[at] ?? '';
    this.#at = at + text.length;
    return { text, at, isQuoted: false };
  }

  /** A quote inside is doubled, as in SQL. */
  #quoted(at: number, quote: string): Word {
    let text = '';
    for (let i = at + 1; i < this.#text.length; i++) {
      const char = this.#text[i] ?? '';
      if (char !== quote) text += char;
      else if (this.#text[i + 1] === quote) text += this.#text[++i];
      else {
        this.#at = i + 1;
        return { text, at, isQuoted: true };
      }
    }
    throw mistake(at, `the quoted text that begins with ${quote} is not closed`);
  }
}

/** An error at a column, shown counted from 1. */
export function mistake(at: number, message: string): CrawlError {
  return new CrawlError('usage-invalid', `where, column ${at + 1}: ${message}`);
}
