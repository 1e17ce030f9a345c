import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { CrawlDatum } from '../../core/domain/crawl/states/datum.ts';
import { broughtBack, type ClockShift, datumBroughtBack } from '../../core/domain/crawl/states/settle.ts';
import type { CrawlDb, CrawlDbPut, HostFacts } from '../../core/ports/crawl-db.ts';
import { workMeter } from '../../core/steps/work-meter.ts';
import { requisiteConfig } from '../../operations/requisites/crawl-requisites.ts';
import { openOwnDb } from '../../operations/state/open-store.ts';
import { REQUISITES_FOLDER, requireOwnState } from '../../operations/state/state-folder.ts';
import { CLOCK_SLACK_MS, newestStamp } from '../../operations/state/times-ahead.ts';
import { systemClock } from '../../operations/system/clock.ts';
import { retimeFeed } from '../../store/leveldb/db-care.ts';
import { careDir } from './state-care.ts';
import type { StateCareOptions } from './verify-part.ts';

export interface ClockRepairSummary {
  /** How far the newest time was ahead of the clock, ms; 0: none was. */
  readonly aheadMs: number;
  /** Records whose visits or due times were moved back, and those whose learnt change model was dropped. */
  readonly records: number;
  readonly beliefs: number;
  /** Hosts with a pause or period of distrust that began in the future. */
  readonly hosts: number;
  /** Entries of the change feed, segments, and facts of the whole crawl. */
  readonly changes: number;
  readonly segments: number;
  readonly facts: number;
  readonly dryRun: boolean;
}

const WINDOW = 1_000;

/**
 * Moves times that were stamped while a clock was ahead back to now. All are shifted by as much as the newest is ahead,
 * which keeps their order and distances; those of requisites by as much as theirs. Rejects with `db-locked` while
 * another process holds the state. Can be repeated if it is killed half way.
 */
export async function repairClock(
  options: StateCareOptions & { readonly dryRun?: boolean },
): Promise<ClockRepairSummary> {
  const dir = careDir(options.dir);
  if (!options.dryRun) requireOwnState(dir);
  const pages = await bringBack({ ...options, dir });
  const requisites = join(dir, REQUISITES_FOLDER);
  if (!existsSync(requisites)) return pages;
  const config = requisiteConfig(options.config);
  const { aheadMs, dryRun, ...counts } = await bringBack({ ...options, config, dir: requisites });
  const kinds = Object.keys(counts) as (keyof typeof counts)[];
  const sums = Object.fromEntries(kinds.map((kind) => [kind, pages[kind] + counts[kind]])) as typeof counts;
  return { aheadMs: Math.max(pages.aheadMs, aheadMs), ...sums, dryRun };
}

async function bringBack(options: StateCareOptions & { readonly dryRun?: boolean }): Promise<ClockRepairSummary> {
  const { config, dir, log, clock = systemClock, dryRun = false } = options;
  const now = clock.now();
  const counts = { records: 0, beliefs: 0, hosts: 0, changes: 0, segments: 0, facts: 0 };
  if (!existsSync(join(dir, 'db'))) return { aheadMs: 0, ...counts, dryRun };
  const db = await openOwnDb({ config, dir, log, clock });
  let aheadMs = 0;
  try {
    aheadMs = Math.max(0, (await newestOf(db, options)) - now);
    if (aheadMs <= CLOCK_SLACK_MS) return { aheadMs: 0, ...counts, dryRun };
    const shift: ClockShift = { now, aheadMs };
    const write: CrawlDb['write'] = dryRun ? async () => {} : (batch) => db.write(batch, { durable: true });
    await recordsBack(db, write, shift, counts, options);
    counts.hosts = await bringHostsBack(db, write, shift);
    const late = (await db.segments()).filter(({ createdAt }) => createdAt > now);
    counts.segments = late.length;
    const segments = late.map((row) => ({ ...row, createdAt: broughtBack(row.createdAt, shift) }));
    const facts = Object.entries(await db.metas()).filter(([, value]) => /^\d{13}$/.test(value) && Number(value) > now);
    counts.facts = facts.length;
    const meta = Object.fromEntries(facts.map(([name, at]) => [name, String(broughtBack(Number(at), shift))]));
    if (late.length + facts.length > 0) await write({ segments, meta });
    for await (const { notedAt, at } of db.changes()) if (Math.max(notedAt, at) > now) counts.changes++;
  } finally {
    await db.close();
  }
  if (counts.changes > 0 && !dryRun) {
    await retimeFeed({ dir: join(dir, 'db'), log, clock }, (at) => broughtBack(at, { now, aheadMs }));
  }
  return { aheadMs, ...counts, dryRun };
}

async function newestOf(db: CrawlDb, { onWork }: StateCareOptions): Promise<number> {
  let newest = await newestStamp(db);
  const meter = workMeter(onWork, 'reading times of visits', (await db.counters()).urls);
  for await (const { discoveredAt, lastFetchAt, lastError } of db.scan({ meter })) {
    newest = Math.max(newest, discoveredAt, lastFetchAt ?? 0, lastError?.at ?? 0);
  }
  return newest;
}

async function recordsBack(
  db: CrawlDb,
  write: CrawlDb['write'],
  shift: ClockShift,
  counts: { records: number; beliefs: number },
  { onWork }: StateCareOptions,
): Promise<void> {
  let puts: CrawlDbPut[] = [];
  const flush = async (): Promise<void> => {
    if (puts.length > 0) await write({ puts });
    puts = [];
  };
  const meter = workMeter(onWork, 'bringing times back', (await db.counters()).urls);
  for await (const previous of db.scan({ meter })) {
    const datum: CrawlDatum | null = datumBroughtBack(previous, shift);
    if (datum === null) continue;
    counts.records++;
    if (previous.schedule.belief !== null && datum.schedule.belief === null) counts.beliefs++;
    puts.push({ datum, previous });
    if (puts.length === WINDOW) await flush();
  }
  await flush();
}

/** Ends of pauses and periods of distrust so far ahead that the clock which set them must have been ahead. */
async function bringHostsBack(db: CrawlDb, write: CrawlDb['write'], shift: ClockShift): Promise<number> {
  const changed: { host: string; facts: HostFacts }[] = [];
  const { now, aheadMs } = shift;
  const isLate = (until: number | null): boolean => until !== null && until - now > aheadMs / 2;
  for await (const { host, facts } of db.hosts()) {
    const { restUntil, distrustedUntil, nothing } = facts;
    const back = {
      restUntil: isLate(restUntil) ? Math.max(now, (restUntil as number) - aheadMs) : restUntil,
      distrustedUntil: isLate(distrustedUntil) ? Math.max(now, (distrustedUntil as number) - aheadMs) : distrustedUntil,
      nothing: nothing === null ? null : { ...nothing, at: broughtBack(nothing.at, shift) },
    };
    const isMoved = restUntil !== back.restUntil || distrustedUntil !== back.distrustedUntil;
    if (isMoved || nothing?.at !== back.nothing?.at) changed.push({ host, facts: { ...facts, ...back } });
  }
  for (let start = 0; start < changed.length; start += WINDOW) {
    await write({ hostFacts: changed.slice(start, start + WINDOW) });
  }
  return changed.length;
}
