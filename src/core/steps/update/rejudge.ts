import type { CrawlDatum } from '../../domain/crawl/states/datum.ts';
import { type CopyRule, isOwnPage } from '../../domain/crawl/states/duplicate.ts';
import type { Clock } from '../../ports/clock.ts';
import type { CrawlDb, CrawlDbPut } from '../../ports/crawl-db.ts';
import type { OnWork } from '../../ports/work-progress.ts';
import { changesOf } from '../facts/change-feed.ts';
import { counted } from '../work-meter.ts';
import { judgeAgain, type RepeatDeps } from './repeats.ts';

/** Fact of a crawl db whose records have signatures by which they were not compared so far. */
export const UNJUDGED_KEY = 'reparse.unjudged';

export interface RejudgeDeps {
  readonly db: CrawlDb;
  readonly clock: Clock;
  readonly near: Pick<RepeatDeps, 'tables' | 'scopeOf'>;
  readonly onWork?: OnWork | undefined;
}

export interface RejudgeOptions extends Omit<CopyRule, 'minChars'> {
  readonly skipOutlinks: boolean;
  /** Records judged at a time. */
  readonly chunk: number;
}

/**
 * Judges pages that have got other signatures without a visit: which repeat others, and which no longer do. It begins
 * when all signatures are written, so that no page is compared with what another one was before. The page known longest
 * represents, as none was visited last.
 */
export async function rejudge(
  deps: RejudgeDeps,
  isMeant: (url: string) => boolean,
  options: RejudgeOptions,
): Promise<{ readonly marked: number; readonly restored: number }> {
  const { db, onWork } = deps;
  const sum = { marked: 0, restored: 0 };
  let urls: string[] = [];
  const flush = async (): Promise<void> => {
    const judged = await judgeChunk(deps, urls, options);
    sum.marked += judged.marked;
    sum.restored += judged.restored;
    urls = [];
  };
  for await (const datum of counted(db.scan(), onWork, 'comparing pages')) {
    if (!isComparable(datum) || !isMeant(datum.url)) continue;
    urls.push(datum.url);
    if (urls.length >= options.chunk) await flush();
  }
  await flush();
  await db.write({ meta: { [UNJUDGED_KEY]: 'no' } }, { durable: true });
  return sum;
}

const isComparable = (datum: CrawlDatum): boolean => isOwnPage(datum) || datum.state === 'duplicate';

/** The records are read again: an earlier chunk may have changed them since the scan began. */
async function judgeChunk(
  { db, clock, near }: RejudgeDeps,
  urls: readonly string[],
  { skipOutlinks, ...rule }: Omit<RejudgeOptions, 'chunk'>,
): Promise<{ readonly marked: number; readonly restored: number }> {
  const pages = (await db.getMany(urls)).filter((datum) => datum !== undefined && isComparable(datum)) as CrawlDatum[];
  if (pages.length === 0) return { marked: 0, restored: 0 };
  const judged = await judgeAgain({ db, ...near }, pages, rule);
  const moved = judged.visited.flatMap((datum, i): CrawlDbPut[] => {
    const previous = pages[i] as CrawlDatum;
    return datum === previous ? [] : [{ datum, previous }];
  });
  const puts = [...moved, ...judged.others];
  const repeating = skipOutlinks ? puts.filter(({ datum }) => datum.state === 'duplicate') : [];
  const links = repeating.map(({ datum }) => ({ url: datum.url, targets: [] }));
  if (puts.length > 0) await db.write({ puts, links, ...changesOf(puts, clock.now()) }, { durable: true });
  return judged;
}
