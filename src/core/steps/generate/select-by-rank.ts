import { hourOf, startOfHour } from '../../domain/crawl/states/host-traffic.ts';
import type { CrawlDb, DueEntry, DueQuery } from '../../ports/crawl-db.ts';
import { TOUCHED_SHARE } from '../facts/touched-urls.ts';
import { type Candidate, type CapCounts, type Caps, Selection, type SelectionDeps } from './fetch-list.ts';

export interface RankDeps extends Required<SelectionDeps> {
  readonly db: Pick<CrawlDb, 'due' | 'spread'>;
  /** `null`: kept out by the options of the round (counted by the caller). */
  readonly candidate: (entry: DueEntry, rank: number) => Candidate | null;
  /** Reports the number of due URLs that no longer could be selected, and were not read. */
  readonly onUnread: (cases: number) => void;
  readonly rank: (entry: DueEntry) => number;
  /** As `ranksNewByScoreAndTime` of a scoring plugin. */
  readonly ranksNewByScoreAndTime: boolean;
}

export interface RankRound {
  /** URLs due until then count as due, ms since the epoch. */
  readonly until: number;
  readonly caps: Caps;
  /** URLs that go first, whatever their rank. */
  readonly touched: readonly DueEntry[];
  readonly meter?: DueQuery['meter'];
}

export interface RankSelection {
  /** Best first. */
  readonly chosen: Candidate[];
  readonly due: number;
  readonly rejected: CapCounts;
}

/** The due URLs of the highest rank under the caps, without a budget. */
export async function selectByRank(deps: RankDeps, { until, caps, touched, meter }: RankRound): Promise<RankSelection> {
  const { db, rank, candidate } = deps;
  const selection = new Selection(caps, deps);
  let due = 0;
  const add = (entry: DueEntry, rankOf: number): void => {
    due++;
    const found = candidate(entry, rankOf);
    if (found !== null) selection.add(found);
  };
  const ahead = touched.slice(0, Math.ceil(caps.topN * TOUCHED_SHARE));
  for (const entry of ahead) add(entry, Number.POSITIVE_INFINITY);
  const isAhead = new Set(ahead.map(({ url }) => url));
  const left = async function* (query: DueQuery): AsyncGenerator<DueEntry> {
    for await (const entry of db.due({ ...query, ...(meter && { meter }) })) if (!isAhead.has(entry.url)) yield entry;
  };
  for await (const entry of left({ until, only: 'known' })) add(entry, rank(entry));
  const known = due - ahead.filter(({ isNew }) => isNew).length;
  if (deps.ranksNewByScoreAndTime) {
    const { dueNew } = await db.spread();
    const isWhole = await addInOrder({ selection, entries: left, add, rank }, { until, oldest: oldestOf(dueNew) });
    const unread = isWhole ? 0 : Math.max(0, dueUntil(dueNew, until) + known - due);
    due += unread;
    selection.rejected.topN += unread;
    deps.onUnread(unread);
  } else {
    for await (const entry of left({ until, only: 'new' })) add(entry, rank(entry));
  }
  return { chosen: selection.finish(), due, rejected: selection.rejected };
}

interface InOrderDeps {
  readonly selection: Selection;
  readonly entries: (query: DueQuery) => AsyncIterable<DueEntry>;
  readonly add: (entry: DueEntry, rank: number) => void;
  readonly rank: (entry: DueEntry) => number;
}

/**
 * Adds new URLs, which come by falling score and, where scores are equal, by due time: of each score those that may
 * still be selected. Resolves with whether all were added.
 * @param oldest a time before which none is due, ms since the epoch
 */
async function addInOrder(
  { selection, entries, add, rank }: InOrderDeps,
  { until, oldest }: { readonly until: number; readonly oldest: number },
): Promise<boolean> {
  let isWhole = true;
  let belowScore: number | null = null;
  do {
    let left: number | null = null;
    for await (const entry of entries({ until, only: 'new', ...(belowScore !== null && { belowScore }) })) {
      const rankOf = rank(entry);
      // The index does not order scores below 0.
      if (entry.score <= 0 || !isAfter(entry, rankOf, selection.least)) {
        add(entry, rankOf);
        continue;
      }
      isWhole = false;
      // The best that a URL of this or a lower score could have.
      if (isBelow(rank({ ...entry, dueAt: oldest }), selection.least)) return false;
      left = entry.score;
      break;
    }
    belowScore = left;
  } while (belowScore !== null);
  return isWhole;
}

/** Relative difference below which ranks count as equal: the index orders scores by 36 bits of their fraction. */
const RANK_PRECISION = 1e-9;

const isBelow = (rank: number, least: Candidate | null): boolean =>
  least !== null && rank < least.rank - RANK_PRECISION * Math.abs(least.rank);

/**
 * Whether neither this new URL nor one of its score that is due later can be selected. Of equal ranks the one due first
 * goes first: in breadth-first order all URLs of a depth have the same.
 */
const isAfter = (entry: DueEntry, rank: number, least: Candidate | null): boolean =>
  isBelow(rank, least) || (least !== null && rank <= least.rank && entry.dueAt > least.entry.dueAt);

const oldestOf = (counts: ReadonlyMap<number, number>): number => startOfHour(Math.min(...counts.keys()));

/** New URLs are due from the moment they are found, so all of those of the last hour are. */
function dueUntil(counts: ReadonlyMap<number, number>, until: number): number {
  let due = 0;
  for (const [hour, count] of counts) if (hour <= hourOf(until)) due += count;
  return due;
}
