import type { Context } from 'hono';
import { type Markup, markup } from './markup.ts';
import { ROWS } from './pages/lists.ts';

/** Further on, the command line is the better place to ask. */
const MAX_PAGE = 500;

export interface ListPage<Row> {
  readonly rows: readonly Row[];
  /** Links to the pages before and behind; `null` when everything is on one. */
  readonly links: Markup | null;
}

/**
 * The part of a list that `?page=N` asks for, counted from 1. What comes before is read and passed over: it is an
 * index, in its order.
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
