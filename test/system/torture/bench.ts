import { mkdir, mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { Database } from '../../../src/cluster/postgres/database.ts';
import { NO_POSTGRES, startPostgres } from '../cluster/postgres/postgres-server.ts';
import type { Bench } from './attempts.ts';
import { startChangingSite } from './changing-site.ts';
import { buildPreloaded } from './faults/preloaded.ts';
import { makeStates } from './made-states.ts';

/** Why no bench can be made here, or null. */
export function noBench(folder: string): string | null {
  const built = buildPreloaded(folder);
  return typeof built === 'string' ? built : null;
}

/** Makes the site, the states and, where there is one, a PostgreSQL; all of them end with the use. */
export async function withBench<Result>(parent: string, use: (bench: Bench) => Promise<Result>): Promise<Result> {
  const folder = await mkdtemp(join(parent, 'bench-'));
  const preloaded = buildPreloaded(folder);
  if (typeof preloaded === 'string') throw new Error(preloaded);
  const site = await startChangingSite();
  const server = NO_POSTGRES === null ? await startPostgres() : null;
  const databases = server === null ? null : new Database(server.url);
  try {
    const states = join(folder, 'states');
    await mkdir(states, { recursive: true });
    const made = await makeStates(site, states);
    let count = 0;
    const emptyStore = async (): Promise<string> => {
      const name = `attempt_${++count}`;
      await databases?.query({ text: `CREATE DATABASE ${name}` });
      return server?.url.replace(/[^/]*$/, name) ?? '';
    };
    return await use({ made, preloaded, folder, ...(server !== null && { emptyStore }) });
  } finally {
    await databases?.close();
    await server?.stop();
    await site.close();
  }
}
