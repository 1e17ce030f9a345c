import { join } from 'node:path';
import { copyRows } from '../../adapters/leveldb/copy-rows.ts';
import { keepIn, type RepairedDb } from '../../adapters/leveldb/db-care.ts';
import { openPostgresStore } from '../../adapters/postgres/shared-store.ts';
import { repairRows } from '../../adapters/rows/care/repair-rows.ts';
import { checkFormat, hasFormat, migrate } from '../../adapters/rows/format.ts';
import { openCrawlDbOn } from '../../adapters/rows/open-crawl-db.ts';
import type { RowsCrawlDb } from '../../adapters/rows/rows-crawl-db.ts';
import { senderOf } from '../../domain/crawl/discovery/forwarded-link.ts';
import type { FindingKind } from '../../domain/findings.ts';
import type { RowCounts } from '../../ports/state-care.ts';
import { readClusterMark } from '../cluster/cluster-mark.ts';
import { requireServer } from '../cluster/open-shared-db.ts';
import type { PartitionHold, PartitionStores } from '../cluster/partitions/partition-stores.ts';
import { requireSpread, sharedPartitions } from '../cluster/partitions/shared-partitions.ts';
import { nearPlan } from '../dedup/dedup-settings.ts';
import { configuredFilter } from '../state/seen-urls.ts';
import { segmentsPlace } from '../state/segments-mark.ts';
import { temporaryState } from '../state/state-copy.ts';
import type { RepairSummary, StateCareOptions, VerifySummary } from './care-summaries.ts';
import { type RepairedPart, repairPart } from './repair-part.ts';
import { Findings, type VerifiedPart, verifyPart } from './verify-part.ts';

/** Verifies a shared crawl, beside its workers, one partition after the other: each in a copy of its moment. */
export const verifyShared = (options: StateCareOptions): Promise<VerifySummary> =>
  withStores(options, (stores) => verifyAll(options, stores));

/**
 * Repairs the partitions of a shared crawl while this process holds all of them. Rejects with `db-locked` where a
 * worker holds one.
 */
export async function repairShared(options: StateCareOptions, quarantine: string): Promise<RepairSummary> {
  return withStores(options, async (stores) => {
    const holds: PartitionHold[] = [];
    try {
      for (let partition = 0; partition < stores.partitions; partition++) {
        holds.push(await stores.hold(partition, new AbortController().signal));
      }
      const before = await verifyAll(options, stores);
      const repaired: RepairedPart[] = [];
      for (const [partition, hold] of holds.entries()) {
        const of = stores.partitions === 1 ? quarantine : join(quarantine, senderOf(partition));
        repaired.push(await repairHeld({ ...options, dir: stores.dirOf(partition) }, of, hold));
      }
      return { found: before.byKind, ...summed(repaired), quarantine, left: await verifyAll(options, stores) };
    } finally {
      for (const hold of holds) await hold.release();
    }
  });
}

async function withStores<Value>(
  { config, dir }: StateCareOptions,
  use: (stores: PartitionStores) => Promise<Value>,
): Promise<Value> {
  const { name, leaseMs } = config.cluster;
  const url = requireServer(config, dir);
  const store = openPostgresStore(url);
  try {
    const asked = { store, dir, name, segments: segmentsPlace(config) };
    const partitions = await requireSpread({ ...asked, partitions: readClusterMark(dir)?.partitions ?? 1 });
    return await use(sharedPartitions({ ...asked, partitions }, leaseMs));
  } finally {
    await store.close();
  }
}

async function verifyAll(options: StateCareOptions, stores: PartitionStores): Promise<VerifySummary> {
  const found = new Findings();
  const parts: VerifiedPart[] = [];
  for (let partition = 0; partition < stores.partitions; partition++) {
    const copy = temporaryState('verify');
    try {
      const rows = stores.look(partition);
      await copyRows(rows, join(copy.dir, 'db'), options.onWork).finally(() => rows.close());
      const name = `partition ${senderOf(partition)}`;
      const report = ({ kind, subject, detail }: { kind: FindingKind; subject: string; detail: string }): void => {
        const named = (text: string): string => text.replaceAll(join(copy.dir, 'db'), `the crawl db of ${name}`);
        const about = stores.partitions === 1 ? {} : { partition: senderOf(partition) };
        found.report({ kind, subject: named(subject), detail: named(detail), ...about });
      };
      parts.push(await verifyPart({ ...options, dir: stores.dirOf(partition), dbIn: copy.dir }, report));
    } finally {
      copy.close();
    }
  }
  const rows = parts.reduce<RowCounts | null>((sum, part) => (part.rows === null ? sum : added(sum, part.rows)), null);
  const segments = parts.reduce((sum, part) => sum + part.segments, 0);
  return { sound: found.isEmpty, rows, segments, byKind: found.byKind, findings: found.shown };
}

function added(sum: RowCounts | null, more: RowCounts): RowCounts {
  if (sum === null) return more;
  const kinds = Object.keys(more) as (keyof RowCounts)[];
  return Object.fromEntries(kinds.map((kind) => [kind, sum[kind] + more[kind]])) as unknown as RowCounts;
}

/** Repairs the rows where they lie. A partition that has no crawl db yet is left as it is. */
async function repairHeld(options: StateCareOptions, quarantine: string, hold: PartitionHold): Promise<RepairedPart> {
  const { config, log } = options;
  const { rows } = hold;
  let db: RowsCrawlDb | null = null;
  const open = async (): Promise<RowsCrawlDb> => {
    const [filter, near] = [await configuredFilter(config), nearPlan(config)];
    const features = { ...(filter !== undefined && { seenFilter: filter }), ...(near !== null && { near }) };
    return openCrawlDbOn(rows, { name: options.dir, log, ...features });
  };
  try {
    return await repairPart(options, quarantine, {
      token: hold.token,
      repair: async (folder): Promise<RepairedDb | null> => {
        if (!(await hasFormat(rows))) return null;
        await migrate(rows, await checkFormat(rows, options.dir), log);
        return { ...(await repairRows(rows, keepIn(folder), () => {})), rebuilt: false };
      },
      withDb: async (use) => {
        db ??= await open();
        await use(db);
      },
    });
  } finally {
    await (db as RowsCrawlDb | null)?.close();
  }
}

function summed(parts: readonly RepairedPart[]): RepairedPart {
  const sum = (of: (part: RepairedPart) => number): number => parts.reduce((total, part) => total + of(part), 0);
  return {
    records: parts.every(({ records }) => records === null) ? null : sum(({ records }) => records ?? 0),
    quarantinedRows: sum((part) => part.quarantinedRows),
    leasesEnded: sum((part) => part.leasesEnded),
    rebuilt: false,
    segments: parts.flatMap(({ segments }) => segments),
    pagesDue: sum((part) => part.pagesDue),
  };
}
