import { CrawlError, MovedError, tokenIsOld } from '../../core/domain/errors.ts';
import type { LastAppended, MovedTo, StoreMoves, Whereabouts } from '../ports/shared-store.ts';
import type { Database } from './database.ts';
import { decodeKey, encodeKey } from './key-code.ts';
import type { PgQuery, PgResult } from './pg.ts';
import { isLockTimeout, isNoTable } from './postgres-errors.ts';
import { rowStatements } from './row-statements.ts';
import { createTable, ensurePart, forgetPart, partOf, tableOf } from './schema.ts';

type Run = (query: PgQuery) => Promise<PgResult>;

/** Rows of one page; small, because others wait for the last page. */
const PAGE = 1_000;
/** A process that stops while others wait for it loses its transaction after this time, ms. */
const PATIENCE_MS = 30_000;

/**
 * Rows that are elsewhere, or on their way here, have a mark in place of the holder of their lease, and this lease
 * never ends. So no process gets the lease, and statements that depend on it find no row.
 */
type Mark = MovedTo | { readonly from: string };

/** Condition for a row of `leases`: its rows are here. */
export const IS_HERE = `until < 'infinity'`;

const LEASE = `SELECT holder, ${IS_HERE}, holder IS NOT NULL AND until >= clock_timestamp()
  FROM incrawl.leases WHERE part = $1`;
const NAME = 'SELECT id, token::text FROM incrawl.names WHERE part = $1';
const PUT_MARK = `UPDATE incrawl.leases
  SET holder = $2, until = 'infinity', wanted = NULL, failures = 0, fault = NULL WHERE part = $1`;
const RECEIVE = `UPDATE incrawl.names SET id = $2, token = greatest(token, $3::bigint) + 1, batch = NULL
  WHERE part = $1 RETURNING token::text`;
const LEAVE = 'UPDATE incrawl.names SET token = token + 1 WHERE part = $1 AND token = $2::bigint';
const SETTLE = `UPDATE incrawl.leases
  SET holder = NULL, until = '-infinity', wanted = clock_timestamp(), asked = asked + 1
  FROM incrawl.names WHERE names.part = leases.part AND name = $1 AND token = $2::bigint
    AND NOT ${IS_HERE} AND holder LIKE '{"from":%'`;

/** Rejects with `MovedError` if the lease of a name has a mark. */
export function refuseMoved(name: string, holder: unknown, isHere: unknown): void {
  if (isHere !== false) return;
  const mark = JSON.parse(String(holder)) as Mark;
  throw new MovedError(name, 'to' in mark ? mark : { to: mark.from, token: '' });
}

/** Rejects with `MovedError` if the rows now lie elsewhere, otherwise with the error. */
export async function causeOfNoTable(db: Database, name: string, error: unknown): Promise<never> {
  const part = isNoTable(error) ? await partOf(db, name) : null;
  if (part !== null) {
    const { rows } = await db.query({ text: LEASE, values: [part] });
    refuseMoved(name, rows[0]?.[0], rows[0]?.[1]);
  }
  throw error;
}

export function postgresMoves(db: Database): StoreMoves {
  return {
    async whereabouts(name) {
      const part = await partOf(db, name);
      if (part === null) return 'nowhere';
      const { rows } = await db.query({ text: LEASE, values: [part] });
      return whereaboutsOf(rows[0]?.[0], rows[0]?.[1]);
    },
    async receive(name, { id, token, from }) {
      const part = await ensurePart(db, name);
      return db.patiently(() =>
        db.transaction(async (run) => {
          const [holder, isHere, isHeld] = (await locked(run, part)) ?? [];
          const [known] = (await run({ text: NAME, values: [part] })).rows[0] ?? [];
          const isEmpty = whereaboutsOf(holder, isHere) !== 'here' || (!isHeld && (await isWithoutRows(run, part)));
          if (!isEmpty || (known !== null && known !== id)) throw occupied(name, known === id);
          await run({ text: `DROP TABLE IF EXISTS ${tableOf(part)}` });
          await createTable(run, part);
          await run({ text: PUT_MARK, values: [part, JSON.stringify({ from })] });
          const { rows } = await run({ text: RECEIVE, values: [part, id, token] });
          return String(rows[0]?.[0]);
        }),
      );
    },
    async leave(name, token, { to, token: arrived, ...last }) {
      const part = await ensurePart(db, name);
      await db.transaction(async (run) => {
        await endTime(run, { name, part, token }, last);
        await run({ text: PUT_MARK, values: [part, JSON.stringify({ to, token: arrived })] });
      });
    },
    async replace(name, token, by, last) {
      const [part, other] = [await ensurePart(db, name), await ensurePart(db, by)];
      await db
        .transaction(async (run) => {
          await endTime(run, { name, part, token }, last);
          // The number stays, because other processes remember it; only the table is replaced.
          await run({ text: `SET LOCAL lock_timeout = ${PATIENCE_MS}` });
          await run({ text: `DROP TABLE ${tableOf(part)}` });
          await run({ text: `ALTER TABLE ${tableOf(other)} RENAME TO ${tableOf(part).split('.')[1]}` });
          for (const table of ['leases', 'names']) {
            await run({ text: `DELETE FROM incrawl.${table} WHERE part = $1`, values: [other] });
          }
        })
        .catch((error: unknown) => {
          throw isLockTimeout(error) ? stillRead(name) : error;
        });
      forgetPart(db, by);
    },
    async settle(name, token) {
      await db.query({ text: SETTLE, values: [name, token] });
    },
    async forget(name, { to, token }) {
      const part = await ensurePart(db, name);
      await db
        .patiently(() =>
          db.transaction(async (run) => {
            const [holder, isHere] = (await locked(run, part)) ?? [];
            if (whereaboutsOf(holder, isHere) === 'here') throw occupied(name, true);
            await run({ text: PUT_MARK, values: [part, JSON.stringify({ to, token })] });
            await run({ text: `SET LOCAL lock_timeout = ${PATIENCE_MS}` });
            await run({ text: `DROP TABLE IF EXISTS ${tableOf(part)}` });
          }),
        )
        .catch((error: unknown) => {
          throw isLockTimeout(error) ? stillRead(name) : error;
        });
    },
  };
}

interface OwnedName {
  readonly name: string;
  readonly part: number;
  readonly token: string;
}

/** From here to the end of the transaction nobody writes or appends; no earlier holder writes after it. */
async function endTime(run: Run, { name, part, token }: OwnedName, { range, appended }: LastAppended): Promise<void> {
  await run({ text: `SET LOCAL idle_in_transaction_session_timeout = ${PATIENCE_MS}` });
  const [holder, isHere] = (await locked(run, part)) ?? [];
  refuseMoved(name, holder, isHere);
  if ((await run({ text: LEAVE, values: [part, token] })).rowCount !== 1) throw tokenIsOld();
  const page = rowStatements(tableOf(part)).page(false, true);
  let next = encodeKey(range.gte);
  for (;;) {
    const { rows } = await run({ ...page, values: [next, encodeKey(range.lt), PAGE] });
    const read = rows as readonly [Buffer, Buffer][];
    await appended(read.map(([key, value]) => ({ key: decodeKey(key), value })));
    const last = read.at(-1)?.[0];
    if (last === undefined || read.length < PAGE) return;
    next = Buffer.concat([last, Buffer.from([0])]);
  }
}

/** The row of the lease, locked against appends as well. */
async function locked(run: Run, part: number): Promise<readonly unknown[] | undefined> {
  const { rows } = await run({ text: `${LEASE} FOR UPDATE`, values: [part] });
  return rows[0];
}

async function isWithoutRows(run: Run, part: number): Promise<boolean> {
  const { rows } = await run({ text: 'SELECT to_regclass($1) IS NOT NULL', values: [tableOf(part)] });
  if (rows[0]?.[0] !== true) return true;
  return (await run({ text: `SELECT FROM ${tableOf(part)} LIMIT 1` })).rowCount === 0;
}

function whereaboutsOf(holder: unknown, isHere: unknown): Whereabouts {
  if (isHere !== false) return 'here';
  const mark = JSON.parse(String(holder)) as Mark;
  return 'to' in mark ? mark : 'arriving';
}

function stillRead(name: string): CrawlError {
  const what = `the rows of "${name}" that were left behind are still read, as by an export`;
  return new CrawlError('db-locked', `${what}: run this again when that has ended`);
}

function occupied(name: string, isSame: boolean): CrawlError {
  const what = isSame
    ? `that server has the crawl db "${name}" of this crawl already: it is the same one under another URL, or a copy of it`
    : `that server has a crawl db "${name}" of another crawl: choose another server, or remove that crawl there`;
  return new CrawlError('config-invalid', what);
}
