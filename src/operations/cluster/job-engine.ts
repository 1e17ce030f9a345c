import { loadBullMq } from '../../adapters/bullmq/bullmq.ts';
import { createBullJobEngine } from '../../adapters/bullmq/job-engine.ts';
import { bullMqOnPostgres } from '../../adapters/bullmq/on-postgres.ts';
import { postgresJobServer } from '../../adapters/postgres/job-server.ts';
import { redisJobServer } from '../../adapters/redis/job-server.ts';
import type { JobEngine } from '../../ports/job-engine.ts';
import type { Log } from '../../ports/log.ts';
import { isPostgres } from './store-urls.ts';

export interface JobEngineOptions {
  readonly url: string;
  /** `cluster.name`. */
  readonly name: string;
  /** A worker without a heartbeat for so long loses its jobs, ms. */
  readonly leaseMs: number;
  readonly log: Log;
}

/** Opens the jobs on the server that a URL names. Rejects with `package-missing`, or an error of the server. */
export async function openJobEngine({ url, name, leaseMs, log }: JobEngineOptions): Promise<JobEngine> {
  const bullmq = loadBullMq();
  if (!isPostgres(url)) {
    return createBullJobEngine({ bullmq, server: await redisJobServer(url, name), leaseMs, log });
  }
  const server = postgresJobServer(url, name);
  try {
    const classes = await server.call(() => bullMqOnPostgres(bullmq, server.connection.connection));
    return createBullJobEngine({ bullmq: classes, server, leaseMs, log });
  } catch (error) {
    await server.close();
    throw error;
  }
}
