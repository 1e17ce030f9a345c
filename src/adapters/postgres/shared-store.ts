import type { LoadPackage } from '../../packages/load-package.ts';
import type { SharedStore } from '../../ports/cluster/shared-store.ts';
import { byteaArray } from './bytea-array.ts';
import { Database } from './database.ts';
import { encodeKey } from './key-code.ts';
import { postgresLeases } from './leases.ts';
import { PostgresRows } from './rows.ts';
import { ensurePart, partOf, tableOf } from './schema.ts';
import { PostgresTurns } from './turns.ts';

/**
 * A store in one database. Connects on first use; its tables are made by the first writer. Throws
 * `CrawlError('package-missing')` where the optional package is not installed.
 */
export function openPostgresStore(url: string, load?: LoadPackage): SharedStore {
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
      const { rows } = await db.query({ text: 'SELECT id FROM incrawl.names WHERE name = $1', values: [name] });
      return (rows[0]?.[0] ?? null) as string | null;
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
      const table = tableOf(await ensurePart(db, name));
      const put = 'SELECT key, value FROM unnest($1::bytea[], $2::bytea[]) AS new(key, value)';
      const values = [byteaArray(rows.map(({ key }) => encodeKey(key))), byteaArray(rows.map(({ value }) => value))];
      await db.query({ text: `INSERT INTO ${table} ${put} ON CONFLICT (key) DO NOTHING`, values });
    },
    turns: (names, leaseMs) => new PostgresTurns({ db, url, names, leaseMs, load }),
    close: () => db.close(),
  };
}
