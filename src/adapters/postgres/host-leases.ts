import type { HostLeases } from '../../ports/cluster/shared-store.ts';
import type { Database } from './database.ts';
import { ensurePart } from './schema.ts';

const END = `clock_timestamp() + $4 * interval '1 millisecond'`;

const TAKE = `INSERT INTO incrawl.hosts AS h (part, host, worker, until) VALUES ($1, $2, $3, ${END})
  ON CONFLICT (part, host) DO UPDATE SET worker = excluded.worker, until = excluded.until, is_resting = false
  WHERE h.worker = excluded.worker OR h.until < clock_timestamp() RETURNING 0`;
const LEFT = `SELECT ceil(extract(epoch FROM until - clock_timestamp()) * 1000)::float8 FROM incrawl.hosts
  WHERE part = $1 AND host = $2`;
const KEEP = `UPDATE incrawl.hosts SET until = ${END}
  WHERE part = $1 AND host = $2 AND worker = $3 AND NOT is_resting AND until >= clock_timestamp()`;
const LEAVE = `UPDATE incrawl.hosts SET until = ${END}, is_resting = true
  WHERE part = $1 AND host = $2 AND worker = $3 AND NOT is_resting`;
/** Rows of hosts that have not been asked for so long are removed. */
const FORGET = `DELETE FROM incrawl.hosts WHERE part = $1 AND until < clock_timestamp() - interval '1 hour'`;

/** A row a host. While a host rests, its row names the worker that held it last, which alone may take it again. */
export function postgresHostLeases(db: Database, name: string): HostLeases {
  let known: Promise<number> | null = null;
  const part = (): Promise<number> => {
    known ??= ensurePart(db, name).then(async (each) => {
      await db.query({ text: FORGET, values: [each] });
      return each;
    });
    known.catch(() => {
      known = null;
    });
    return known;
  };
  return {
    async take(host, worker, lifeMs) {
      const at = await part();
      const taken = await db.query({ name: 'take-host', text: TAKE, values: [at, host, worker, lifeMs] });
      if (taken.rows.length > 0) return 0;
      const { rows } = await db.query({ name: 'left-host', text: LEFT, values: [at, host] });
      return Math.max(1, Number(rows[0]?.[0] ?? 1));
    },
    async keep(host, worker, lifeMs) {
      const values = [await part(), host, worker, lifeMs];
      return (await db.query({ name: 'keep-host', text: KEEP, values })).rowCount === 1;
    },
    async leave(host, worker, restMs) {
      await db.query({ name: 'leave-host', text: LEAVE, values: [await part(), host, worker, restMs] });
    },
  };
}
