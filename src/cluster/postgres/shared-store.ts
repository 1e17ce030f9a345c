import { randomUUID } from 'node:crypto';
import type { LoadPackage } from '../../core/packages/find-package.ts';
import type { ServerStore } from '../ports/shared-store.ts';
import { byteaArray } from './bytea-array.ts';
import { Database } from './database.ts';
import { encodeKey } from './key-code.ts';
import { postgresLeases } from './leases.ts';
import { causeOfNoTable, IS_HERE, postgresMoves, refuseMoved } from './moves.ts';
import { PostgresRows } from './rows.ts';
import { ensurePart, partOf, tableOf } from './schema.ts';
import { PostgresTurns } from './turns.ts';
import { readWorkers } from './workers.ts';

const ID = `SELECT id, holder, ${IS_HERE} FROM incrawl.names JOIN incrawl.leases USING (part) WHERE name = $1`;

/**
 * Puts rows while the rows of the name are here. If a process that moves them away has locked the lease, this waits,
 * and then sees the mark.
 */
const appendTo = (table: string): string => `WITH lease AS (
    SELECT holder, ${IS_HERE} AS here FROM incrawl.leases WHERE part = $3 FOR KEY SHARE
  ), put AS (
    INSERT INTO ${table} SELECT key, value FROM unnest($1::bytea[], $2::bytea[]) AS new(key, value)
    WHERE (SELECT here FROM lease) ON CONFLICT (key) DO NOTHING
  ) SELECT holder, here FROM lease`;

/**
 * A store in one database. Connects on first use; the first writer creates its tables. Throws
 * `CrawlError('package-missing')` if the optional package is not installed.
 */
export function openPostgresStore(url: string, load?: LoadPackage): ServerStore {
  const db = new Database(url, load);
  return {
    product: 'PostgreSQL',
    async id(name, proposed = '') {
      if (proposed !== '') {
        const part = await ensurePart(db, name);
        const text = 'UPDATE incrawl.names SET id = $2 WHERE part = $1 AND id IS NULL';
        await db.query({ text, values: [part, proposed] });
      }
      if ((await partOf(db, name)) === null) return null;
      const { rows } = await db.query({ text: ID, values: [name] });
      const [id, holder, isHere] = rows[0] ?? [];
      refuseMoved(name, holder, isHere);
      return (id ?? null) as string | null;
    },
    async isWhole(name) {
      const part = await partOf(db, name);
      if (part === null) return false;
      const { rows } = await db.query({ text: 'SELECT to_regclass($1) IS NOT NULL', values: [tableOf(part)] });
      if (rows[0]?.[0] !== true) return false;
      const first = new PostgresRows({ db, name, token: null });
      return !(await first.isEmpty());
    },
    async danger() {
      const { rows } = await db.query({ text: `SELECT current_setting('fsync')` });
      if (rows[0]?.[0] !== 'off') return null;
      return 'PostgreSQL does not sync its files (fsync = off): a power failure destroys the crawl';
    },
    async now() {
      const { rows } = await db.query({ text: 'SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::float8' });
      return Number(rows[0]?.[0]);
    },
    leases: postgresLeases(db),
    rows: (name, token) => new PostgresRows({ db, name, token }),
    async append(name, rows) {
      const part = await ensurePart(db, name);
      const values = [byteaArray(rows.map(({ key }) => encodeKey(key))), byteaArray(rows.map(({ value }) => value))];
      const added = db.query({ text: appendTo(tableOf(part)), values: [...values, part] });
      const { rows: kept } = await added.catch((error: unknown) => causeOfNoTable(db, name, error));
      refuseMoved(name, kept[0]?.[0], kept[0]?.[1]);
    },
    turns: (names, leaseMs, worker = randomUUID()) => new PostgresTurns({ db, url, names, leaseMs, worker, load }),
    moves: postgresMoves(db),
    async sizeOf(name) {
      const part = await partOf(db, name);
      if (part === null) return 0;
      const text = 'SELECT coalesce(pg_total_relation_size(to_regclass($1)), 0)::float8';
      const { rows } = await db.query({ text, values: [tableOf(part)] });
      return Number(rows[0]?.[0]);
    },
    workers: (name) => readWorkers(db, name),
    close: () => db.close(),
  };
}
