import { closestName } from '../closest-name.ts';
import { CHANGE_KINDS } from '../crawl/change/page-change.ts';
import { CRAWL_STATES, VISIT_OUTCOMES } from '../crawl/states/datum.ts';
import { CrawlError } from '../errors.ts';
import {
  type Comparison,
  type Expression,
  LITERAL_EXAMPLES,
  type Literal,
  literalOf,
  type Operator,
} from './expression.ts';
import { type FieldSet, PAGE_FIELDS, type QueryField, RECORD_FIELDS } from './fields.ts';

/** Longest expression, characters. */
const MAX_LENGTH = 4_000;

interface Word {
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
class Words {
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
function mistake(at: number, message: string): CrawlError {
  return new CrawlError('usage-invalid', `where, column ${at + 1}: ${message}`);
}

/** What a value is checked by. */
type AnyField = Pick<QueryField, 'name' | 'type'>;

/** Deepest nesting of parentheses and `not`. */
const MAX_NESTING = 50;

const SPELLINGS: ReadonlyMap<string, Operator> = new Map<string, Operator>([
  ['=', '='],
  ['==', '='],
  ['is', '='],
  ['!=', '!='],
  ['<>', '!='],
  ['<', '<'],
  ['<=', '<='],
  ['>', '>'],
  ['>=', '>='],
  ['~', '~'],
  ['contains', '~'],
  ['!~', '~'],
  ['like', 'like'],
  ['in', 'in'],
]);

/** Fields with a closed set of values: other values are refused. */
const CLOSED: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ['state', CRAWL_STATES],
  ['outcome', VISIT_OUTCOMES],
  ['kind', CHANGE_KINDS],
]);

/**
 * Reads an expression over the fields of a record:
 *
 *     or      = and { ("or" | "||") and }
 *     and     = not { ("and" | "&&") not }
 *     not     = ("not" | "!") not | "(" or ")" | compare
 *     compare = field [ ["not"] operator value | "in" "(" value { "," value } ")" ]
 *
 * A field of type boolean may stand alone. Throws `usage-invalid` with the column of the mistake.
 */
export function parseExpression(text: string, now: number): Expression {
  return parseExpressionOver(RECORD_FIELDS, text, now);
}

/** As {@link parseExpression}, over the fields of a record and of the stored copy of its page. */
export function parsePageExpression(text: string, now: number): Expression {
  return parseExpressionOver(PAGE_FIELDS, text, now);
}

/** As {@link parseExpression}, over the fields of other rows. */
export function parseExpressionOver<Row>(fields: FieldSet<Row>, text: string, now: number): Expression<Row> {
  const reader = new Reader(fields, new Words(text), now);
  return reader.whole();
}

class Reader<Row> {
  readonly #fields: FieldSet<Row>;
  readonly #words: Words;
  readonly #now: number;
  #nesting = 0;

  constructor(fields: FieldSet<Row>, words: Words, now: number) {
    this.#fields = fields;
    this.#words = words;
    this.#now = now;
  }

  whole(): Expression<Row> {
    const expression = this.#or();
    if (!this.#words.isAtEnd()) {
      throw mistake(this.#words.at, `expected "and", "or" or the end, got "${this.#words.next()?.text}"`);
    }
    return expression;
  }

  #or(): Expression<Row> {
    let left = this.#and();
    while (this.#words.take('or', '||')) left = { kind: 'or', left, right: this.#and() };
    return left;
  }

  #and(): Expression<Row> {
    let left = this.#not();
    while (this.#words.take('and', '&&')) left = { kind: 'and', left, right: this.#not() };
    return left;
  }

  #not(): Expression<Row> {
    const { at } = this.#words;
    if (++this.#nesting > MAX_NESTING)
      throw mistake(at, `expected at most ${MAX_NESTING} levels of parentheses and "not"`);
    try {
      if (this.#words.take('not', '!')) return { kind: 'not', of: this.#not() };
      if (!this.#words.take('(')) return this.#comparison();
      const inner = this.#or();
      if (!this.#words.take(')')) throw mistake(this.#words.at, `expected ")" for the "(" in column ${at + 1}`);
      return inner;
    } finally {
      this.#nesting--;
    }
  }

  #comparison(): Expression<Row> {
    const field = this.#field();
    const isNegated = this.#words.take('not');
    const { at } = this.#words;
    const operator = SPELLINGS.get(this.#words.peek());
    if (operator === undefined) {
      if (field.type === 'boolean' && !isNegated) return { kind: 'compare', field, operator: '=', values: [true] };
      const got = this.#words.next()?.text;
      throw mistake(at, `expected an operator after ${field.name} (= != < <= > >= ~ !~ like in), got ${quoted(got)}`);
    }
    const spelling = this.#words.next()?.text.toLowerCase();
    const isOther = spelling === '!~' || (spelling === 'is' && this.#words.take('not'));
    checkOperator(field, operator, at);
    const values = operator === 'in' ? this.#list(field) : [this.#value(field, operator)];
    const comparison: Comparison<Row> = { kind: 'compare', field, operator, values };
    return isNegated !== isOther ? { kind: 'not', of: comparison } : comparison;
  }

  #field(): QueryField<Row> {
    const word = this.#words.next();
    if (word === null) throw mistake(this.#words.at, 'expected a field, got the end');
    const field = this.#fields.named(word.text);
    if (field !== undefined) return field;
    const elsewhere = this.#fields.elsewhere?.(word.text);
    if (elsewhere !== undefined) throw mistake(word.at, elsewhere);
    const names = this.#fields.all.map(({ name }) => name);
    const guess = closestName(word.text, names);
    const hint =
      guess === undefined ? `the fields are ${names.join(', ')}${this.#fields.more}` : `did you mean ${guess}?`;
    throw mistake(word.at, `there is no field ${quoted(word.text)}; ${hint}`);
  }

  #list(field: AnyField): Literal[] {
    if (!this.#words.take('(')) throw mistake(this.#words.at, 'expected "(" and values separated by commas after "in"');
    const values: Literal[] = [];
    do values.push(this.#value(field, 'in'));
    while (this.#words.take(','));
    if (!this.#words.take(')')) throw mistake(this.#words.at, 'expected "," or ")" after a value of "in"');
    return values;
  }

  #value(field: AnyField, operator: Operator): Literal {
    const word = this.#words.value();
    if (word === null)
      throw mistake(this.#words.at, `expected ${LITERAL_EXAMPLES[field.type]} after ${field.name} ${operator}`);
    if (!word.isQuoted && word.text === 'null') {
      if (operator === '=' || operator === '!=' || operator === 'in') return null;
      throw mistake(word.at, '"null" is allowed with =, != and in only');
    }
    const value = readValue(field, word, this.#now);
    if (value === undefined) {
      throw mistake(
        word.at,
        `${field.name} is compared with ${LITERAL_EXAMPLES[field.type]}, got ${quoted(word.text)}`,
      );
    }
    checkClosed(field, operator, value, word);
    return value;
  }
}

/** Quotes mark a text only where a field may hold texts and other values. */
function readValue(field: AnyField, { text, isQuoted }: Word, now: number): Literal | undefined {
  return isQuoted && field.type === 'any' ? text : literalOf(field.type, text, now);
}

function checkOperator({ name, type }: AnyField, operator: Operator, at: number): void {
  const isOfText = operator === '~' || operator === 'like';
  if (isOfText && type !== 'text' && type !== 'any')
    throw mistake(at, `"${operator}" compares texts, and ${name} is not a text`);
  const isOfOrder = operator.startsWith('<') || operator.startsWith('>');
  if (isOfOrder && type === 'boolean')
    throw mistake(at, `"${operator}" cannot compare ${name}, which is true or false`);
}

function checkClosed({ name }: AnyField, operator: Operator, value: Literal, { at }: Word): void {
  const known = CLOSED.get(name);
  if (known === undefined || typeof value !== 'string' || known.includes(value)) return;
  if (operator === '~' || operator === 'like') return;
  const guess = closestName(value, known);
  const hint = guess === undefined ? `one of ${known.join(', ')}` : `did you mean ${guess}?`;
  throw mistake(at, `no ${name} is called ${quoted(value)}; ${hint}`);
}

const quoted = (text: string | undefined): string => (text === undefined ? 'the end' : `"${text}"`);
