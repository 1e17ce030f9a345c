// page/markdown/: main content as Markdown.

import { isElement, type PageNode } from '../page-block.ts';

/** Elements that make a table a layout table, which is written as its parts. */
const NOT_IN_CELLS = new Set('table ul ol pre blockquote h1 h2 h3 h4 h5 h6'.split(' '));
/** Most empty cells that spans add to a table; a page can call for millions with a few bytes. */
const MAX_SPANNED = 20_000;

/** Collects a table cell by cell. */
export class MarkdownTable {
  readonly node: PageNode;
  private readonly rows: string[][] = [];
  /** For each column, the first row that no longer belongs to a cell from above. */
  private readonly held: number[] = [];
  private spanned = 0;

  constructor(node: PageNode) {
    this.node = node;
  }

  beginRow(): void {
    this.rows.push([]);
  }

  /**
   * A cell that spans columns or rows is written in its first place. The others stay empty, so that later cells stay
   * below their headings.
   */
  addCell({ attribs }: PageNode, text: string): void {
    const row = this.rows.at(-1);
    if (row === undefined) return;
    while ((this.held[row.length] ?? 0) >= this.rows.length && this.spanned++ < MAX_SPANNED) row.push('');
    const rows = spanOf(attribs?.rowspan);
    if (rows > 1) this.hold(row.length, rows);
    row.push(text);
    for (let left = spanOf(attribs?.colspan) - 1; left > 0 && this.spanned++ < MAX_SPANNED; left--) {
      if (rows > 1) this.hold(row.length, rows);
      row.push('');
    }
  }

  /**
   * Rows without text are left out. Short rows stay short: padding thousands of rows to one wide row would make a page
   * of millions of cells.
   */
  lines(): string[] {
    const rows = this.rows.filter((cells) => cells.some((cell) => cell !== ''));
    const columns = rows.reduce((most, cells) => Math.max(most, cells.length), 0);
    if (columns === 0) return [];
    const [head = [], ...body] = rows;
    const all = Array.from({ length: columns }, (_, i) => head[i] ?? '');
    return [line(all), line(all.map(() => '---')), ...body.map(line)];
  }

  private hold(column: number, rows: number): void {
    while (this.held.length < column) this.held.push(0);
    this.held[column] = this.rows.length + rows - 1;
  }
}

const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

const spanOf = (written: string | undefined): number => Number.parseInt(written ?? '1', 10) || 1;

/**
 * Whether a table holds data: it has at least two columns, and no cell contains a block that does not fit on a line.
 * Stops at the first such block.
 */
export function isOfData(table: PageNode): boolean {
  const open = [...(table.children ?? [])];
  let columns = 0;
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (!isElement(node)) continue;
    const { name = '', children = [] } = node;
    if (NOT_IN_CELLS.has(name)) return false;
    if (name === 'tr') {
      columns = Math.max(columns, children.filter((each) => each.name === 'td' || each.name === 'th').length);
    }
    for (const child of children) open.push(child);
  }
  return columns > 1;
}
