import { HINT_KEY } from '../../domain/crawl/discovery/sitemap-hint.ts';
import { boundsFor, replayLastVisit, type SettlePolicy } from '../../domain/crawl/revisit/next-visit.ts';
import type { CrawlDatum } from '../../domain/crawl/states/datum.ts';
import { hostOf } from '../../domain/url/canonical/url-key.ts';
import type { CrawlDb, CrawlDbPut } from '../../ports/crawl-db.ts';
import { type Expectations, openExpectations } from '../facts/expected-changes.ts';
import { withVisitPrice } from '../facts/visit-price.ts';

/** Fact in the crawl db: the settings by which all pages have their next visits. */
export const SETTINGS_KEY = 'schedule.settings';

/** Pages read at a time, and moved by one call at most. */
const WINDOW = 1_000;
const MOST_MOVED = 50_000;
/** A visit that would move by less than this part of its interval stays where it is. */
const DRIFT = 0.05;

/**
 * Gives known pages that are not due yet the next visit that their last one would get by the settings of now, where
 * these are not those in force. Resolves with the pages moved. What a call leaves is done by the next ones: a page that
 * has been moved stays where it is.
 * @param settings all that decides, as text
 */
export async function applySettings(db: CrawlDb, policy: SettlePolicy, settings: string, now: number): Promise<number> {
  const known = await db.meta(SETTINGS_KEY);
  if (known === settings) return 0;
  let moved = 0;
  if (known !== undefined) {
    const current = await withVisitPrice(db, policy);
    const expectations = await openExpectations(db, policy.schedule, now);
    const move = (urls: readonly string[]): Promise<number> => moveAll(db, current, expectations, urls, now);
    let urls: string[] = [];
    for await (const { url, dueAt } of db.due({ until: Number.MAX_SAFE_INTEGER, only: 'known' })) {
      if (dueAt <= now) continue;
      if (urls.push(url) < WINDOW) continue;
      moved += await move(urls);
      urls = [];
      if (moved >= MOST_MOVED) return moved;
    }
    moved += await move(urls);
  }
  await db.write({ meta: { [SETTINGS_KEY]: settings } });
  return moved;
}

async function moveAll(
  db: CrawlDb,
  policy: SettlePolicy,
  expectations: Expectations | null,
  urls: readonly string[],
  now: number,
): Promise<number> {
  const hosts = [...new Set(urls.map(hostOf))];
  const rows = await db.hostRows(hosts);
  const facts = new Map(hosts.map((host, i) => [host, rows[i]?.facts ?? undefined]));
  const puts = (await db.getMany(urls)).flatMap((previous): CrawlDbPut[] => {
    if (previous === undefined) return [];
    const expected = expectations?.(facts.get(hostOf(previous.url)));
    const datum = moved(previous, expected === undefined ? policy : { ...policy, expected }, now);
    return datum === null ? [] : [{ datum, previous }];
  });
  if (puts.length > 0) await db.write({ puts });
  return puts.length;
}

/**
 * The record with its new next visit; `null`: it keeps it. Failures and missing pages wait for their own pauses, and a
 * visit that a date has brought forward is not put off.
 */
function moved(datum: CrawlDatum, policy: SettlePolicy, now: number): CrawlDatum | null {
  const { nextFetchAt, lastFetchAt, state, failures, schedule } = datum;
  if (nextFetchAt === null || lastFetchAt === null || failures > 0 || datum.fixedIntervalMs !== null) return null;
  const { maxIntervalMs } = boundsFor(datum, policy);
  if (state === 'redir_perm') return at(datum, Math.min(nextFetchAt, lastFetchAt + maxIntervalMs), schedule, now);
  // What a seed had named as its first interval cannot be told from the interval of before, and goes with it.
  const next = replayLastVisit({ ...datum, seed: false }, policy, null);
  if (next === null) return null;
  const isHinted = datum.metadata[HINT_KEY] !== undefined;
  return at(datum, isHinted ? Math.min(nextFetchAt, next.nextFetchAt) : next.nextFetchAt, next.memory, now);
}

function at(datum: CrawlDatum, due: number, schedule: CrawlDatum['schedule'], now: number): CrawlDatum | null {
  const nextFetchAt = Math.max(due, now);
  // What is expected of other pages fades from call to call, which must not move the same pages again for ever.
  if (Math.abs(nextFetchAt - (datum.nextFetchAt ?? 0)) <= DRIFT * schedule.intervalMs) return null;
  const visits = datum.visits.with(-1, { ...datum.visits.at(-1)!, intervalMs: schedule.intervalMs });
  return { ...datum, nextFetchAt, schedule: { ...datum.schedule, intervalMs: schedule.intervalMs }, visits };
}
