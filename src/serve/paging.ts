import type { Context } from 'hono';
import { type Markup, markup } from './markup.ts';

/** Rows of one page of a list. */
export const ROWS = 200;

/** Last page of a list; `incrawl readdb` shows the rest. */
const MAX_PAGE = 500;

export interface ListPage<Row> {
  readonly rows: readonly Row[];
  /** Links to the previous and next page; `null` for a list of one page. */
  readonly links: Markup | null;
}

/**
 * The part of a list requested by `?page=N`, counted from 1. Earlier rows are read and dropped: the list is an index
 * read in order.
 */
export async function listPage<Row>(c: Context, read: (limit: number) => AsyncIterable<Row>): Promise<ListPage<Row>> {
  const asked = Number(c.req.query('page') ?? '1');
  const number = Number.isInteger(asked) && asked > 0 ? Math.min(asked, MAX_PAGE) : 1;
  const start = (number - 1) * ROWS;
  const rows: Row[] = [];
  let position = 0;
  for await (const row of read(start + ROWS + 1)) if (position++ >= start) rows.push(row);
  const hasMore = rows.length > ROWS && number < MAX_PAGE;
  return { rows: rows.slice(0, ROWS), links: number === 1 && !hasMore ? null : linksOf(c, number, hasMore) };
}

function linksOf(c: Context, number: number, hasMore: boolean): Markup {
  const link = (to: number, rel: string, text: string): Markup => {
    const query = new URLSearchParams({ ...c.req.query(), page: String(to) });
    return markup`<a rel="${rel}" href="${`${c.req.path}?${query}`}">${text}</a>`;
  };
  const before = number === 1 ? null : link(number - 1, 'prev', 'Previous');
  const behind = hasMore ? link(number + 1, 'next', 'Next') : null;
  return markup`<nav class="paging" aria-label="Pages of this list">${before} <span>Page ${String(number)}</span> ${behind}</nav>`;
}
