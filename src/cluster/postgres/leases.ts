import type { StoreLeases } from '../ports/shared-store.ts';
import type { Database } from './database.ts';
import { IS_HERE, refuseMoved } from './moves.ts';
import { ensurePart, withPart } from './schema.ts';

const FREE = `holder IS NULL OR until < clock_timestamp()`;
const END = `clock_timestamp() + $3 * interval '1 millisecond'`;

/** The same statement sets the new token. It waits for a batch of the previous holder, which has locked the row. */
const TAKE = `WITH taken AS (
    UPDATE incrawl.leases SET holder = $2, until = ${END} WHERE part = $1 AND (${FREE}) RETURNING part
  ) UPDATE incrawl.names n SET token = token + 1 FROM taken WHERE n.part = taken.part RETURNING token::text`;
const HOLDER = `SELECT coalesce(holder, ''), ${IS_HERE} FROM incrawl.leases WHERE part = $1`;
const KEEP = `UPDATE incrawl.leases SET until = ${END}
  WHERE part = $1 AND holder = $2 AND until >= clock_timestamp()`;
const DROP = `UPDATE incrawl.leases SET holder = NULL WHERE part = $1 AND holder = $2`;

/** Leases as rows, by the clock of the server. */
export function postgresLeases(db: Database): StoreLeases {
  return {
    take: (name, holder, leaseMs) =>
      withPart(db, name, async (part) => {
        const taken = await db.query({ text: TAKE, values: [part, holder, leaseMs] });
        const token = taken.rows[0]?.[0];
        if (token !== undefined) return { token: String(token) };
        const { rows } = await db.query({ text: HOLDER, values: [part] });
        refuseMoved(name, rows[0]?.[0], rows[0]?.[1]);
        const other = String(rows[0]?.[0] ?? '');
        if (other !== holder) return { holder: other };
        // The server may have taken the lease for this holder, and the answer was lost with the connection.
        const again = await db.query({ text: 'SELECT token::text FROM incrawl.names WHERE part = $1', values: [part] });
        return { token: String(again.rows[0]?.[0]) };
      }),
    async keep(name, holder, leaseMs) {
      const part = await ensurePart(db, name);
      return (await db.query({ text: KEEP, values: [part, holder, leaseMs] })).rowCount === 1;
    },
    async drop(name, holder) {
      const part = await ensurePart(db, name);
      await db.query({ text: DROP, values: [part, holder] });
    },
  };
}
