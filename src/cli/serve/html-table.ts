import type { Column } from '../render/table.ts';
import { type Markup, markup, type Shown } from './markup.ts';

/** Longer texts in lists are cut; the page of a URL shows them in full. */
const SHOWN_CHARS = 120;

/** Cuts between code points, not within a surrogate pair. */
export function short(text: string): string {
  if (text.length <= SHOWN_CHARS) return text;
  return `${[...text.slice(0, 2 * SHOWN_CHARS)].slice(0, SHOWN_CHARS - 1).join('')}…`;
}

/** The columns of a terminal table as an HTML table; `cells` gives markup for some columns, by title. */
export function htmlTable<Row>(
  caption: string,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  cells: Readonly<Record<string, (row: Row) => Shown>> = {},
): Markup {
  if (rows.length === 0) return markup`<p class="nothing">${caption}: none.</p>`;
  const kind = ({ align, max }: Column<Row>): string =>
    align === 'right' ? 'number' : max === undefined ? 'text' : 'text long';
  const shown = (column: Column<Row>, row: Row): Shown => cells[column.title]?.(row) ?? short(column.cell(row));
  const heads = columns.map((column) => markup`<th scope="col" class="${kind(column)}">${column.title}</th>`);
  const body = rows.map(
    (row) =>
      markup`<tr>${columns.map((column) => markup`<td class="${kind(column)}">${shown(column, row)}</td>`)}</tr>`,
  );
  return markup`<div class="scroll" role="region" aria-label="${caption}" tabindex="0"><table><caption>${caption}</caption><thead><tr>${heads}</tr></thead><tbody>${body}</tbody></table></div>`;
}

/** A crawled URL as a link to its page in the live view. */
export function urlLink(url: string): Markup {
  return markup`<a href="/url?u=${encodeURIComponent(url)}"><bdi>${short(url)}</bdi></a>`;
}

/** `label: value` pairs; `null` and empty values are left out. */
export function facts(pairs: readonly (readonly [label: string, value: Shown])[]): Markup {
  const rows = pairs
    .filter(([, value]) => value !== null && value !== '')
    .map(
      ([label, value]) =>
        markup`<div${isWide(value) ? markup` class="wide"` : null}><dt>${label}</dt><dd>${value}</dd></div>`,
    );
  return markup`<dl class="facts">${rows}</dl>`;
}

/** A long value gets a line of its own; in a column it would become very tall. */
const isWide = (value: Shown): boolean => String(value).length > 70;
