import { createRequire } from 'node:module';
import { safeText } from './safe-text.ts';

/** The properties of a column that determine the layout of a table. */
export interface ColumnShape {
  /** Width of the widest cell, or of the title. */
  readonly natural: number;
  /** Whether cells may be cut: text may; figures and times may not. */
  readonly isText: boolean;
  /** Importance on a narrow terminal, 1 before 2; `null`: always shown. */
  readonly rank: number | null;
}

export interface ColumnLayout {
  /** Indexes of the columns shown, in order. */
  readonly shown: readonly number[];
  /** Their widths. */
  readonly widths: readonly number[];
}

/** Spaces between two columns. */
export const GAP = 2;
/** A ranked text column that would have less than this is left out. */
const LEAST_TEXT = 16;
/** Share of the terminal below which a text column that is always shown, such as the URL, is not cut. */
const LEAST_SHARE = 0.45;

/**
 * The columns that fit a width: those without a rank, then as many others as fit, by rank. Text is cut if that makes
 * room for more of them. `null`: not even those without a rank fit.
 */
export function columnLayout(shapes: readonly ColumnShape[], width: number): ColumnLayout | null {
  const least = shapes.map(({ natural, isText, rank }) =>
    isText ? Math.min(natural, rank === null ? Math.floor(LEAST_SHARE * width) : LEAST_TEXT) : natural,
  );
  const all = shapes.map((_, i) => i);
  const shown = new Set(all.filter((i) => shapes[i]?.rank === null));
  const leastWidth = (): number => sumOf([...shown].map((i) => least[i] ?? 0));
  if (leastWidth() > width) return null;
  for (const i of [...all].sort((a, b) => (shapes[a]?.rank ?? 0) - (shapes[b]?.rank ?? 0))) {
    if (shown.has(i)) continue;
    shown.add(i);
    if (leastWidth() > width) shown.delete(i);
  }
  const columns = [...shown].sort((a, b) => a - b);
  const widths = columns.map((i) => shapes[i]?.natural ?? 0);
  for (let over = sumOf(widths) - width; over > 0; over--) {
    const cut = widest(widths, (at) => (widths[at] ?? 0) > (least[columns[at] ?? 0] ?? 0));
    widths[cut] = (widths[cut] ?? 0) - 1;
  }
  return { shown: columns, widths };
}

const sumOf = (widths: readonly number[]): number =>
  widths.reduce((sum, each) => sum + each, 0) + GAP * Math.max(0, widths.length - 1);

/** The widest column that may be cut; there is one as long as the sum of the least widths fits. */
function widest(widths: readonly number[], mayBeCut: (at: number) => boolean): number {
  let found = -1;
  for (const [at, each] of widths.entries()) {
    if (mayBeCut(at) && (found < 0 || each > (widths[found] ?? 0))) found = at;
  }
  return found;
}

type Measure = (text: string) => number;

/** Most texts are plain ASCII with an ellipsis at most: a character takes one cell. */
const PLAIN = /^[ -~…]*$/;

/** Node before 20.19 cannot `require` an ES module: there it is loaded at once. */
const canLoadLate = 'require_module' in process.features && process.features.require_module === true;
let measure: Measure | null = canLoadLate ? null : (await import('string-width')).default;

/**
 * Width in terminal cells. `string-width` is loaded by the first wide character: loading its emoji tables takes longer
 * than many commands.
 */
export function cellWidth(text: string): number {
  if (PLAIN.test(text)) return text.length;
  measure ??= (createRequire(import.meta.url)('string-width') as { readonly default: Measure }).default;
  return measure(text);
}

/** Whether each character takes one cell. */
export const isPlain = (text: string): boolean => PLAIN.test(text);

const BETWEEN = ' · ';

/**
 * One line of the parts that fit a width, from the first on. Parts that do not fit are left out entirely, so that no
 * number is cut. The first part is words and always there: it may be cut.
 */
export function partsThatFit(parts: readonly string[], width: number, between = BETWEEN): string {
  const [first = '', ...others] = parts;
  let line = clip(first, width);
  for (const part of others) {
    if (cellWidth(line) + between.length + cellWidth(part) > width) break;
    line += between + part;
  }
  return line;
}

/** All parts, in as many lines as needed. A part wider than a line gets its own line. */
export function packedLines(parts: readonly string[], width: number, indent = '', between = BETWEEN): string[] {
  const lines: string[] = [];
  let line: string | null = null;
  for (const part of parts) {
    if (line !== null && cellWidth(line) + between.length + cellWidth(part) <= width) line += between + part;
    else {
      if (line !== null) lines.push(line);
      line = (lines.length === 0 && line === null ? '' : indent) + part;
    }
  }
  return line === null ? lines : [...lines, line];
}

/** Cuts at a width in terminal cells, never inside a character. */
export function clip(text: string, max: number): string {
  if (text.length <= max / 2 || cellWidth(text) <= max) return text;
  if (isPlain(text)) return `${text.slice(0, max - 1)}…`;
  graphemes ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  let kept = '';
  let width = 0;
  for (const { segment } of graphemes.segment(text)) {
    width += cellWidth(segment);
    if (width > max - 1) break;
    kept += segment;
  }
  return `${kept}…`;
}

/** Created on demand: creating it takes longer than the whole table. */
let graphemes: Intl.Segmenter | null = null;

/** Two or more spaces after a label: its value, and the lines that continue it, begin after them. */
const LABELLED = /^(\s*\S+(?: \S+)* {2,})\S/;
/** A command must be copyable as one line. */
const COMMAND = /^\s*(?:(?:npx )?incrawl|node \S+) /;
/** Spaces within a time, and between a figure and its unit. */
const HELD =
  /(?<=\d{4}-\d\d-\d\d) (?=\d\d:\d\d)|(?<=\d\d:\d\d) (?=UTC)|(?<=\d) (?=(?:%|[KMGT]i?B|B|bits|ms|s|min|h|d)(?![\w]))/g;
const HOLD = '\u00a0';

/**
 * Breaks lines that are wider than the terminal between words; continuation lines are indented. A figure stays beside
 * its unit. A word wider than a line, such as a URL, stays whole: the terminal wraps it, and it can be copied.
 */
export function wrapText(text: string, width: number): string {
  if (!Number.isFinite(width)) return text;
  return text
    .split('\n')
    .map((line) => (cellWidth(line) <= width || COMMAND.test(line) ? line : wrapLine(line, width)))
    .join('\n');
}

function wrapLine(line: string, width: number): string {
  const indent = ' '.repeat(indentOf(line, width));
  // A figure with its unit is not such a word: it begins a new line.
  const isTooWide = (word: string): boolean => !word.includes(HOLD) && indent.length + cellWidth(word) > width;
  const lines: string[] = [];
  const [margin = ''] = /^ */.exec(line) ?? [];
  let current = '';
  // Spaces belong to the following word, so that columns within the line stay in place.
  for (const word of line
    .slice(margin.length)
    .replace(HELD, HOLD)
    .split(/(?<=\S)(?= )/)) {
    const start = lines.length === 0 ? margin : indent;
    if (current === '') current = start + (lines.length === 0 ? word : word.trimStart());
    else if (cellWidth(current) + cellWidth(word) <= width || isTooWide(word.trimStart())) current += word;
    else {
      lines.push(current);
      current = indent + word.trimStart();
    }
  }
  return [...lines, current].join('\n').replaceAll(HOLD, ' ');
}

/** Where continuation lines begin: after the label, or two columns further than the line itself. */
function indentOf(line: string, width: number): number {
  const label = LABELLED.exec(line)?.[1];
  if (label !== undefined && cellWidth(label) <= width / 2) return cellWidth(label);
  return /^ */.exec(line)![0].length + 2;
}

export interface Column<Row> {
  readonly title: string;
  readonly align?: 'left' | 'right';
  /** For text, which may be cut: width of the widest cell shown in full. Figures and times have none. */
  readonly max?: number;
  /** Importance on a narrow terminal, 1 before 2: the columns that do not fit are left out. Absent: always shown. */
  readonly rank?: number;
  cell(row: Row): string;
}

export interface TableWriter<Row> {
  /** Returns finished lines, each with its line end. */
  add(row: Row): string;
  end(): string;
}

/** How text is shown: on a terminal, in bold and within its columns. */
export interface TextStyle {
  bold(text: string): string;
  /** Columns of the terminal; infinite for a pipe or a file. */
  readonly width: number;
}

export const PLAIN_STYLE: TextStyle = { bold: (text) => text, width: Number.POSITIVE_INFINITY };

/** {@link Column.max} of text that is cut on a narrow terminal only. */
export const ANY_LENGTH = 1_000_000;

/** Rows that fix the column widths. */
const ROWS_MEASURED = 200;

/**
 * A table as a stream: the widths come from its first rows, so that a dump of any length needs bounded memory. On a
 * terminal it has the columns that fit; if these are too few, each row is a card. A figure in a later row that is wider
 * than its column pushes the rest of its line to the right; if the line is then too long, the row is a card.
 */
export function createTable<Row>(columns: readonly Column<Row>[], style: TextStyle): TableWriter<Row> {
  let measured: string[][] = [];
  let lineOf: ((cells: readonly string[]) => string) | null = null;
  const titles = columns.map(({ title }) => title);
  const settle = (): string => {
    const shapes = columns.map(({ max = Number.POSITIVE_INFINITY, rank }, i) => ({
      natural: Math.max(...[titles, ...measured].map((row) => Math.min(cellWidth(row[i] ?? ''), max))),
      isText: Number.isFinite(max),
      rank: rank ?? null,
    }));
    const layout = columnLayout(shapes, style.width);
    const tableLine = layout === null ? null : lineIn(columns, layout, style.width);
    lineOf = (cells) => tableLine?.(cells) ?? cardOf(titles, cells, style);
    const heading = tableLine?.(titles) ?? null;
    const lines = [...(heading === null ? [] : [style.bold(heading)]), ...measured.map(lineOf)];
    measured = [];
    return `${lines.join('\n')}\n`;
  };
  return {
    add(row) {
      const cells = columns.map((column) => safeText(column.cell(row)));
      if (lineOf !== null) return `${lineOf(cells)}\n`;
      measured.push(cells);
      return measured.length < ROWS_MEASURED ? '' : settle();
    },
    end() {
      return lineOf === null && measured.length > 0 ? settle() : '';
    },
  };
}

/** Makes lines of a table; `null` for a row that is wider than the terminal. */
function lineIn(
  columns: readonly Pick<Column<never>, 'align' | 'max'>[],
  { shown, widths }: ColumnLayout,
  width: number,
): (cells: readonly string[]) => string | null {
  return (cells) => {
    const parts = shown.map((i, at) => {
      const { align = 'left', max } = columns[i] ?? {};
      const size = widths[at] ?? 0;
      const cell = cells[i] ?? '';
      return pad(max === undefined ? cell : clip(cell, width === Number.POSITIVE_INFINITY ? max : size), size, align);
    });
    const line = parts.join(' '.repeat(GAP)).trimEnd();
    return cellWidth(line) > width ? null : line;
  };
}

/**
 * A row as a card: its first cell as a heading, followed by the others with their titles, in as many lines as needed.
 * Nothing is cut: a card is for reading.
 */
function cardOf(titles: readonly string[], cells: readonly string[], { bold, width }: TextStyle): string {
  const [heading = '', ...others] = cells;
  const named = others.flatMap((cell, i) => (cell === '' || cell === '-' ? [] : [`${titles[i + 1]} ${cell}`.trim()]));
  const lines = packedLines(named, width - CARD_INDENT.length).map((line) => wrapText(CARD_INDENT + line, width));
  return [bold(heading), ...lines].join('\n');
}

const CARD_INDENT = '  ';

/** A whole table as text. */
export function table<Row>(
  columns: readonly Column<Row>[],
  rows: Iterable<Row>,
  style: TextStyle = PLAIN_STYLE,
): string {
  const writer = createTable(columns, style);
  let text = '';
  for (const row of rows) text += writer.add(row);
  return text + writer.end();
}

/** `label   value` lines. The lines of a multi-line value are indented below the first. */
export function fieldLines(fields: readonly (readonly [label: string, value: string])[]): string {
  const width = Math.max(0, ...fields.map(([label]) => cellWidth(label)));
  return fields.map(([label, value]) => `${pad(label, width, 'left')}  ${safeText(value)}`.trimEnd()).join('\n');
}

function pad(text: string, width: number, align: 'left' | 'right'): string {
  const gap = ' '.repeat(Math.max(0, width - cellWidth(text)));
  return align === 'right' ? gap + text : text + gap;
}
