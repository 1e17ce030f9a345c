import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Database } from '../../../../src/cluster/postgres/database.ts';
import { SCHEMA_LOCK, SCHEMA_STEPS, schemaVersion, upgradeSchema } from '../../../../src/cluster/postgres/schema.ts';
import { openPostgresStore } from '../../../../src/cluster/postgres/shared-store.ts';
import { WriteLease } from '../../../../src/cluster/workers/write-lease.ts';
import { type LoadPackage, loadPackage } from '../../../../src/core/packages/find-package.ts';
import { openRows } from '../../../cluster/open-store.ts';
import { sharedStoreContract } from '../../../contracts/cluster/shared-store.contract.ts';
import { NO_POSTGRES, type PostgresServer, startPostgres } from './postgres-server.ts';

const SKIPPED = NO_POSTGRES === null ? '' : ` (skipped: ${NO_POSTGRES})`;

describe('PostgreSQL without its package', () => {
  it('names the command that installs it', () => {
    const missing: LoadPackage = (id, what) => loadPackage(id, what, { own: '/', project: '/', folder: null });
    expect(() => openPostgresStore('postgres://127.0.0.1/x', missing)).toThrow('incrawl packages install pg');
  });
});

describe.skipIf(NO_POSTGRES !== null)(`rows in PostgreSQL${SKIPPED}`, () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  }, 60_000);
  afterAll(() => server?.stop());

  sharedStoreContract('PostgreSQL', () => server.url);

  it('several processes make the tables at once, and versions of them that it does not know are refused', async () => {
    const rows = await Promise.all(['many/0', 'many/1', 'many/2', 'other'].map((name) => openRows(server.url, name)));
    await Promise.all(rows.map((each, i) => each.put('a', Buffer.from([i]))));
    expect(await Promise.all(rows.map((each) => each.get('a')))).toEqual([0, 1, 2, 3].map((i) => Buffer.from([i])));
    await Promise.all(rows.map((each) => each.close()));
    const db = new Database(server.url);
    for (const version of [2, 6]) {
      await db.query({ text: 'UPDATE incrawl.format SET version = $1', values: [version] });
      await expect(openRows(server.url, 'many/0')).rejects.toMatchObject({
        code: 'db-version',
        message: expect.stringContaining(`version ${version}; this incrawl reads up to 1, and has changed nothing`),
      });
      expect((await db.query({ text: 'SELECT version FROM incrawl.format' })).rows).toEqual([[version]]);
    }
    await db.query({ text: 'UPDATE incrawl.format SET version = 1' });
    await db.close();
    const again = await openRows(server.url, 'many/1');
    expect(await again.get('a')).toEqual(Buffer.from([1]));
    await again.close();
  });

  it('tables of an earlier version are brought up to date, by one process alone', async () => {
    const steps = [...SCHEMA_STEPS, ['CREATE TABLE incrawl.added (a integer)', 'INSERT INTO incrawl.added VALUES (7)']];
    const rows = await openRows(server.url, 'upgraded');
    await rows.put('a', Buffer.from('1'));
    await rows.close();
    const dbs = [new Database(server.url), new Database(server.url)];
    await Promise.all(dbs.map((db) => upgradeSchema(db, steps)));
    const [db] = dbs as [Database, Database];
    expect((await db.query({ text: 'SELECT a FROM incrawl.added' })).rows).toEqual([[7]]);
    expect(await schemaVersion(db, steps)).toBe(2);
    await db.query({ text: 'DROP TABLE incrawl.added' });
    await db.query({ text: 'UPDATE incrawl.format SET version = 1' });
    await Promise.all(dbs.map((each) => each.close()));
    const again = await openRows(server.url, 'upgraded');
    expect(await again.get('a')).toEqual(Buffer.from('1'));
    await again.close();
  });

  it('what a newer incrawl has made meanwhile is refused, and stays', async () => {
    const [newer, older] = [new Database(server.url), new Database(server.url)];
    const waiting = `SELECT count(*)::int FROM pg_locks WHERE locktype = 'advisory' AND NOT granted`;
    await newer.query({ text: 'DELETE FROM incrawl.format' });
    let refused: Promise<unknown> | undefined;
    await newer.transaction(async (run) => {
      await run({ text: `SELECT pg_advisory_xact_lock(${SCHEMA_LOCK})` });
      await run({ text: 'INSERT INTO incrawl.format VALUES (2)' });
      refused = upgradeSchema(older).catch((error: unknown) => error);
      await expect.poll(async () => (await run({ text: waiting })).rows).toEqual([[1]]);
    });
    expect(await refused).toMatchObject({ code: 'db-version' });
    expect((await newer.query({ text: 'SELECT version FROM incrawl.format' })).rows).toEqual([[2]]);
    await newer.query({ text: 'UPDATE incrawl.format SET version = 1' });
    await Promise.all([newer.close(), older.close()]);
  });

  const leaseAt = async (url: string): Promise<unknown> => {
    const store = openPostgresStore(url);
    const taken = WriteLease.take({ store, name: 'away', leaseMs: 1_000, waitMs: 0 });
    return taken.catch((error: unknown) => error).finally(() => store.close());
  };

  it('a server that cannot be reached is reported without the password', async () => {
    const error = await leaseAt('postgres://user:secret@127.0.0.1:1/crawl');
    expect(error).toMatchObject({ code: 'postgres-unreachable', message: expect.stringContaining('ECONNREFUSED') });
    expect(JSON.stringify([String(error), error])).not.toContain('secret');
  }, 30_000);

  it.each([
    ['a database that is not there', (url: string) => url.replace(/postgres$/, 'nowhere'), 'has no database'],
    ['a user that is not there', (url: string) => url.replace('crawler', 'stranger'), 'refuses access'],
    ['TLS that the server has not', (url: string) => `${url}?sslmode=require`, 'SSL'],
  ])('%s is a fault of the configuration', async (_, change, text) => {
    const error = await leaseAt(change(server.url));
    expect(error).toMatchObject({ code: 'config-invalid', message: expect.stringContaining(text) });
  });

  it('a server without writes is reported as read-only', async () => {
    const rows = await openRows(server.url, 'standby');
    await rows.put('a', Buffer.from('1'));
    const db = new Database(server.url);
    await db.query({ text: 'ALTER DATABASE postgres SET default_transaction_read_only = on' });
    try {
      const other = openPostgresStore(server.url);
      expect(await other.rows('standby', null).get('a')).toEqual(Buffer.from('1'));
      await expect(WriteLease.take({ store: other, name: 'new', leaseMs: 1_000, waitMs: 0 })).rejects.toMatchObject({
        code: 'db-readonly',
      });
      await other.close();
    } finally {
      await db.query({ text: 'ALTER DATABASE postgres SET default_transaction_read_only = off' });
      await db.close();
    }
    await rows.close();
  });

  it('tables that are removed while a process runs are missed, and new ones are not taken for them', async () => {
    const store = openPostgresStore(server.url);
    const other = openPostgresStore(server.url);
    await store.append('gone', [{ key: 'a', value: Buffer.from('1') }]);
    expect(await store.isWhole('gone')).toBe(true);
    const db = new Database(server.url);
    await db.query({ text: 'DROP SCHEMA incrawl CASCADE' });
    await db.close();
    await other.append('another crawl', [{ key: 'b', value: Buffer.from('2') }]);
    await expect(store.append('gone', [{ key: 'c', value: Buffer.from('3') }])).rejects.toThrow('does not exist');
    expect(await store.isWhole('gone')).toBe(false);
    expect(await store.rows('gone', null).get('a')).toBeUndefined();
    expect(await other.rows('another crawl', null).keys({}).all()).toEqual(['b']);
    await store.append('gone', [{ key: 'd', value: Buffer.from('4') }]);
    expect(await store.rows('gone', null).keys({}).all()).toEqual(['d']);
    await store.close();
    await other.close();
  });
});
