import { Database } from '../../../../src/cluster/postgres/database.ts';

/** Names of the crawl dbs with a table of rows on a server, in order; those that lie elsewhere are left out. */
export async function namesOn(url: string, crawl: string): Promise<readonly string[]> {
  const db = new Database(url);
  try {
    const text = `SELECT name FROM incrawl.names JOIN incrawl.leases USING (part)
      WHERE name LIKE $1 AND until < 'infinity' AND to_regclass('incrawl.rows_' || part) IS NOT NULL ORDER BY name`;
    const { rows } = await db.query({ text, values: [`${crawl}:%`] });
    return rows.map(([name]) => String(name)).filter((name) => /:\d{3}$/.test(name));
  } finally {
    await db.close();
  }
}
