import { connect, createServer, type Server, type Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Database } from '../../../../src/cluster/postgres/database.ts';
import { openPostgresStore } from '../../../../src/cluster/postgres/shared-store.ts';
import { openRows } from '../../../cluster/open-store.ts';
import { NO_POSTGRES, type PostgresServer, startPostgres } from './postgres-server.ts';

const SKIPPED = NO_POSTGRES === null ? '' : ` (skipped: ${NO_POSTGRES})`;
const KILLS = 8;
const ROWS = 40;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const keyOf = (batch: number, row: number): string => `${String(batch).padStart(6, '0')}/${row}`;

describe.skipIf(NO_POSTGRES !== null)(`a PostgreSQL that dies${SKIPPED}`, () => {
  let server: PostgresServer;
  beforeAll(async () => {
    // It syncs to the disk: only a kill of the machine would need that, yet so it is as users have it.
    server = await startPostgres([]);
  }, 60_000);
  afterAll(() => server?.stop());

  it('in the middle of batches has each of them in whole or not at all, and none of those it acknowledged is lost', async () => {
    const rows = await openRows(server.url, 'killed');
    let acknowledged = -1;
    let isOver = false;
    const writing = (async () => {
      for (let batch = 0; !isOver; batch++) {
        const value = Buffer.from(String(batch));
        const puts = Array.from({ length: ROWS }, (_, row) => ({
          type: 'put' as const,
          key: keyOf(batch, row),
          value,
        }));
        const last = { type: 'put' as const, key: 'last', value };
        const removed = { type: 'del' as const, key: keyOf(batch - 1, 0) };
        await rows.batch([...puts, last, removed]);
        acknowledged = batch;
      }
    })();
    for (let kill = 0; kill < KILLS; kill++) {
      await pause(20 + 37 * kill);
      const before = acknowledged;
      await server.kill();
      await server.again();
      const store = openPostgresStore(server.url);
      const snapshot = store.rows('killed', null).snapshot();
      const all = store.rows('killed', null).iterator({ gte: '0', lt: ':', snapshot });
      const counts = new Map<number, number>();
      for (const [key] of await all.all()) {
        const batch = Number.parseInt(key, 10);
        counts.set(batch, (counts.get(batch) ?? 0) + 1);
      }
      const [last] = await store.rows('killed', null).getMany(['last'], { snapshot });
      await snapshot.close();
      await store.close();
      const newest = Number(String(last ?? '-1'));
      expect(newest).toBeGreaterThanOrEqual(before);
      expect([...counts.keys()]).toEqual(Array.from({ length: newest + 1 }, (_, i) => i));
      expect([...counts.values()]).toEqual(
        Array.from({ length: newest + 1 }, (_, i) => (i < newest ? ROWS - 1 : ROWS)),
      );
    }
    isOver = true;
    await writing;
    expect(acknowledged).toBeGreaterThan(0);
    await rows.close();
  }, 120_000);

  it('after the commit and before the answer has the batch, which is not written twice', async () => {
    const relay = await startRelay(server.port);
    const url = server.url.replace(String(server.port), String(relay.port));
    const rows = await openRows(url, 'answered');
    await rows.put('a', Buffer.from('0'));
    const db = new Database(server.url);
    const { rows: parts } = await db.query({ text: `SELECT part FROM incrawl.names WHERE name = 'answered'` });
    const table = `incrawl.rows_${parts[0]?.[0]}`;
    for (const text of [
      'CREATE TABLE written (n bigint GENERATED ALWAYS AS IDENTITY)',
      `CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN INSERT INTO public.written DEFAULT VALUES; RETURN NEW; END'`,
      `CREATE TRIGGER noted AFTER INSERT OR UPDATE ON ${table} FOR EACH ROW EXECUTE FUNCTION note()`,
    ]) {
      await db.query({ text });
    }
    relay.swallowNext('secret value');
    await rows.put('a', Buffer.from('secret value'));
    expect(relay.swallowed()).toBe(1);
    expect(await rows.get('a')).toEqual(Buffer.from('secret value'));
    expect((await db.query({ text: 'SELECT count(*)::int FROM written' })).rows).toEqual([[1]]);
    await rows.close();
    await db.close();
    await relay.close();
  }, 60_000);

  it('as it says that a connection is ready is asked again', async () => {
    const message = (type: string, body: Buffer): Buffer => {
      const head = Buffer.from(`${type}0000`);
      head.writeInt32BE(body.length + 4, 1);
      return Buffer.concat([head, body]);
    };
    const fields = 'SFATAL\0VFATAL\0C57P01\0Mterminating connection due to unexpected postmaster exit\0\0';
    const readyThenFatal = Buffer.concat([
      message('R', Buffer.alloc(4)),
      message('Z', Buffer.from('I')),
      message('E', Buffer.from(fields)),
    ]);
    let ended = 0;
    const front = createServer((client) => {
      client.on('error', () => {});
      if (ended === 0) {
        client.once('data', () => client.end(readyThenFatal));
        ended++;
        return;
      }
      const behind = connect(server.port, '127.0.0.1').on('error', () => client.destroy());
      client.pipe(behind).pipe(client);
    }).listen(0, '127.0.0.1');
    await new Promise((resolve) => front.once('listening', resolve));
    const port = (front.address() as { port: number }).port;
    const db = new Database(server.url.replace(String(server.port), String(port)));
    expect((await db.query({ text: 'SELECT 1' })).rows).toEqual([[1]]);
    expect(ended).toBe(1);
    await db.close();
    front.close();
  }, 60_000);
});

interface Relay {
  readonly port: number;
  /** Breaks the connection when the answer to a request with this text comes. */
  swallowNext(text: string): void;
  swallowed(): number;
  close(): Promise<void>;
}

/** Passes on what goes to the server and back. */
async function startRelay(to: number): Promise<Relay> {
  let wanted: string | null = null;
  let count = 0;
  const open = new Set<Socket>();
  const relay: Server = createServer((client) => {
    const server = connect(to, '127.0.0.1');
    let isAsked = false;
    for (const socket of [client, server]) {
      open.add(socket);
      socket.on('error', () => {});
      socket.on('close', () => {
        client.destroy();
        server.destroy();
      });
    }
    client.on('data', (bytes) => {
      if (wanted !== null && bytes.includes(wanted)) {
        wanted = null;
        isAsked = true;
      }
      server.write(bytes);
    });
    server.on('data', (bytes) => {
      // `Z`: ready for the next query, so the transaction has ended.
      if (!isAsked) client.write(bytes);
      else if (bytes.includes(Buffer.from([0x5a, 0, 0, 0, 5]))) {
        count++;
        client.destroy();
      }
    });
  });
  await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
  return {
    port: (relay.address() as { port: number }).port,
    swallowNext(text) {
      wanted = text;
    },
    swallowed: () => count,
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => relay.close(resolve));
    },
  };
}
