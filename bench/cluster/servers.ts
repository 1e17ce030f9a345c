import { Database } from '../../src/cluster/postgres/database.ts';
import { cpuOf, statOf } from './server-cpu.ts';

/** Sums over the tables of a crawl. */
export interface Tables {
  readonly heap: number;
  readonly indexes: number;
  /** Estimates of PostgreSQL. */
  readonly live: number;
  readonly dead: number;
  readonly autovacuums: number;
}

/** PostgreSQL servers on this machine, whose CPU is read from /proc. */
export interface Servers {
  readonly sharedBuffers: number;
  cpuUs(): number;
  walBytes(): Promise<number>;
  tables(): Promise<Tables>;
  /** Runs a statement on each table of the crawl, one after the other. */
  onEach(statement: (table: string) => string): Promise<void>;
  /** Drops the tables of the crawl. */
  close(): Promise<void>;
}

/** Statistics of a backend are kept back for a second. */
const STATISTICS_MS = 2_000;

/** @param crawl its name, the beginning of those of its partitions */
export async function openServers(urls: readonly string[], crawl: string): Promise<Servers> {
  const all = urls.map((url) => new Database(url));
  /** Sums of what each server answers. */
  const ask = async (text: string): Promise<number[]> => {
    const rows = await Promise.all(all.map(async (db) => (await db.query({ text })).rows[0] ?? []));
    return (rows[0] ?? []).map((_, i) => rows.reduce((sum, row) => sum + Number(row[i]), 0));
  };
  const pids = await Promise.all(
    all.map(async (db) =>
      Number(statOf(Number((await db.query({ text: 'SELECT pg_backend_pid()' })).rows[0]?.[0]))[1]),
    ),
  );
  const onEach: Servers['onEach'] = async (statement) => {
    for (const db of all) {
      const { rows } = await db.query({ text: `SELECT part FROM incrawl.names WHERE name LIKE '${crawl}%'` });
      const client = await db.reserve();
      await client.query({ text: 'SET statement_timeout = 0' });
      for (const [part] of rows) await client.query({ text: statement(`incrawl.rows_${part}`) });
      client.release();
    }
  };
  const [sharedBuffers = 0] = await ask(`SELECT pg_size_bytes(current_setting('shared_buffers'))`);
  return {
    sharedBuffers,
    cpuUs: () => pids.reduce((sum, pid) => sum + cpuOf(pid), 0),
    walBytes: async () => (await ask(`SELECT pg_current_wal_lsn() - '0/0'`))[0] ?? 0,
    async tables() {
      await new Promise((resolve) => setTimeout(resolve, STATISTICS_MS));
      const [heap = 0, indexes = 0, live = 0, dead = 0, autovacuums = 0] = await ask(
        `SELECT sum(pg_table_size(relid)), sum(pg_indexes_size(relid)), sum(n_live_tup), sum(n_dead_tup),
           sum(autovacuum_count)
         FROM pg_stat_user_tables JOIN incrawl.names ON relname = 'rows_' || part WHERE name LIKE '${crawl}%'`,
      );
      return { heap, indexes, live, dead, autovacuums };
    },
    onEach,
    async close() {
      await onEach((table) => `DROP TABLE ${table}`);
      const parts = `SELECT part FROM incrawl.names WHERE name LIKE '${crawl}%'`;
      await ask(`DELETE FROM incrawl.leases WHERE part IN (${parts})`);
      await ask(`DELETE FROM incrawl.names WHERE part IN (${parts})`);
      for (const db of all) await db.close();
    },
  };
}
