import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { isMarkless, repairSegments, verifySegments } from '../../adapters/files/care/segment-care.ts';
import { verifyObjectSegments } from '../../adapters/files/object-segments/verify-objects.ts';
import { repairDb, verifyDb } from '../../adapters/leveldb/db-care.ts';
import { systemClock } from '../../adapters/system/clock.ts';
import type { Config } from '../../config/schema.ts';
import type { Finding, FindingKind } from '../../domain/findings.ts';
import { digestUrls } from '../../domain/url/hash/url-digest.ts';
import type { Clock } from '../../ports/clock.ts';
import type { CrawlDb, SegmentRow } from '../../ports/crawl-db.ts';
import type { Log } from '../../ports/log.ts';
import type { SeenFilter } from '../../ports/seen-filter.ts';
import type { SegmentInfo } from '../../ports/segment-store.ts';
import type { Report, RowCounts } from '../../ports/state-care.ts';
import type { OnWork } from '../../ports/work-progress.ts';
import { workMeter } from '../../steps/work-meter.ts';
import { refuseClusterState } from '../cluster/cluster-mark.ts';
import { nearPlan } from '../dedup/dedup-settings.ts';
import { requireCrawl } from '../state/has-crawl.ts';
import { openOwnDb } from '../state/open-own-db.ts';
import { openSegments } from '../state/open-segments.ts';
import { checkOwner } from '../state/segments-mark.ts';
import { onSnapshot } from '../state/state-copy.ts';
import { requireOwnState } from '../state/state-folder.ts';
import { fetchLost } from './fetch-lost.ts';
import { recover } from './recover.ts';

export interface StateCareOptions {
  readonly config: Config;
  /** State directory; it must exist. */
  readonly dir: string;
  readonly log: Log;
  readonly clock?: Clock;
  /** Also check every stored response against its digest. */
  readonly deep?: boolean;
  readonly onWork?: OnWork;
}

export interface VerifySummary {
  readonly sound: boolean;
  /** `null` when the crawl db cannot be read. */
  readonly rows: RowCounts | null;
  readonly segments: number;
  readonly byKind: Readonly<Partial<Record<FindingKind, number>>>;
  /** The first of each kind. */
  readonly findings: readonly Finding[];
}

/** Findings of one kind that a summary shows. */
const SHOWN_PER_KIND = 20;

/** A state directory, and the folder that holds its `db`: itself, or a snapshot. */
interface CareDeps extends StateCareOptions {
  readonly dbIn: string;
}

/**
 * Checks crawl db and segments against their invariants. Nothing is opened to write: the crawl db is read in a copy of
 * this moment, so another process may hold it. Rejects with `db-version` for the state of a newer incrawl.
 */
export async function verifyState(options: StateCareOptions): Promise<VerifySummary> {
  const dir = careDir(options.dir);
  const found = new Findings();
  return onSnapshot(dir, async (snapshot) => {
    const named = (text: string): string => text.replaceAll(snapshot, dir);
    const { rows, segments } = await verifyInto({ ...options, dbIn: snapshot }, ({ kind, subject, detail }) =>
      found.report({ kind, subject: named(subject), detail: named(detail) }),
    );
    return { sound: found.isEmpty, rows, segments, byKind: found.byKind, findings: found.shown };
  });
}

async function verifyInto(options: CareDeps, report: Report): Promise<{ rows: RowCounts | null; segments: number }> {
  const dir = careDir(options.dir);
  const near = nearPlan(options.config);
  const db = {
    dir: join(options.dbIn, 'db'),
    log: options.log,
    clock: options.clock ?? systemClock,
    ...(near === null ? {} : { near }),
  };
  const { onWork } = options;
  let isDbSound = true;
  const rows = await verifyDb(
    db,
    (finding) => {
      isDbSound = false;
      report(finding);
    },
    onWork,
  );
  const infos = await segmentsIn(options, dir, report);
  const isEmpty = rows === null || (rows.records === 0 && rows.segments === 0);
  if (isEmpty && isDbSound && infos.length > 0) {
    report({ kind: 'db-missing', subject: db.dir, detail: `${infos.length} segments lie beside it` });
  }
  if (rows !== null && isDbSound) {
    const onDisk = new Set(infos.map(({ id }) => id));
    await withDb(options, async (opened, filter) => {
      for (const row of await opened.segments()) {
        if (onDisk.has(row.id)) continue;
        const detail = `${row.urls} URLs, state ${row.state}`;
        if (options.config.segments.store !== '' || !existsSync(join(dir, 'segments', row.id)))
          report({ kind: 'segment-absent', subject: row.id, detail });
        else if (isMarkless(join(dir, 'segments'), row.id)) {
          report({ kind: 'segment-unreadable', subject: row.id, detail: `segment.json is missing; ${detail}` });
        }
      }
      if (filter !== null) await verifyFilter(opened, filter, report, onWork);
    });
  }
  return { rows, segments: infos.length };
}

/** Verifies the segments where they lie; returns those that can be read. */
async function segmentsIn(options: CareDeps, dir: string, report: Report): Promise<readonly SegmentInfo[]> {
  const { config, deep = false, onWork } = options;
  if (config.segments.store === '') return verifySegments(join(dir, 'segments'), deep, report, onWork);
  const { openObjects } = await import('../state/open-object-segments.ts');
  const objects = openObjects(config, config.segments.store);
  try {
    await checkOwner(dir, objects);
    return await verifyObjectSegments(objects, deep, report, onWork);
  } finally {
    await objects.close();
  }
}

async function verifyFilter(
  db: CrawlDb,
  filter: SeenFilter,
  report: Report,
  onWork: OnWork | undefined,
): Promise<void> {
  const meter = workMeter(onWork, 'checking the filter of seen URLs', (await db.counters()).urls);
  let urls: string[] = [];
  const probe = async (): Promise<void> => {
    const answers = await filter.probe(digestUrls(urls));
    for (const [i, url] of urls.entries()) {
      if (answers[i] === 0)
        report({ kind: 'filter-misses', subject: url, detail: 'a link to it would count as a new URL' });
    }
    urls = [];
  };
  for await (const { url } of db.scan({ meter })) {
    urls.push(url);
    if (urls.length === 1_000) await probe();
  }
  await probe();
}

export interface RepairSummary {
  readonly found: Readonly<Partial<Record<FindingKind, number>>>;
  /** Records in the crawl db; `null` when there is no crawl db. */
  readonly records: number | null;
  readonly quarantinedRows: number;
  readonly leasesEnded: number;
  /** Whether LevelDB had to rebuild its own files. */
  readonly rebuilt: boolean;
  readonly segments: readonly { readonly id: string; readonly pagesLost: number | null }[];
  /** Pages whose stored response was lost, and that are due, to be fetched whole. */
  readonly pagesDue: number;
  /** Folder with copies of all that was taken out; exists only when something was. */
  readonly quarantine: string;
  /** Result of a verification afterwards. */
  readonly left: VerifySummary;
}

/**
 * Repairs the findings of {@link verifyState}: rebuilds indexes, counters, leases and filter from the records, and
 * moves unreadable rows and segments to `quarantine/` in the state directory. Nothing is deleted. Rejects with
 * `db-locked` while another process holds the state, and as {@link verifyState}.
 */
export async function repairState(options: StateCareOptions): Promise<RepairSummary> {
  const dir = careDir(options.dir);
  requireOwnState(dir);
  const clock = options.clock ?? systemClock;
  const quarantine = join(dir, 'quarantine', new Date(clock.now()).toISOString().replaceAll(/[:.]/g, ''));
  const before = new Findings();
  const deps = { ...options, dbIn: dir };
  await verifyInto(deps, before.report);
  const silent: Report = () => {};
  const db = await repairDb({ dir: join(dir, 'db'), log: options.log, clock }, quarantine, silent);
  const rows = new Map<string, SegmentRow>();
  if (db !== null) await withDb(deps, async (opened) => addRows(rows, await opened.segments()));
  const segments = await repairSegments(join(dir, 'segments'), quarantine, {
    deep: options.deep ?? false,
    appliedOf: (id) => rows.get(id)?.applied ?? 0,
    known: [...rows.keys()],
    report: silent,
  });
  let pagesDue = 0;
  if (db !== null) {
    await withDb(deps, async (opened) => {
      pagesDue = await fetchLost(
        opened,
        segments.flatMap(({ salvaged }) => salvaged?.lost ?? []),
        clock.now(),
      );
      const moved = segments.flatMap(({ id, salvaged }) => {
        const row = rows.get(id);
        return row === undefined || salvaged === null || row.state === 'updated'
          ? []
          : [{ ...row, applied: salvaged.applied }];
      });
      if (moved.length > 0) await opened.write({ segments: moved }, { durable: true });
      await recover(opened, openSegments({ config: options.config, dir, log: options.log }), options.log);
    });
  }
  return {
    found: before.byKind,
    records: db?.records ?? null,
    quarantinedRows: db?.quarantined ?? 0,
    leasesEnded: db?.leasesEnded ?? 0,
    rebuilt: db?.rebuilt ?? false,
    segments: segments.map(({ id, salvaged }) => ({ id, pagesLost: salvaged?.pagesLost ?? null })),
    pagesDue,
    quarantine,
    left: await verifyState(options),
  };
}

function addRows(rows: Map<string, SegmentRow>, read: readonly SegmentRow[]): void {
  for (const row of read) rows.set(row.id, row);
}

async function withDb(
  options: CareDeps,
  use: (db: CrawlDb, filter: SeenFilter | null) => Promise<void>,
): Promise<void> {
  const { config, log, clock = systemClock, dbIn: dir } = options;
  const db = await openOwnDb({ config, dir, log, clock });
  try {
    await use(db, db.seenFilter);
  } finally {
    await db.close();
  }
}

/** The state directory of a command that repairs it. Rejects where there is none, or a cluster shares it. */
export function careDir(dir: string): string {
  const path = resolve(dir);
  requireCrawl(path);
  refuseClusterState(path, 'this command');
  return path;
}

class Findings {
  readonly byKind: Partial<Record<FindingKind, number>> = {};
  readonly shown: Finding[] = [];

  readonly report: Report = (finding) => {
    const seen = this.byKind[finding.kind] ?? 0;
    this.byKind[finding.kind] = seen + 1;
    if (seen < SHOWN_PER_KIND) this.shown.push(finding);
  };

  get isEmpty(): boolean {
    return this.shown.length === 0;
  }
}
