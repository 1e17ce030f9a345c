import { cellWidth } from './cell-width.ts';
import { type ColumnLayout, columnLayout, GAP } from './column-layout.ts';
import { clip, packedLines } from './fit.ts';
import { safeText } from './safe-text.ts';
import { wrapText } from './wrap-text.ts';

export interface Column<Row> {
  readonly title: string;
  readonly align?: 'left' | 'right';
  /** Of text, which may be cut: width of the widest cell shown in full. Figures and times have none. */
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

/** How text is shown: where it is a terminal, in bold and within its columns. */
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
 * terminal it has the columns that fit; where these are too few, each row is a card. A figure of a later row that is
 * wider than its column pushes the rest of its line to the right; where the line is then too long, the row is a card.
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
 * A row as a card: its first cell as a heading, below it the others with their titles, in as many lines as it takes.
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

/** `label   value` lines. Values of several lines are indented under the first. */
export function fieldLines(fields: readonly (readonly [label: string, value: string])[]): string {
  const width = Math.max(0, ...fields.map(([label]) => cellWidth(label)));
  return fields.map(([label, value]) => `${pad(label, width, 'left')}  ${safeText(value)}`.trimEnd()).join('\n');
}

function pad(text: string, width: number, align: 'left' | 'right'): string {
  const gap = ' '.repeat(Math.max(0, width - cellWidth(text)));
  return align === 'right' ? gap + text : text + gap;
}
