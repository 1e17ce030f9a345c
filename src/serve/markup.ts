import { html, type raw } from 'hono/html';
import { safeText } from '../render/safe-text.ts';
import type { Column } from '../render/table.ts';

/** HTML, already escaped. */
export type Markup = ReturnType<typeof raw>;

/** Values in a `markup` template: text (which is escaped), markup, lists of both; `null` and `false` show nothing. */
export type Shown = string | number | Markup | null | false | readonly Shown[];

/**
 * A template of HTML. Text is escaped; control characters and marks of the reading direction become visible escapes, so
 * that no title or URL from the web can act on the page or look like another. Attributes must be quoted.
 */
export function markup(strings: TemplateStringsArray, ...values: readonly Shown[]): Markup {
  return html(strings, ...values.map(inert)) as Markup;
}

function inert(value: Shown): unknown {
  if (value === null || value === false) return '';
  if (typeof value === 'string') return safeText(value);
  return Array.isArray(value) ? value.map(inert) : value;
}

/** Text with its line breaks. */
export function linesOf(text: string): Shown {
  return text.split(/\r?\n/).map((line, i) => (i === 0 ? line : markup`<br>${line}`));
}

/** In windows that are not wide, rows of a table with more columns are shown as cards. */
const MANY_COLUMNS = 6;

/** Texts of this length, such as times and outcomes, stay on one line of a wide table. */
const UNBROKEN_CHARS = 19;

/** Longer texts in lists are cut; the page of a URL shows them in full. */
const SHOWN_CHARS = 120;

/** Cuts between code points, not within a surrogate pair. */
export function short(text: string): string {
  if (text.length <= SHOWN_CHARS) return text;
  return `${[...text.slice(0, 2 * SHOWN_CHARS)].slice(0, SHOWN_CHARS - 1).join('')}…`;
}

/**
 * The columns of a terminal table as an HTML table, whose rows become cards in a narrow window. `cells` supplies markup
 * for some columns, by title.
 */
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
  const heads = columns.map(
    (column) => markup`<th role="columnheader" scope="col" class="${kind(column)}">${column.title}</th>`,
  );
  const cell = (column: Column<Row>, row: Row): Markup => {
    const content = shown(column, row);
    const isEmpty = content === '' || content === '-';
    const isShort = typeof content === 'string' && content.length <= UNBROKEN_CHARS;
    const kinds = `${kind(column)}${isEmpty ? ' empty' : ''}${isShort ? ' short' : ''}`;
    return markup`<td role="cell" class="${kinds}" data-label="${column.title}">${content}</td>`;
  };
  const body = rows.map((row) => markup`<tr role="row">${columns.map((column) => cell(column, row))}</tr>`);
  // The roles remain when the style sheet shows rows as cards.
  return markup`<table class="${columns.length > MANY_COLUMNS ? 'rows broad' : 'rows'}" role="table"><caption>${caption}</caption><thead role="rowgroup"><tr role="row">${heads}</tr></thead><tbody role="rowgroup">${body}</tbody></table>`;
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

/** A part of the overview with its heading. `size`: class of its width. */
export function panel(title: string, note: Shown, size: string, content: Shown): Markup {
  return markup`<section class="${`panel ${size}`}"><h2>${title} <small>${note}</small></h2>${content}</section>`;
}

/** Shown instead of a chart: the reason why there is none. */
export const nothing = (text: string): Markup => markup`<p class="nothing">${text}</p>`;
