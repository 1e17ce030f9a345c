import { join, resolve } from 'node:path';
import { repairDb } from '../../adapters/leveldb/db-care.ts';
import { systemClock } from '../../adapters/system/clock.ts';
import { readClusterMark, refuseClusterState } from '../cluster/cluster-mark.ts';
import { requireCrawl } from '../state/has-crawl.ts';
import { onSnapshot } from '../state/state-copy.ts';
import { requireOwnState } from '../state/state-folder.ts';
import type { RepairSummary, StateCareOptions, VerifySummary } from './care-summaries.ts';
import { repairPart } from './repair-part.ts';
import { Findings, verifyPart, withDb } from './verify-part.ts';

/**
 * Checks crawl db and segments against their invariants. Nothing is opened to write: the crawl db is read in a copy of
 * this moment, so another process may hold it; that of a shared crawl is copied partition by partition. Rejects with
 * `db-version` for the state of a newer incrawl.
 */
export async function verifyState(options: StateCareOptions): Promise<VerifySummary> {
  const dir = resolve(options.dir);
  requireCrawl(dir);
  if (readClusterMark(dir) !== null) return (await import('./shared-care.ts')).verifyShared({ ...options, dir });
  const found = new Findings();
  return onSnapshot(dir, async (snapshot) => {
    const named = (text: string): string => text.replaceAll(snapshot, dir);
    const { rows, segments } = await verifyPart({ ...options, dir, dbIn: snapshot }, ({ kind, subject, detail }) =>
      found.report({ kind, subject: named(subject), detail: named(detail) }),
    );
    return { sound: found.isEmpty, rows, segments, byKind: found.byKind, findings: found.shown };
  });
}

/**
 * Repairs the findings of {@link verifyState}: rebuilds indexes, counters, leases and filter from the records, and
 * moves unreadable rows and segments to `quarantine/` in the state directory. Nothing is deleted. Rejects with
 * `db-locked` while another process holds the state, or a partition of it, and as {@link verifyState}.
 */
export async function repairState(options: StateCareOptions): Promise<RepairSummary> {
  const dir = resolve(options.dir);
  requireCrawl(dir);
  requireOwnState(dir);
  const { log, clock = systemClock } = options;
  const quarantine = join(dir, 'quarantine', new Date(clock.now()).toISOString().replaceAll(/[:.]/g, ''));
  if (readClusterMark(dir) !== null) {
    return (await import('./shared-care.ts')).repairShared({ ...options, dir }, quarantine);
  }
  const before = new Findings();
  const deps = { ...options, dir, dbIn: dir };
  await verifyPart(deps, before.report);
  const repaired = await repairPart(deps, quarantine, {
    repair: (folder) => repairDb({ dir: join(dir, 'db'), log, clock }, folder, () => {}),
    withDb: (use) => withDb(deps, use),
  });
  return { found: before.byKind, ...repaired, quarantine, left: await verifyState(options) };
}

/** The state directory of a command that works on its files. Rejects where there is none, or its crawl is shared. */
export function careDir(dir: string): string {
  const path = resolve(dir);
  requireCrawl(path);
  refuseClusterState(path, 'this command');
  return path;
}
