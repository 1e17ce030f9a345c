import type { ChangeRow } from '../../core/domain/crawl/change/change-feed.ts';
import { changeRateOf } from '../../core/domain/crawl/change/change-rate.ts';
import type { CrawlDatum } from '../../core/domain/crawl/states/datum.ts';
import { hostPrefix, urlKey } from '../../core/domain/url/canonical/url-key.ts';
import type { DomainFamilies } from '../../core/domain/url/families/stored-families.ts';
import type { DueEntry, HostRow } from '../../core/ports/crawl-db.ts';

/** An entry of the change feed of one partition, with the number that the partition gave it. */
export interface SpreadChange extends ChangeRow {
  /** Three digits. */
  readonly partition: string;
}

// The orders in which a crawl db gives its rows.
const inOrder = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

interface OfUrl {
  readonly url: string;
}
export const byUrl = (a: OfUrl, b: OfUrl): number => inOrder(urlKey(a.url), urlKey(b.url));
export const byHost = (a: HostRow, b: HostRow): number => inOrder(hostPrefix(a.host), hostPrefix(b.host));
export const byDomain = (a: DomainFamilies, b: DomainFamilies): number =>
  inOrder(hostPrefix(a.domain), hostPrefix(b.domain));
export const byDueTime = (a: DueEntry, b: DueEntry): number => a.dueAt - b.dueAt || byUrl(a, b);
export const byFallingScore = (a: DueEntry, b: DueEntry): number =>
  b.score - a.score || a.dueAt - b.dueAt || byUrl(a, b);
export const byFallingRate = (a: CrawlDatum, b: CrawlDatum): number =>
  (changeRateOf(b) ?? 0) - (changeRateOf(a) ?? 0) || byUrl(a, b);
export const byTimeNoted = (a: SpreadChange, b: SpreadChange): number =>
  a.notedAt - b.notedAt || inOrder(a.partition, b.partition) || a.seq - b.seq;

/** The first `limit` items. */
export async function* first<Item>(
  limit = Number.POSITIVE_INFINITY,
  items: AsyncIterable<Item>,
): AsyncGenerator<Item, void, undefined> {
  let left = limit;
  if (left <= 0) return;
  for await (const item of items) {
    yield item;
    if (--left <= 0) return;
  }
}
