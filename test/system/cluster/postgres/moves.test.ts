import { afterAll, beforeAll, describe } from 'vitest';
import { Database } from '../../../../src/cluster/postgres/database.ts';
import { openPostgresStore } from '../../../../src/cluster/postgres/shared-store.ts';
import { movesContract } from '../../../contracts/cluster/moves.contract.ts';
import { NO_POSTGRES, type PostgresServer, startPostgres } from './postgres-server.ts';

const SKIPPED = NO_POSTGRES === null ? '' : ` (skipped: ${NO_POSTGRES})`;
const DATABASES = ['postgres', 'two', 'three'];

describe.skipIf(NO_POSTGRES !== null)(`moves between databases of PostgreSQL${SKIPPED}`, () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
    const db = new Database(server.url);
    for (const name of DATABASES.slice(1)) await db.query({ text: `CREATE DATABASE ${name}` });
    await db.close();
  }, 60_000);
  afterAll(() => server?.stop());

  movesContract('PostgreSQL', (i) => openPostgresStore(server.url.replace(/postgres$/, DATABASES[i] as string)));
});
