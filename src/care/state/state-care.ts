import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { RowCounts } from '../../core/ports/crawl-db.ts';
import { requisiteConfig } from '../../operations/requisites/crawl-requisites.ts';
import { readClusterMark, refuseClusterState } from '../../operations/state/cluster-mark.ts';
import { onSnapshot } from '../../operations/state/state-copy.ts';
import { REQUISITES_FOLDER, requireCrawl, requireOwnState } from '../../operations/state/state-folder.ts';
import { systemClock } from '../../operations/system/clock.ts';
import { repairDb } from '../../store/leveldb/db-care.ts';
import { type CaredPart, type RepairableDb, type RepairedPart, repairPart } from './repair-part.ts';
import {
  Findings,
  type RepairSummary,
  type StateCareOptions,
  type VerifiedPart,
  type VerifySummary,
  verifyPart,
  withDb,
} from './verify-part.ts';

/**
 * Checks crawl db and segments against their invariants, one part of the crawl after the other. Nothing is opened for
 * writing: each crawl db is read in a copy as of now, so other processes may hold it. Rejects with `db-version` for a
 * state of an unknown format.
 */
export async function verifyState(options: StateCareOptions): Promise<VerifySummary> {
  requireCrawl(resolve(options.dir));
  return withParts(options, (parts) => verifyAll(options, parts));
}

/**
 * Repairs the findings of {@link verifyState}: rebuilds indexes, counters, leases and filter from the records, and
 * moves unreadable rows and segments to `quarantine/` in the state directory. Nothing is deleted. Rejects with
 * `db-locked` while another process holds the state or a part of it, and in the same cases as {@link verifyState}.
 */
export async function repairState(options: StateCareOptions): Promise<RepairSummary> {
  const dir = resolve(options.dir);
  requireCrawl(dir);
  requireOwnState(dir);
  const { clock = systemClock } = options;
  const quarantine = join(dir, 'quarantine', new Date(clock.now()).toISOString().replaceAll(/[:.]/g, ''));
  return withParts(options, async (parts) => {
    const dbs: RepairableDb[] = [];
    try {
      for (const part of parts) dbs.push(await part.hold());
      const before = await verifyAll(options, parts);
      const repaired: RepairedPart[] = [];
      for (const [i, part] of parts.entries()) {
        const own = { ...options, ...(part.config !== undefined && { config: part.config }), dir: part.dir };
        const result = await repairPart(own, join(quarantine, part.name), dbs[i] as RepairableDb);
        repaired.push({ ...result, segments: result.segments.map((each) => ({ ...each, id: named(part, each.id) })) });
      }
      return { found: before.byKind, ...summed(repaired), quarantine, left: await verifyAll(options, parts) };
    } finally {
      for (const db of dbs) await db.close();
    }
  });
}

async function withParts<Value>(
  options: StateCareOptions,
  use: (parts: readonly CaredPart[]) => Promise<Value>,
): Promise<Value> {
  const dir = resolve(options.dir);
  if (readClusterMark(dir) === null) return use(ownParts({ ...options, dir }));
  const { withSharedParts } = await import('./shared-parts.ts');
  return withSharedParts({ ...options, dir }, use);
}

/** The state directory of a crawl held by one process, and its crawl of requisites, if it has one. */
function ownParts(options: StateCareOptions): readonly CaredPart[] {
  const pages = ownPart(options, '');
  const dir = join(options.dir, REQUISITES_FOLDER);
  if (!existsSync(dir)) return [pages];
  const config = requisiteConfig(options.config);
  return [pages, { ...ownPart({ ...options, config, dir }, REQUISITES_FOLDER), config }];
}

function ownPart(options: StateCareOptions, name: string): CaredPart {
  const { dir, log, clock = systemClock } = options;
  return {
    dir,
    name,
    inCopy: (verify) => onSnapshot(dir, (copy) => verify(copy, (text) => text.replaceAll(copy, dir))),
    // Each repair or check of it holds LevelDB for its own duration.
    hold: async () => ({
      repair: (folder) => repairDb({ dir: join(dir, 'db'), log, clock }, folder, () => {}),
      withDb: (use) => withDb({ ...options, dbIn: dir }, use),
      close: async () => {},
    }),
  };
}

async function verifyAll(options: StateCareOptions, parts: readonly CaredPart[]): Promise<VerifySummary> {
  const found = new Findings();
  const verified: VerifiedPart[] = [];
  let requisites: VerifiedPart | null = null;
  for (const part of parts) {
    const { dir, name, config = options.config } = part;
    await part.inCopy(async (dbIn, shown) => {
      const report: Findings['report'] = ({ kind, subject, detail }) => {
        const where = name !== '' && name !== REQUISITES_FOLDER ? { partition: name } : {};
        found.report({ kind, subject: named(part, shown(subject)), detail: shown(detail), ...where });
      };
      const result = await verifyPart({ ...options, config, dir, dbIn }, report);
      if (name === REQUISITES_FOLDER) requisites = result;
      else verified.push(result);
    });
  }
  const rows = verified.reduce<RowCounts | null>(
    (sum, part) => (part.rows === null ? sum : added(sum, part.rows)),
    null,
  );
  const segments = verified.reduce((sum, part) => sum + part.segments, 0);
  return { sound: found.isEmpty, rows, segments, requisites, byKind: found.byKind, findings: found.shown };
}

/** A segment, row or URL of the crawl of requisites is named as such; paths name it anyway. */
const named = ({ name, dir }: CaredPart, subject: string): string =>
  name !== REQUISITES_FOLDER || subject.startsWith(dir) ? subject : `${REQUISITES_FOLDER}/${subject}`;

function added(sum: RowCounts | null, more: RowCounts): RowCounts {
  if (sum === null) return more;
  const kinds = Object.keys(more) as (keyof RowCounts)[];
  return Object.fromEntries(kinds.map((kind) => [kind, sum[kind] + more[kind]])) as unknown as RowCounts;
}

function summed(parts: readonly RepairedPart[]): RepairedPart {
  const sum = (of: (part: RepairedPart) => number): number => parts.reduce((total, part) => total + of(part), 0);
  return {
    records: parts.every(({ records }) => records === null) ? null : sum(({ records }) => records ?? 0),
    quarantinedRows: sum((part) => part.quarantinedRows),
    leasesEnded: sum((part) => part.leasesEnded),
    rebuilt: parts.some(({ rebuilt }) => rebuilt),
    segments: parts.flatMap(({ segments }) => segments),
    pagesDue: sum((part) => part.pagesDue),
  };
}

/** The state directory of a command that works on its files. Rejects if there is none, or its crawl is shared. */
export function careDir(dir: string): string {
  const path = resolve(dir);
  requireCrawl(path);
  refuseClusterState(path, 'this command');
  return path;
}
