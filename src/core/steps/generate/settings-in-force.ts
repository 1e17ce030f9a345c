import { HINT_KEY } from '../../domain/crawl/discovery/sitemap-hint.ts';
import {
  boundsFor,
  type IntervalBounds,
  isDrift,
  isOfType,
  replayLastVisit,
  type SettlePolicy,
} from '../../domain/crawl/revisit/next-visit.ts';
import type { CrawlDatum } from '../../domain/crawl/states/datum.ts';
import { hostOf } from '../../domain/url/canonical/url-key.ts';
import type { CrawlDb, CrawlDbPut } from '../../ports/crawl-db.ts';
import { openExpectations } from '../facts/expected-changes.ts';
import { withVisitPrice } from '../facts/fetch-budget.ts';

/**
 * The operator's bounds of the time between two visits of a page. Where MIME types have bounds of their own the record
 * is read, since the due index does not have the type.
 */
export function boundsReader(
  db: Pick<CrawlDb, 'get'>,
  policy: SettlePolicy,
): (url: string) => IntervalBounds | Promise<IntervalBounds> {
  const rules = policy.intervalRules ?? [];
  if (rules.length === 0 && policy.boundsOfUrl === undefined) return () => policy;
  if (!rules.some(isOfType)) return (url) => boundsFor({ url, contentType: null }, policy);
  return async (url) => boundsFor((await db.get(url)) ?? { url, contentType: null }, policy);
}

/** Fact in the crawl db: the settings by which all pages have their next visits. */
export const SETTINGS_KEY = 'schedule.settings';

/** Pages read at a time, and moved by one call at most. */
const WINDOW = 1_000;
export const MOST_MOVED = 50_000;

/** Settings by which the pages do not have their next visits yet. */
export interface NewSettings {
  /** The records of known pages that are not due yet, as they are to be; `null`: that one stays as it is. */
  moved(urls: readonly string[]): Promise<(CrawlDbPut | null)[]>;
}

/**
 * `null`: the next visits are those of these settings, or no round has been made so far.
 * @param settings all that decides, as text
 * @param policy by these settings
 */
export async function openNewSettings(
  db: Pick<CrawlDb, 'meta' | 'counters' | 'getMany' | 'hostRows'>,
  settings: string,
  policy: SettlePolicy,
  now: number,
): Promise<NewSettings | null> {
  const known = await db.meta(SETTINGS_KEY);
  if (known === undefined || known === settings) return null;
  const current = await withVisitPrice(db, policy);
  const expectations = await openExpectations(db, current.schedule, now);
  return {
    async moved(urls) {
      const hosts = [...new Set(urls.map(hostOf))];
      const rows = await db.hostRows(hosts);
      const facts = new Map(hosts.map((host, i) => [host, rows[i]?.facts ?? undefined]));
      return (await db.getMany(urls)).map((previous) => {
        if (previous === undefined) return null;
        const expected = expectations?.(facts.get(hostOf(previous.url)));
        const datum = moved(previous, expected === undefined ? current : { ...current, expected }, now);
        return datum === null ? null : { datum, previous };
      });
    },
  };
}

/**
 * Gives known pages that are not due yet the next visit that their last one would get by the settings of now, where
 * these are not those in force. Resolves with the pages moved. What a call leaves is done by the next ones: a page that
 * has been moved stays where it is.
 * @param settings all that decides, as text
 */
export async function applySettings(db: CrawlDb, policy: SettlePolicy, settings: string, now: number): Promise<number> {
  if ((await db.meta(SETTINGS_KEY)) === settings) return 0;
  const fresh = await openNewSettings(db, settings, policy, now);
  let sum = 0;
  const move = async (urls: readonly string[]): Promise<void> => {
    const puts = ((await fresh?.moved(urls)) ?? []).filter((put) => put !== null);
    if (puts.length > 0) await db.write({ puts });
    sum += puts.length;
  };
  if (fresh !== null) {
    let urls: string[] = [];
    for await (const { url, dueAt } of db.due({ until: Number.MAX_SAFE_INTEGER, only: 'known' })) {
      if (dueAt <= now) continue;
      if (urls.push(url) < WINDOW) continue;
      await move(urls);
      urls = [];
      if (sum >= MOST_MOVED) return sum;
    }
    await move(urls);
  }
  await db.write({ meta: { [SETTINGS_KEY]: settings } });
  return sum;
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
  const next = replayLastVisit(datum, policy, null);
  if (next === null) return null;
  const isHinted = datum.metadata[HINT_KEY] !== undefined;
  return at(datum, isHinted ? Math.min(nextFetchAt, next.nextFetchAt) : next.nextFetchAt, next.memory, now);
}

function at(datum: CrawlDatum, due: number, schedule: CrawlDatum['schedule'], now: number): CrawlDatum | null {
  const nextFetchAt = Math.max(due, now);
  // Otherwise what is expected of other pages, which fades from call to call, would move the same pages for ever.
  if (isDrift(nextFetchAt - (datum.nextFetchAt ?? 0), schedule.intervalMs)) return null;
  const visits = datum.visits.with(-1, { ...datum.visits.at(-1)!, intervalMs: schedule.intervalMs });
  return {
    ...datum,
    nextFetchAt,
    dueBy: 'schedule',
    schedule: { ...datum.schedule, intervalMs: schedule.intervalMs },
    visits,
  };
}
