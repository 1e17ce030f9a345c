import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { verifyObjectSegments } from '../../cluster/object-segments/verify-objects.ts';
import type { Config } from '../../core/config/schema.ts';
import type { Finding, FindingKind } from '../../core/domain/findings.ts';
import { digestUrls } from '../../core/domain/url/hash/url-digest.ts';
import type { Clock } from '../../core/ports/clock.ts';
import type { CrawlDb, Report, RowCounts } from '../../core/ports/crawl-db.ts';
import type { Log } from '../../core/ports/log.ts';
import type { SeenFilter } from '../../core/ports/seen-filter.ts';
import type { SegmentInfo } from '../../core/ports/segment-store.ts';
import type { OnWork } from '../../core/ports/work-progress.ts';
import { workMeter } from '../../core/steps/work-meter.ts';
import { nearPlan } from '../../operations/loop/step-settings.ts';
import { wholeOf } from '../../operations/state/cluster-mark.ts';
import { openOwnDb } from '../../operations/state/open-store.ts';
import { checkOwner, segmentsPlace } from '../../operations/state/segments-mark.ts';
import { systemClock } from '../../operations/system/clock.ts';
import { isMarkless, verifySegments } from '../../store/files/care/segment-care.ts';
import { verifyDb } from '../../store/leveldb/db-care.ts';

/**
 * A crawl db and its segments, those of a state directory or of a partition, and the folder that holds the rows as
 * `db`: the directory itself, or a copy.
 */
export interface CarePart extends StateCareOptions {
  readonly dbIn: string;
}

export interface VerifiedPart {
  readonly rows: RowCounts | null;
  readonly segments: number;
}

/** Verifies a crawl db and its segments. `rows` is `null` when the crawl db cannot be read. */
export async function verifyPart(options: CarePart, report: Report): Promise<VerifiedPart> {
  const { dir } = options;
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
  const infos = await segmentsIn(options, report);
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

/** Verifies the segments in place; returns those that can be read. */
async function segmentsIn(options: CarePart, report: Report): Promise<readonly SegmentInfo[]> {
  const { config, dir, deep = false, onWork } = options;
  if (config.segments.store === '') return verifySegments(join(dir, 'segments'), deep, report, onWork);
  const { openObjects } = await import('../../cluster/open-object-segments.ts');
  const whole = wholeOf(dir);
  const place = segmentsPlace(config);
  const owned = openObjects(config, place);
  const objects = whole === null ? owned : openObjects(config, `${place}/${whole.part}`);
  try {
    await checkOwner(whole?.dir ?? dir, owned, whole?.id);
    return await verifyObjectSegments(objects, deep, report, onWork);
  } finally {
    await objects.close();
    if (objects !== owned) await owned.close();
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

export async function withDb(
  options: CarePart,
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

/** Maximum number of findings of one kind in a summary. */
const SHOWN_PER_KIND = 20;

export class Findings {
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
  /** Of the crawl of requisites; `null`: there is none. */
  readonly requisites: VerifiedPart | null;
  readonly byKind: Readonly<Partial<Record<FindingKind, number>>>;
  /** The first of each kind. */
  readonly findings: readonly Finding[];
}

export interface RepairSummary {
  readonly found: Readonly<Partial<Record<FindingKind, number>>>;
  /** Records in the crawl db and that of requisites; `null` when there is no crawl db. */
  readonly records: number | null;
  readonly quarantinedRows: number;
  readonly leasesEnded: number;
  /** Whether LevelDB had to rebuild its own files. */
  readonly rebuilt: boolean;
  readonly segments: readonly { readonly id: string; readonly pagesLost: number | null }[];
  /** Pages whose stored response was lost and that are due for a full fetch. */
  readonly pagesDue: number;
  /** Folder with copies of all removed data; exists only if there was any. */
  readonly quarantine: string;
  /** Result of a verification afterwards. */
  readonly left: VerifySummary;
}
