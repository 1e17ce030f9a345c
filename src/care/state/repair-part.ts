import { join } from 'node:path';
import type { Config } from '../../core/config/schema.ts';
import type { CrawlDb, Report, SegmentRow } from '../../core/ports/crawl-db.ts';
import { openSegments } from '../../operations/state/open-segments.ts';
import { recover } from '../../operations/state/open-store.ts';
import { systemClock } from '../../operations/system/clock.ts';
import type { LostPage } from '../../store/files/care/salvage-segment.ts';
import { repairSegments } from '../../store/files/care/segment-care.ts';
import type { RepairedDb } from '../../store/leveldb/db-care.ts';
import type { RepairSummary, StateCareOptions } from './verify-part.ts';

const WINDOW = 1_000;

/**
 * Makes pages due whose stored copy is lost. They are marked, so that the next visit sends an unconditional request and
 * stores the body even if it is the same. A page that was stored again in the meantime is left alone. Resolves with
 * their number.
 */
async function fetchLost(
  db: Pick<CrawlDb, 'getMany' | 'write'>,
  lost: readonly LostPage[],
  now: number,
): Promise<number> {
  let due = 0;
  for (let start = 0; start < lost.length; start += WINDOW) {
    const window = lost.slice(start, start + WINDOW);
    const records = await db.getMany(window.map(({ url }) => url));
    const puts = records.flatMap((previous, i) => {
      if (previous === undefined || previous.digest !== window[i]?.digest) return [];
      const nextFetchAt = previous.nextFetchAt === null ? null : Math.min(previous.nextFetchAt, now);
      return [{ previous, datum: { ...previous, truncated: 'lost' as const, nextFetchAt } }];
    });
    if (puts.length > 0) await db.write({ puts }, { durable: true });
    due += puts.length;
  }
  return due;
}

/** The crawl db of a part, held so that no other process writes to it. */
export interface RepairableDb {
  /** Fencing token of the lease on it; absent: it needs none. */
  readonly token?: number;
  /** Repairs its rows; `null`: there is none. */
  repair(quarantine: string): Promise<RepairedDb | null>;
  withDb(use: (db: CrawlDb) => Promise<void>): Promise<void>;
  close(): Promise<void>;
}

/** A crawl db with its segments: the state directory, its crawl of requisites, or a partition of a shared crawl. */
export interface CaredPart {
  /** Where it is not that of the crawl. */
  readonly config?: Config;
  /** Folder of its segments. */
  readonly dir: string;
  /** Three digits, or `requisites`; empty for the pages of a crawl that is not spread. */
  readonly name: string;
  /**
   * Calls `verify` with a folder that holds a copy of its rows as of now, as `db`; another process may hold them.
   * @param shown replaces the path of the copy in a text by the path of the original
   */
  inCopy<Value>(verify: (dbIn: string, shown: (text: string) => string) => Promise<Value>): Promise<Value>;
  /** Keeps other processes out until the end. Rejects with `db-locked` if one holds it. */
  hold(): Promise<RepairableDb>;
}

export type RepairedPart = Omit<RepairSummary, 'found' | 'quarantine' | 'left'>;

/** Repairs a crawl db and its segments in `dir`. Removed data goes to `quarantine`. */
export async function repairPart(
  { config, dir, log, clock = systemClock, deep = false }: StateCareOptions,
  quarantine: string,
  { token, repair, withDb }: RepairableDb,
): Promise<RepairedPart> {
  const silent: Report = () => {};
  const db = await repair(quarantine);
  const rows = new Map<string, SegmentRow>();
  if (db !== null) {
    await withDb(async (opened) => {
      for (const row of await opened.segments()) rows.set(row.id, row);
    });
  }
  const segments = await repairSegments(join(dir, 'segments'), quarantine, {
    deep,
    appliedOf: (id) => rows.get(id)?.applied ?? 0,
    known: [...rows.keys()],
    report: silent,
  });
  let pagesDue = 0;
  if (db !== null) {
    await withDb(async (opened) => {
      const lost = segments.flatMap(({ salvaged }) => salvaged?.lost ?? []);
      pagesDue = await fetchLost(opened, lost, clock.now());
      const moved = segments.flatMap(({ id, salvaged }) => {
        const row = rows.get(id);
        return row === undefined || salvaged === null || row.state === 'updated'
          ? []
          : [{ ...row, applied: salvaged.applied }];
      });
      if (moved.length > 0) await opened.write({ segments: moved }, { durable: true });
      const fence = token === undefined ? undefined : () => token;
      await recover(opened, openSegments({ config, dir, log, token: fence }), log);
    });
  }
  return {
    records: db?.records ?? null,
    quarantinedRows: db?.quarantined ?? 0,
    leasesEnded: db?.leasesEnded ?? 0,
    rebuilt: db?.rebuilt ?? false,
    segments: segments.map(({ id, salvaged }) => ({ id, pagesLost: salvaged?.pagesLost ?? null })),
    pagesDue,
  };
}
