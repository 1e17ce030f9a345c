import { LINKED_ELSEWHERE_KEY } from '../../../domain/crawl/discovery/forwarded-link.ts';
import type { CrawlDatum } from '../../../domain/crawl/states/datum.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { CrawlDb, CrawlDbPut } from '../../../ports/crawl-db.ts';
import type { ReceivedRow } from '../../../ports/partitions/forwarding.ts';
import { writtenAt } from '../../facts/touched-urls.ts';
import { type Found, type LinkCounts, type LinkDeps, type LinkOptions, meet } from '../found-links.ts';
import { additions, foundOf, NO_ADDITIONS } from './additions.ts';
import { followShorterWays } from './follow-shorter-ways.ts';
import { forwardingPart, type LinkForwarding } from './link-forwarding.ts';
import { shorterWayFacts } from './shorter-ways.ts';

export interface ForwardedDeps {
  readonly db: CrawlDb;
  readonly clock: Clock;
  readonly links: LinkDeps & LinkCounts;
}

export interface ForwardedOptions extends LinkOptions {
  /** Whether new URLs enter the crawl db. */
  readonly additions: boolean;
  /** Interval of a URL that enters, ms. */
  readonly initialIntervalMs: number;
}

/**
 * Applies rows of the inbox, all of them links, in one batch with the numbers of their senders. URLs that are new are
 * judged as links found here; a URL that is known is marked as linked from another partition, since the sweep of
 * orphans knows only the links of its own; its depth falls where this way is shorter. Resolves with the records that
 * entered.
 */
export async function applyForwarded(
  { db, clock, links }: ForwardedDeps,
  rows: readonly ReceivedRow[],
  { initialIntervalMs, ...options }: ForwardedOptions,
): Promise<readonly CrawlDatum[]> {
  const found = new Map<string, Found>();
  for (const { item, isKnown } of rows) {
    if (!isKnown && 'links' in item) for (const link of item.links) meet(found, link.url, foundOf(link));
  }
  const judged = options.additions ? await additions(links, found, options, initialIntervalMs) : NO_ADDITIONS;
  const { added, forward, waitingLinks: wait, shorter } = judged;
  const entered = new Set(added.map(({ url }) => url));
  const marked = await linkedElsewhere(
    db,
    links.admission.forwarding,
    [...found.keys()].filter((url) => !entered.has(url)),
  );
  const now = clock.now();
  const books = links.admission.books?.facts();
  await db.write({
    ...books,
    puts: [...added.map((datum): CrawlDbPut => ({ datum, previous: null })), ...marked],
    meta: { ...(added.length > 0 && writtenAt(now)), ...books?.meta, ...(await shorterWayFacts(db, shorter)) },
    ...forwardingPart({ forward, wait, received: rows.map(({ from, number }) => ({ from, number })) }),
  });
  links.seen.add([...entered]);
  links.admission.forwarding?.note(forward);
  if (shorter.length > 0) await followShorterWays({ db, clock, links }, { ...options, initialIntervalMs });
  return added;
}

/** URLs known only by links of their own partition, now with the mark. */
async function linkedElsewhere(
  db: CrawlDb,
  forwarding: LinkForwarding | null,
  urls: readonly string[],
): Promise<CrawlDbPut[]> {
  if (forwarding === null) return [];
  const records = await db.getMany(urls);
  return records.flatMap((previous): CrawlDbPut[] => {
    if (previous === undefined || previous.seed || isLinkedElsewhere(previous, forwarding)) return [];
    const metadata = { ...previous.metadata, [LINKED_ELSEWHERE_KEY]: true };
    return [{ datum: { ...previous, metadata }, previous }];
  });
}

/** Whether a page of another partition is known to link to the URL. */
export const isLinkedElsewhere = ({ referrer, metadata }: CrawlDatum, forwarding: LinkForwarding): boolean =>
  LINKED_ELSEWHERE_KEY in metadata || (referrer !== null && forwarding.isElsewhere(referrer));
