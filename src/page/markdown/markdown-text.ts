import type { PageNode } from '../page-block.ts';
import { isOfData, MarkdownTable } from './markdown-table.ts';

/**
 * Text that grows piece by piece. A string that is read after each addition is copied whole each time, so the cost of a
 * long paragraph would be its length squared.
 */
class InlineText {
  #pieces: string[] = [];
  #last = '';

  get isEmpty(): boolean {
    return this.#pieces.length === 0;
  }

  /** Whether a line has just ended. */
  get isAtLineStart(): boolean {
    return this.#last.endsWith('\n');
  }

  /** The present end, for {@link takeFrom}. */
  get end(): number {
    return this.#pieces.length;
  }

  add(text: string): void {
    if (text === '') return;
    this.#pieces.push(text);
    this.#last = text;
  }

  /** Removes and returns what was added since an end. */
  takeFrom(end: number): string {
    const taken = this.#pieces.splice(end).join('');
    this.#last = this.#pieces.at(-1) ?? '';
    return taken;
  }

  clear(): void {
    this.#pieces = [];
    this.#last = '';
  }

  toString(): string {
    return this.#pieces.join('');
  }
}

const BLOCKS = new Set(
  'address article aside blockquote body caption center dd details dialog div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr li main nav noscript ol p pre section summary table tbody tfoot thead tr td th ul'.split(
    ' ',
  ),
);
const SPANS: Readonly<Record<string, string>> = { strong: '**', b: '**', em: '*', i: '*', code: '`' };
/** Deepest indentation of lists and quotations. */
const MAX_DEPTH = 8;

/** Makes an `href` absolute; `null`: it is no link to follow. */
export type LinkResolver = (href: string) => string | null;

interface Container {
  readonly node: PageNode;
  /** Prefix of its first line, and of all others. */
  readonly first: string;
  readonly rest: string;
  isBegun: boolean;
}

interface Span {
  readonly node: PageNode;
  readonly mark: string;
  /** Target of a link; `null` for other spans, and for a link ended by the next one. */
  href: string | null;
  /** Where its text begins, as {@link InlineText.end}. */
  start: number;
}

/** Writes Markdown while a page is walked. */
export class MarkdownText {
  private readonly resolve: LinkResolver;
  private readonly parts: string[] = [];
  private readonly containers: Container[] = [];
  private readonly spans: Span[] = [];
  /** The spans that are written: one of each mark, and the last link. There may be thousands of unclosed links. */
  private written: Span[] = [];
  private readonly numbers = new Map<PageNode, number>();
  private readonly current = new InlineText();
  private wantsSpace = false;
  private heading = 0;
  private pre: PageNode | null = null;
  private table: MarkdownTable | null = null;
  private wasInItem = false;

  constructor(resolve: LinkResolver) {
    this.resolve = resolve;
  }

  enter(node: PageNode, parent: PageNode): void {
    const { name = '' } = node;
    if (name === 'br') {
      if (this.pre !== null) this.current.add('\n');
      else if (!this.current.isEmpty) this.current.add(this.table === null ? '  \n' : ' ');
      this.wantsSpace = false;
      return;
    }
    const mark = SPANS[name];
    if (name === 'a' || mark !== undefined) {
      if (name === 'a') this.endLink();
      const href = name === 'a' && node.attribs?.href !== undefined ? this.resolve(node.attribs.href) : null;
      // Bold in bold is bold.
      const isNew = mark !== undefined && !this.written.some((span) => span.mark === mark);
      const span = { node, mark: isNew ? mark : '', href, start: this.current.end };
      this.spans.push(span);
      if (isNew || href !== null) this.written.push(span);
      return;
    }
    if (!BLOCKS.has(name)) return;
    if (this.table !== null) this.enterInTable(this.table, name);
    else if (this.pre !== null) this.breakCode();
    else this.enterBlock(node, name, parent);
  }

  private enterInTable(table: MarkdownTable, name: string): void {
    if (name === 'tr') table.beginRow();
    else if (name === 'td' || name === 'th') this.clear();
    else this.wantsSpace = !this.current.isEmpty;
  }

  private enterBlock(node: PageNode, name: string, parent: PageNode): void {
    this.flush();
    const level = /^h([1-6])$/.exec(name)?.[1];
    if (level !== undefined) this.heading = Number(level);
    else if (name === 'pre') this.pre = node;
    else if (name === 'table' && isOfData(node)) this.table = new MarkdownTable(node);
    else if (this.containers.length >= MAX_DEPTH) return;
    else if (name === 'blockquote') this.containers.push({ node, first: '> ', rest: '> ', isBegun: false });
    else if (name === 'ol') this.numbers.set(node, Number.parseInt(node.attribs?.start ?? '1', 10) || 1);
    else if (name === 'li') {
      const number = this.numbers.get(parent);
      if (number !== undefined) this.numbers.set(parent, number + 1);
      const first = number === undefined ? '- ' : `${Math.abs(number) % 1_000_000_000}. `;
      this.containers.push({ node, first, rest: ' '.repeat(first.length), isBegun: false });
    }
  }

  text(whole: string): void {
    if (this.pre !== null) {
      this.current.add(whole.replace(CONTROLS, ''));
      return;
    }
    const folded = whole.replace(CONTROLS, '').replace(/\s+/g, ' ');
    const body = folded.trim();
    if (body === '') {
      if (!this.current.isEmpty && folded !== '') this.wantsSpace = true;
      return;
    }
    const isInCode = this.written.some(({ mark }) => mark === '`');
    const needsSpace =
      !this.current.isEmpty && !this.current.isAtLineStart && (this.wantsSpace || folded.startsWith(' '));
    this.current.add((needsSpace ? ' ' : '') + (isInCode ? body : escapedText(body)));
    this.wantsSpace = folded.endsWith(' ');
  }

  leave(node: PageNode): void {
    const { name } = node;
    if (name === undefined) return;
    const span = this.spans.at(-1);
    if (span?.node === node) {
      this.spans.pop();
      if (this.written.at(-1) === span) this.close(this.written.pop() as Span);
      return;
    }
    if (!BLOCKS.has(name)) return;
    if (this.table !== null) this.leaveInTable(this.table, node, name);
    else if (this.pre !== null && this.pre !== node) this.breakCode();
    else {
      this.flush();
      if (this.pre === node) this.pre = null;
      if (/^h[1-6]$/.test(name)) this.heading = 0;
      this.numbers.delete(node);
      if (this.containers.at(-1)?.node === node) this.containers.pop();
    }
  }

  private leaveInTable(table: MarkdownTable, node: PageNode, name: string): void {
    if (name === 'td' || name === 'th') {
      this.closeAll();
      table.addCell(node, this.current.toString().replaceAll('|', '\\|').trim());
      this.clear();
    } else if (node === table.node) {
      this.table = null;
      this.clear();
      this.put(table.lines());
    } else if (name === 'caption') {
      // It belongs before the table that is still being read.
      this.closeAll();
      const current = this.current.toString();
      this.clear();
      this.put(current === '' ? [] : [current]);
    } else this.wantsSpace = !this.current.isEmpty;
  }

  end(): string {
    this.flush();
    return this.parts.length === 0 ? '' : `${this.parts.join('\n')}\n`;
  }

  /** Ends a paragraph, a heading, a listing. */
  private flush(): void {
    this.closeAll();
    const { heading, pre } = this;
    const current = this.current.toString();
    this.clear();
    if (pre !== null) {
      const code = current.replace(/^\n/, '').trimEnd();
      if (code === '') return;
      const fence = '`'.repeat(Math.max(3, 1 + longestRun(code)));
      this.put([fence, ...code.split(/\r?\n/), fence]);
      return;
    }
    const text = current.trimEnd();
    if (text === '') return;
    if (heading > 0) this.put([`${'#'.repeat(heading)} ${withoutEndMarks(inOneLine(text))}`]);
    else this.put(text.split('\n').map(escapedStart));
  }

  /** Lines of one block, inside the lists and quotations that are open. */
  private put(lines: readonly string[]): void {
    if (lines.length === 0) return;
    const items = this.containers.filter(({ first }) => first !== '> ');
    const inItem = items.length > 0;
    // Items of a list follow each other without an empty line.
    const isNewItem = this.wasInItem && items.some(({ isBegun }) => !isBegun);
    if (this.parts.length > 0 && !isNewItem) this.parts.push(this.prefix(false).trimEnd());
    for (const line of lines) this.parts.push((this.prefix(true) + line).replace(/^ +$/, ''));
    this.wasInItem = inItem;
  }

  private prefix(begins: boolean): string {
    let prefix = '';
    for (const container of this.containers) {
      if (container.isBegun) prefix += container.rest;
      else if (begins) prefix += container.first;
      if (begins) container.isBegun = true;
    }
    return prefix;
  }

  /** Elements within a listing (a `div` a line) end its lines, not the listing. */
  private breakCode(): void {
    if (!this.current.isEmpty && !this.current.isAtLineStart) this.current.add('\n');
  }

  /** A link ends where the next one begins, as in browsers: its end tag is missing. */
  private endLink(): void {
    if (this.written.every(({ href }) => href === null)) return;
    this.closeAll();
    for (const span of this.written) span.href = null;
    this.written = this.written.filter(({ mark }) => mark !== '');
  }

  /** Spans do not reach over the end of a block; they begin again in the next one. */
  private closeAll(): void {
    for (const span of this.written.toReversed()) this.close(span);
    for (const span of this.written) span.start = this.current.end;
  }

  private close(span: Span): void {
    // Within a listing there are no spans.
    const inner = this.pre === null ? this.current.takeFrom(span.start) : '';
    const text = inner.trim();
    if (text === '') this.current.add(inner);
    else {
      // A heading stands out already.
      const mark = this.heading > 0 && span.mark === '**' ? '' : span.mark;
      const marked = mark === '`' ? codeSpan(text) : `${mark}${text}${mark}`;
      this.current.add(inner.slice(0, inner.length - inner.trimStart().length));
      this.current.add(span.href === null ? marked : `[${text}](${linkTarget(span.href)})`);
      this.current.add(inner.slice(inner.trimEnd().length));
    }
    span.start = this.current.end;
  }

  private clear(): void {
    this.current.clear();
    this.wantsSpace = false;
    for (const span of this.written) span.start = 0;
  }
}

/** Control characters and marks that change the reading direction have no place in a document that others open. */
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

const escapedText = (text: string): string =>
  text
    .replace(/[\\`*[\]<>]|(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])/gu, '\\$&')
    .replace(/&(?=#?\w{1,32};)/g, '\\&')
    .replace(/!(?=\\\[)/g, '\\!');

/** Escapes characters that are markup at the beginning of a line. */
const escapedStart = (line: string): string =>
  line
    .replace(/^(#{1,6}(?=\s|$)|[-+](?=\s|$)|[-=~]{3,}|[-=]+(?=\s*$)|:?-+(?=:?\s*(?:\||$))|\|)/, '\\$1')
    .replace(/^(\d{1,9})([.)])(?=\s|$)/, '$1\\$2');

const linkTarget = (href: string): string =>
  /[\s()<>\\]/.test(href)
    ? href.replace(/[\s()<>\\]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`)
    : href;

const inOneLine = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.trimEnd())
    .join(' ');

/** Marks at the end of a heading would close it. */
function withoutEndMarks(text: string): string {
  let end = text.length;
  while (text[end - 1] === '#') end--;
  return end === text.length ? text : `${text.slice(0, end)}\\${text.slice(end)}`;
}

function codeSpan(text: string): string {
  const ticks = '`'.repeat(1 + longestRun(text));
  const pad = text.startsWith('`') || text.endsWith('`') ? ' ' : '';
  return `${ticks}${pad}${text}${pad}${ticks}`;
}

const longestRun = (text: string): number =>
  (text.match(/`+/g) ?? []).reduce((longest, run) => Math.max(longest, run.length), 0);
