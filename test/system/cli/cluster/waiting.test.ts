import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Database } from '../../../../src/cluster/postgres/database.ts';
import { encodeKey } from '../../../../src/cluster/postgres/key-code.ts';
import type { WorkersView } from '../../../../src/crawler/views.ts';
import { json, prepare, run as runHere } from '../../../support/program.ts';
import { workDir } from '../../../support/work-dir.ts';
import { NO_POSTGRES, type PostgresServer, startPostgres } from '../../cluster/postgres/postgres-server.ts';
import { type Running, run, start } from '../../support/binary.ts';
import { NETWORK, spreadAt, spreadPlace } from './spread-place.ts';

const SKIPPED = NO_POSTGRES === null ? '' : ` (skipped: ${NO_POSTGRES})`;

describe.skipIf(NO_POSTGRES !== null)(`workers that wait for what somebody has to mend${SKIPPED}`, () => {
  let first: PostgresServer;
  const place = spreadPlace(async () => {
    first = await startPostgres();
    return first;
  });
  let second: PostgresServer;
  beforeAll(async () => {
    second = await startPostgres();
  }, 60_000);
  afterAll(() => second?.stop());

  /** What each URL ended as, one a line. */
  async function pagesOf(where: readonly string[]): Promise<readonly string[]> {
    const { stdout } = await prepare(['readdb', '--dump', '--format', 'jsonl', ...where]);
    const lines = stdout.split('\n').filter((line) => line !== '');
    return lines.map((line) => {
      const { url, state, depth, digest } = JSON.parse(line) as Readonly<Record<string, unknown>>;
      return `${url} ${state} ${depth} ${digest}`;
    });
  }
  const ownCrawl = async (name: string): Promise<readonly string[]> => {
    const own = ['--dir', join(workDir(), name)];
    await prepare(['crawl', place.seeds(), ...own, ...NETWORK]);
    return pagesOf(own);
  };
  const top = async (where: readonly string[]): Promise<WorkersView> =>
    (JSON.parse((await runHere(['top', '--json', ...where])).stdout) as { workers: WorkersView }).workers;
  const endOf = async (workers: readonly Running[]): Promise<void> => {
    for (const { code, stdout, stderr } of await Promise.all(workers.map(({ finished }) => finished))) {
      expect([code, stderr]).toEqual([0, '']);
      expect(JSON.parse(stdout)).toMatchObject({ stoppedBy: 'nothing-due' });
    }
    expect(place.hosts.overlaps).toEqual([]);
  };

  /** Lets writes of rows of these partitions, but not what others send them, fail with this code; `null`: mended. */
  async function breakRows(server: PostgresServer, names: readonly string[], code: string | null): Promise<void> {
    const db = new Database(server.url);
    const { rows } = await db.query({ text: 'SELECT part FROM incrawl.names WHERE name = ANY($1)', values: [names] });
    expect(rows).toHaveLength(names.length);
    await db.query({
      text: `CREATE OR REPLACE FUNCTION break() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE 'could not extend file' USING ERRCODE = '${code ?? '53100'}'; END $$`,
    });
    for (const [part] of rows) {
      await db.query({ text: `DROP TRIGGER IF EXISTS broken ON incrawl.rows_${part}` });
      if (code === null) continue;
      const [from, to] = ['i', 'j'].map((kind) => `'\\x${encodeKey(kind).toString('hex')}'`);
      const when = `FOR EACH ROW WHEN (NEW.key < ${from} OR NEW.key >= ${to}) EXECUTE FUNCTION break()`;
      await db.query({ text: `CREATE TRIGGER broken BEFORE INSERT ON incrawl.rows_${part} ${when}` });
    }
    await db.close();
  }
  /** The next tries come at once. */
  async function hurry(server: PostgresServer): Promise<void> {
    const db = new Database(server.url);
    await db.query({ text: 'UPDATE incrawl.leases SET wanted = now() WHERE fault IS NOT NULL' });
    await db.close();
  }

  it('go on by themselves when a server that took no writes does again, which top tells', async () => {
    const whole = await ownCrawl('own-standby');
    const where = spreadAt(join(workDir(), 'standby'), first.url, 'standby');
    const before = place.hosts.asked.length;
    const slowly = [...NETWORK, '--delay', '400ms'];
    const workers = [start(['work', place.seeds(), '--json', ...where, ...slowly])];
    await place.hosts.seen(before + 6);
    workers.push(start(['work', '--json', ...where, ...slowly]));
    await expect.poll(async () => (await top(where)).workers.length, { interval: 50, timeout: 30_000 }).toBe(2);
    await first.refuseWrites(true);
    try {
      const shownFaults = async () => (await top(where)).partitions.map(({ state, fault }) => [state, fault]);
      const each = ['retrying', 'db-readonly: PostgreSQL takes no writes'];
      // Once their leases have ended.
      await expect.poll(shownFaults, { timeout: 30_000 }).toEqual(Array(4).fill(each));
      expect(workers.map(({ child }) => child.exitCode)).toEqual([null, null]);
    } finally {
      await first.refuseWrites(false);
    }
    await endOf(workers);
    expect(await pagesOf(where)).toEqual(whole);
  }, 180_000);

  it('go on with the partitions on another server while the disk of one is full', async () => {
    const whole = await ownCrawl('own-full');
    const where = spreadAt(join(workDir(), 'full'), first.url, 'full');
    await prepare(['inject', place.seeds(), ...where, '-D', `cluster.servers=[${second.url}]`]);
    await breakRows(second, ['full:001', 'full:003'], '53100');
    const workers = [0, 1].map(() => start(['work', '--json', ...where, ...NETWORK]));
    const full = 'disk-full: PostgreSQL has no space left: could not extend file';
    const faults = async () => (await top(where)).partitions.map(({ state, fault }) => `${state} ${fault}`);
    await expect
      .poll(async () => (await faults()).filter((each) => each === `retrying ${full}`).length, { timeout: 60_000 })
      .toBeGreaterThanOrEqual(2);
    const listed = await json<readonly { partition: string; fault: string | null }[]>(['partitions', 'list', ...where]);
    expect(listed.filter(({ fault }) => fault === full).map(({ partition }) => partition)).toEqual(
      expect.arrayContaining(['001', '003']),
    );
    expect(workers.map(({ child }) => child.exitCode)).toEqual([null, null]);
    await breakRows(second, ['full:001', 'full:003'], null);
    for (const server of [first, second]) await hurry(server);
    await endOf(workers);
    expect(await pagesOf(where)).toEqual(whole);
  }, 180_000);

  it('a daemon goes on without a partition that fails, and with it once that is mended; others end with the reason', async () => {
    const whole = await ownCrawl('own-failing');
    const where = spreadAt(join(workDir(), 'failing'), first.url, 'failing');
    await prepare(['inject', place.seeds(), ...where]);
    await breakRows(first, ['failing:001'], 'XX001');
    const ended = await run(['work', ...where, ...NETWORK]);
    expect([ended.code, ended.stderr]).toEqual([1, expect.stringContaining('partition 001: PostgreSQL failed')]);
    const daemon = start(['work', '--daemon', '--json', ...where, ...NETWORK]);
    const states = async () => (await top(where)).partitions.map(({ state }) => state);
    await expect.poll(states, { timeout: 60_000 }).toEqual(['done', 'failed', 'done', 'done']);
    const [, failed] = (await top(where)).partitions;
    expect(failed).toMatchObject({ fault: expect.stringContaining('could not extend file') });
    expect(Date.parse(failed?.wantedAt ?? '')).toBeGreaterThan(Date.now());
    await breakRows(first, ['failing:001'], null);
    await hurry(first);
    await expect.poll(states, { timeout: 60_000 }).toEqual(['done', 'done', 'done', 'done']);
    daemon.child.kill('SIGTERM');
    expect((await daemon.finished).code).toBe(11);
    expect(await pagesOf(where)).toEqual(whole);
  }, 180_000);
});
