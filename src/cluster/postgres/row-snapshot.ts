import type { RowSnapshot } from '../../core/ports/ordered-rows.ts';
import type { Database } from './database.ts';
import type { PgPoolClient, PgQuery, PgResult } from './pg.ts';
import { postgresError } from './postgres-errors.ts';

const BEGIN = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY';

/**
 * A snapshot of the rows: a transaction on a connection of its own. The server keeps the row versions that the snapshot
 * sees, so a long one costs space. It ends with the connection.
 */
export class PostgresSnapshot implements RowSnapshot {
  /** Resolves once the snapshot is taken: writes that begin later are not in it. */
  readonly ready: Promise<PgPoolClient>;
  #closing: Promise<void> | null = null;

  constructor(db: Database) {
    this.ready = begin(db);
    // Readers of the snapshot get the error.
    this.ready.catch(() => {});
  }

  /** Rejects with `CrawlError`: the snapshot is lost with its connection, and is not taken again. */
  async query(query: PgQuery): Promise<PgResult> {
    const client = await this.ready;
    try {
      return await client.query({ ...query, rowMode: 'array' });
    } catch (error) {
      throw postgresError(error);
    }
  }

  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    const client = await this.ready.catch(() => null);
    if (client === null) return;
    try {
      await client.query({ text: 'COMMIT' });
      client.release();
    } catch {
      client.release(true);
    }
  }
}

async function begin(db: Database): Promise<PgPoolClient> {
  return db.patiently(async () => {
    const client = await db.reserve();
    try {
      await client.query({ text: BEGIN });
      // The first statement takes the snapshot.
      await client.query({ text: 'SELECT 1' });
      return client;
    } catch (error) {
      client.release(true);
      throw error;
    }
  });
}
