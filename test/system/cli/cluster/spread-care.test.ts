import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SharedStore, StoredRows } from '../../../../src/cluster/ports/shared-store.ts';
import { openPostgresStore } from '../../../../src/cluster/postgres/shared-store.ts';
import type { RepairSummary, VerifySummary } from '../../../../src/crawler/index.ts';
import { ROW, rowRange } from '../../../../src/store/rows/codecs/keys.ts';
import { prepare } from '../../../support/program.ts';
import { workDir } from '../../../support/work-dir.ts';
import { NO_POSTGRES, startPostgres } from '../../cluster/postgres/postgres-server.ts';
import { json, run, start } from '../../support/binary.ts';
import { NETWORK, PARTITIONS, spreadAt, spreadPlace, URLS } from './spread-place.ts';

const SKIPPED = NO_POSTGRES === null ? '' : ` (skipped: ${NO_POSTGRES})`;

describe.skipIf(NO_POSTGRES !== null)(`a spread crawl is cared for${SKIPPED}`, () => {
  const place = spreadPlace(() => startPostgres());
  const within = (dir: string): string[] => spreadAt(dir, place.url, 'care');
  const nameOf = (partition: number): string => `care:${String(partition).padStart(3, '0')}`;

  /** Writes rows of the first partition with records, as a fault of the server might. */
  async function damaged(write: (rows: StoredRows) => Promise<unknown>): Promise<string> {
    return holding(async (store, token, name) => {
      const rows = store.rows(name, token);
      await write(rows);
      await rows.close();
      return name;
    });
  }

  const firstRecord = async (store: SharedStore, partition: number): Promise<string | undefined> => {
    const look = store.rows(nameOf(partition), null);
    const { from, to } = rowRange(ROW.record);
    const [record] = await look.keys({ gte: from, lt: to, limit: 1 }).all();
    await look.close();
    return record;
  };

  /** Hosts have the ports that the system gives them, so that some partitions may be without any. */
  async function partitionsInUse(): Promise<number> {
    const store = openPostgresStore(place.url);
    try {
      const all = Array.from({ length: PARTITIONS }, (_, partition) => firstRecord(store, partition));
      return (await Promise.all(all)).filter((record) => record !== undefined).length;
    } finally {
      await store.close();
    }
  }

  async function holding<Value>(use: (store: SharedStore, token: string, name: string) => Promise<Value>) {
    const store = openPostgresStore(place.url);
    try {
      for (let partition = 0; partition < PARTITIONS; partition++) {
        if ((await firstRecord(store, partition)) === undefined) continue;
        const lease = await store.leases.take(nameOf(partition), 'test', 60_000);
        if (!('token' in lease)) throw new Error(`${nameOf(partition)} is held by ${lease.holder}`);
        const value = await use(store, lease.token, nameOf(partition));
        await store.leases.drop(nameOf(partition), 'test');
        return value;
      }
      throw new Error('no partition has a record');
    } finally {
      await store.close();
    }
  }

  it('verify is sound beside its workers; repair mends what was damaged, and waits for no worker', {
    timeout: 180_000,
  }, async () => {
    const dir = join(workDir(), 'spread');
    const worker = start(['work', place.seeds(), ...within(dir), ...NETWORK]);
    await place.hosts.seen(20);
    const beside = await json<VerifySummary>(['state', 'verify', ...within(dir)]);
    expect(beside).toMatchObject({ sound: true, findings: [] });
    expect(await worker.finished).toMatchObject({ code: 0, stderr: '' });
    const sound = await json<VerifySummary>(['state', 'verify', '--deep', ...within(dir)]);
    expect(sound).toMatchObject({ sound: true, rows: { records: URLS, leases: 0 } });
    expect(sound.segments).toBeGreaterThanOrEqual(await partitionsInUse());
    const dump = async (): Promise<string> => (await prepare(['readdb', '--dump', ...within(dir)])).stdout;
    const before = await dump();

    const name = await damaged(async (rows) => {
      const { from, to } = rowRange(ROW.due);
      const due = await rows.keys({ gte: from, lt: to, limit: 2 }).all();
      const host = rowRange(ROW.host);
      const [first] = await rows.keys({ gte: host.from, lt: host.to, limit: 1 }).all();
      await rows.batch(due.map((key) => ({ type: 'del', key })));
      await rows.batch([{ type: 'put', key: first ?? '', value: Buffer.from('?') }]);
    });
    const found = await json<VerifySummary>(['state', 'verify', ...within(dir)], { code: 1 });
    expect(found).toMatchObject({ sound: false, byKind: { 'due-missing': 2, 'row-unreadable': 1 } });
    const [, partition] = name.split(':');
    expect(new Set(found.findings.map((each) => each.partition))).toEqual(new Set([partition]));
    const text = await run(['state', 'verify', ...within(dir)]);
    expect(text.stdout).toMatch(new RegExp(`^ {4}${partition} `, 'm'));

    await holding(async () => {
      const locked = await run(['state', 'repair', ...within(dir)]);
      expect([locked.code, locked.stderr]).toEqual([5, expect.stringContaining('is being written by another process')]);
    });
    const repaired = await json<RepairSummary>(['state', 'repair', ...within(dir)]);
    expect(repaired).toMatchObject({ records: URLS, quarantinedRows: 1, left: { sound: true } });
    const kept = join(repaired.quarantine, partition ?? '', 'rows.jsonl');
    expect(existsSync(kept) && readFileSync(kept, 'utf8')).toContain('"why"');
    expect(await dump()).toBe(before);
    const again = start(['work', ...within(dir), ...NETWORK]);
    expect(await again.finished).toMatchObject({ code: 0, stderr: '' });
  });
});
