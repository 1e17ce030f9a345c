import type { PgQuery } from './pg.ts';

type Statement = Pick<PgQuery, 'text' | 'name'>;

/** Prepared statements on the rows of a table. */
export interface RowStatements {
  /** Parameters: keys. Returns the place, from 1, and the value of each row that exists. */
  readonly get: Statement;
  /** Parameters: keys. Returns the places of rows that exist. */
  readonly has: Statement;
  /** Parameters: first key, the key after the last, number of rows. */
  page(reverse: boolean, withValues: boolean): Statement;
  /**
   * Parameters: part, token, id of the batch; keys and values to put; keys to remove. Returns one row if the token is
   * the newest.
   */
  readonly write: Statement;
}

const statements = new Map<string, RowStatements>();

export function rowStatements(table: string): RowStatements {
  const known = statements.get(table);
  if (known !== undefined) return known;
  const named = (what: string, text: string): Statement => ({ name: `${what} ${table}`, text });
  const pages = [false, true].map((reverse) =>
    [false, true].map((withValues) =>
      named(
        `page${Number(reverse)}${Number(withValues)}`,
        `SELECT key${withValues ? ', value' : ''} FROM ${table} WHERE key >= $1 AND key < $2
         ORDER BY key ${reverse ? 'DESC' : 'ASC'} LIMIT $3`,
      ),
    ),
  );
  const made: RowStatements = {
    get: named(
      'get',
      `SELECT asked.place::int, r.value FROM unnest($1::bytea[]) WITH ORDINALITY asked(key, place)
       JOIN ${table} r USING (key)`,
    ),
    has: named(
      'has',
      `SELECT asked.place::int FROM unnest($1::bytea[]) WITH ORDINALITY asked(key, place) JOIN ${table} r USING (key)`,
    ),
    page: (reverse, withValues) => pages[Number(reverse)]?.[Number(withValues)] as Statement,
    // A statement is a transaction. The fence waits for a new holder that is taking its token at this moment; then
    // it yields no row, so nothing is written.
    write: named(
      'write',
      `WITH fence AS (UPDATE incrawl.names SET batch = $3::uuid WHERE part = $1 AND token = $2::bigint RETURNING part),
       removed AS (DELETE FROM ${table} WHERE key = ANY ($6::bytea[]) AND EXISTS (SELECT FROM fence)),
       put AS (
         INSERT INTO ${table} SELECT key, value FROM unnest($4::bytea[], $5::bytea[]) AS new(key, value)
         WHERE EXISTS (SELECT FROM fence)
         ON CONFLICT (key) DO UPDATE SET value = excluded.value
       )
       SELECT EXISTS (SELECT FROM fence)`,
    ),
  };
  statements.set(table, made);
  return made;
}
