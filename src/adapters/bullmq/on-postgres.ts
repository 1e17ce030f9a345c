import type { BullMq } from './bullmq.ts';

/** The part of a pool of node-postgres that migrations need. */
interface Pool {
  connect(): Promise<{ release(): void }>;
}

/**
 * BullMQ's classes on its backend for PostgreSQL, whose tables are made, or brought up to date, first. Their schema is
 * the default one, as BullMQ takes no other name with a pool.
 */
export async function bullMqOnPostgres(
  bullmq: BullMq,
  pool: Pool,
): Promise<Pick<BullMq, 'Queue' | 'Worker' | 'WaitingError'>> {
  const client = await pool.connect();
  try {
    await bullmq.runMigrations(client, bullmq.DEFAULT_SCHEMA);
  } finally {
    client.release();
  }
  return { ...bullmq.withBackend(bullmq.createPostgresBackend), WaitingError: bullmq.WaitingError };
}
