import { setTimeout as delay } from 'node:timers/promises';
import type { LoadPackage } from '../../packages/load-package.ts';
import { openPool, type PgPool } from './pg.ts';
import { isAway, postgresError } from './postgres-errors.ts';

/** Connections of a worker for its jobs; one of them waits for notifications. */
const CONNECTIONS = 4;
const CONNECT_TIMEOUT_MS = 10_000;
const PAUSE_MS = 500;

export interface PostgresJobServer {
  readonly connection: { readonly connection: PgPool };
  readonly queue: string;
  call<Value>(attempt: () => Promise<Value>): Promise<Value>;
  close(): Promise<void>;
}

/**
 * The server of the jobs of a crawl, with a pool whose names are looked up in the schema of BullMQ. Calls wait for a
 * server that is away.
 */
export function postgresJobServer(url: string, name: string, load?: LoadPackage): PostgresJobServer {
  const pool = openPool(
    {
      connectionString: url,
      max: CONNECTIONS,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      idleTimeoutMillis: 30_000,
      keepAlive: true,
      application_name: 'incrawl jobs',
      options: '-c search_path=bullmq',
      allowExitOnIdle: true,
    },
    load,
  );
  let isClosed = false;
  return {
    connection: { connection: pool },
    // BullMQ takes no colon in the name of a queue.
    queue: encodeURIComponent(name),
    async call(attempt) {
      for (;;) {
        try {
          return await attempt();
        } catch (error) {
          if (isClosed || !isAway(error)) throw postgresError(error);
          await delay(PAUSE_MS);
        }
      }
    },
    async close() {
      isClosed = true;
      await pool.end();
    },
  };
}
