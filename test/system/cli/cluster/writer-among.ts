import { Database } from '../../../../src/cluster/postgres/database.ts';
import type { Running } from '../../support/binary.ts';

/** The process that holds one of the crawl dbs of these names in PostgreSQL, once it is one of these. */
export async function writerAmong(
  url: string,
  names: readonly string[],
  workers: readonly Running[],
): Promise<Running> {
  const db = new Database(url);
  const text = `SELECT holder FROM incrawl.leases JOIN incrawl.names USING (part) WHERE name = ANY($1)`;
  try {
    for (;;) {
      const { rows } = await db.query({ text, values: [names] });
      for (const [holder] of rows) {
        const pid = typeof holder === 'string' ? (JSON.parse(holder) as { pid: number }).pid : null;
        const writer = workers.find(({ child }) => child.pid === pid);
        if (writer !== undefined) return writer;
      }
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  } finally {
    await db.close();
  }
}
