import { type FeedEnds, type FeedPart, NO_FEED, vectorOf } from '../../core/domain/crawl/change/change-feed.ts';
import { senderOf } from '../../core/domain/crawl/discovery/forwarded-link.ts';
import type { PartitionShape } from '../../core/domain/url/hash/partition.ts';
import type { ChangeQuery } from '../../core/ports/change-feed.ts';
import type { CrawlDb } from '../../core/ports/crawl-db.ts';
import { mergeSorted } from '../../store/files/sorting/external-sort.ts';
import { byTimeNoted, first, type SpreadChange } from './row-orders.ts';

type Partitions = ReadonlyMap<number, Pick<CrawlDb, 'changes' | 'feedEnds'>>;

/** The feeds of the partitions of a crawl. */
export const feedsOf = ({ partitions, splits }: PartitionShape): readonly FeedPart[] => [
  ...new Array<FeedPart>(partitions - splits.length).fill({}),
  ...splits.map((from) => ({ from })),
];

/**
 * The changes of all partitions in the order of the times at which they were noted. Each has the number that its
 * partition gave it. The numbers of a partition only grow, whoever holds it. So a vector of them says what was read,
 * and a reader that continues from it sees each change once.
 */
export async function* spreadChanges(
  dbs: Partitions,
  feeds: readonly FeedPart[],
  query: ChangeQuery = {},
): AsyncGenerator<SpreadChange, void, undefined> {
  const { after, through, ...rest } = query;
  const afterEach = after === undefined ? undefined : vectorOf(after, feeds);
  const throughEach = through === undefined ? undefined : vectorOf(through, feeds);
  const named = async function* ([partition, db]: [number, Pick<CrawlDb, 'changes'>]) {
    const range = {
      ...rest,
      ...(afterEach !== undefined && { after: afterEach[partition] ?? 0 }),
      ...(throughEach !== undefined && { through: throughEach[partition] ?? 0 }),
    };
    for await (const row of db.changes(range)) yield { ...row, partition: senderOf(partition) };
  };
  const order = query.reverse ? (a: SpreadChange, b: SpreadChange) => byTimeNoted(b, a) : byTimeNoted;
  yield* first(query.limit, mergeSorted([...dbs].map(named), order));
}

/** The ends of each partition's feed, and totals: as many entries as these say are kept, or were ever noted. */
export async function spreadFeedEnds(dbs: Partitions, feeds: readonly FeedPart[]): Promise<FeedEnds> {
  const each: (FeedEnds & FeedPart)[] = [];
  for (const [partition, feed] of feeds.entries()) {
    each.push({ ...((await dbs.get(partition)?.feedEnds()) ?? NO_FEED), ...feed });
  }
  const trimmed = each.reduce((sum, ends) => sum + ends.first - 1, 0);
  const last = each.reduce((sum, ends) => sum + ends.last, 0);
  return { first: trimmed + 1, last, notedAt: Math.max(...each.map(({ notedAt }) => notedAt)), each };
}
