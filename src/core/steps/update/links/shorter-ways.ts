import { seedLayersOf } from '../../../domain/crawl/discovery/seed.ts';
import type { CrawlDatum } from '../../../domain/crawl/states/datum.ts';
import type { DepthCache } from '../../../domain/url/cache/depth-cache.ts';
import type { CrawlDb } from '../../../ports/crawl-db.ts';

/** A way to a known URL that is shorter than the one by which its record was found. */
export interface ShorterWay {
  readonly url: string;
  /** The page that links to it; `null`: it has become a seed. */
  readonly from: string | null;
  readonly depth: number;
  /** Crawl depth of the seed that the way begins at; `null`: it has none of its own. */
  readonly layers: number | null;
}

/** How a URL was met. */
export interface Way {
  readonly parent: Pick<CrawlDatum, 'url' | 'metadata'>;
  readonly depth: number;
}

/** Fact of the crawl db: in how many further facts the shorter ways are that were not followed to their end. */
const SHORTER_KEY = 'shorterWays';
const factOf = (number: number): string => `${SHORTER_KEY}:${number}`;

/**
 * The ways among these that are shorter than those of the records.
 * @param known URLs with a record in this crawl db
 */
export async function shorterWays(
  db: Pick<CrawlDb, 'getMany'>,
  depths: DepthCache,
  found: ReadonlyMap<string, Way>,
  known: readonly string[],
): Promise<ShorterWay[]> {
  const unsure = known.filter((url) => !depths.isWithin(url, (found.get(url) as Way).depth));
  if (unsure.length === 0) return [];
  const records = await db.getMany(unsure);
  return records.flatMap((record): ShorterWay[] => {
    if (record === undefined) return [];
    depths.note(record.url, record.depth);
    const { parent, depth } = found.get(record.url) as Way;
    const way = { url: record.url, from: parent.url, depth, layers: seedLayersOf(parent) };
    return isShorter(way, record) ? [way] : [];
  });
}

/** Whether the way shortens that of the record, and does not lead less far within the depth of its seed. */
export function isShorter({ depth, layers }: Omit<ShorterWay, 'from'>, record: CrawlDatum): boolean {
  const slack = (layers ?? Number.POSITIVE_INFINITY) - depth;
  return depth < record.depth && slack >= (seedLayersOf(record) ?? Number.POSITIVE_INFINITY) - record.depth;
}

/**
 * Named facts for the batch that stores the links which these ways are: without them a crash would lose the ways. Each
 * batch has a fact of its own, as one that grew would be written anew by each.
 */
export async function shorterWayFacts(
  db: Pick<CrawlDb, 'meta'>,
  ways: readonly ShorterWay[],
): Promise<Readonly<Record<string, string>>> {
  if (ways.length === 0) return {};
  const number = await factsLeft(db);
  return { [SHORTER_KEY]: String(number + 1), [factOf(number)]: JSON.stringify(ways) };
}

const factsLeft = async (db: Pick<CrawlDb, 'meta'>): Promise<number> => Number((await db.meta(SHORTER_KEY)) ?? 0);

/** All that are to be followed, and the named facts for when they are. */
export async function waysLeft(
  db: Pick<CrawlDb, 'meta'>,
): Promise<{ readonly ways: readonly ShorterWay[]; readonly followed: Readonly<Record<string, string>> }> {
  const ways: ShorterWay[] = [];
  const followed: Record<string, string> = { [SHORTER_KEY]: '' };
  for (let number = await factsLeft(db); number > 0; number--) {
    const fact = factOf(number - 1);
    ways.push(...(JSON.parse((await db.meta(fact)) || '[]') as ShorterWay[]));
    followed[fact] = '';
  }
  return { ways, followed };
}
