import { cellWidth, isPlain } from './cell-width.ts';
import { safeText } from './safe-text.ts';

export interface Column<Row> {
  readonly title: string;
  readonly align?: 'left' | 'right';
  /** Width of the widest cell shown in full; longer text is cut with an ellipsis. */
  readonly max?: number;
  cell(row: Row): string;
}

export interface TableWriter<Row> {
  /** Returns finished lines, each with its line end. */
  add(row: Row): string;
  end(): string;
}

/** Rows that fix the column widths; a wider cell of a later row pushes the rest of its line to the right. */
const ROWS_MEASURED = 200;

/** A table as a stream: the widths come from its first rows, so that a dump of any length needs bounded memory. */
export function createTable<Row>(columns: readonly Column<Row>[], bold: (text: string) => string): TableWriter<Row> {
  let measured: string[][] = [];
  let widths: number[] | null = null;
  const line = (cells: readonly string[], sizes: readonly number[]): string =>
    columns
      .map(({ align }, i) => pad(cells[i] ?? '', sizes[i] ?? 0, align ?? 'left'))
      .join('  ')
      .trimEnd();
  const settle = (): string => {
    const titles = columns.map((column) => column.title);
    const sizes = columns.map((_, i) => Math.max(...[titles, ...measured].map((row) => cellWidth(row[i] ?? ''))));
    widths = sizes;
    const lines = [bold(line(titles, sizes)), ...measured.map((row) => line(row, sizes))];
    measured = [];
    return `${lines.join('\n')}\n`;
  };
  return {
    add(row) {
      const cells = columns.map((column) => clip(safeText(column.cell(row)), column.max ?? Infinity));
      if (widths !== null) return `${line(cells, widths)}\n`;
      measured.push(cells);
      return measured.length < ROWS_MEASURED ? '' : settle();
    },
    end() {
      return widths === null && measured.length > 0 ? settle() : '';
    },
  };
}

/** A whole table as text. */
export function table<Row>(
  columns: readonly Column<Row>[],
  rows: Iterable<Row>,
  bold: (text: string) => string = (text) => text,
): string {
  const writer = createTable(columns, bold);
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

/** Made when it is needed: it takes longer than the whole table otherwise. */
let graphemes: Intl.Segmenter | null = null;
