import { type CrawlDatum, newDatum } from '../../domain/crawl/states/datum.ts';
import type { FetchItem, Segment, SegmentInfo } from '../../ports/segment-store.ts';

/** What a first record begins with. */
interface FirstValues {
  /** Score of a URL that no page links to. */
  readonly seedScore: (url: string) => number;
  /** Ms. */
  readonly initialIntervalMs: number;
}

/**
 * The record that a URL of a list has before its first visit; it is stored with that visit. It is no seed. `null` for a
 * segment that generate selected.
 */
export function listedPage(
  url: string,
  { isListed, createdAt }: Pick<SegmentInfo, 'isListed' | 'createdAt'>,
  { seedScore, initialIntervalMs }: FirstValues,
): CrawlDatum | null {
  if (isListed !== true) return null;
  return newDatum({ url, now: createdAt, intervalMs: initialIntervalMs, score: seedScore(url) });
}

/** Records of pages that a segment has visited and the crawl db does not have. */
export class FirstRecords {
  readonly #segment: Pick<Segment, 'info' | 'fetchList'>;
  readonly #values: FirstValues;
  #joined: Promise<ReadonlyMap<string, FetchItem>> | null = null;

  constructor(segment: Pick<Segment, 'info' | 'fetchList'>, values: FirstValues) {
    this.#segment = segment;
    this.#values = values;
  }

  /** `null` for what generate selected: such a record was purged since, and stays away. */
  async of(url: string): Promise<CrawlDatum | null> {
    const { info } = this.#segment;
    return listedPage(url, info, this.#values) ?? this.#ofTarget(url);
  }

  /**
   * A target of a redirect that was new to the crawl db. Its item was on disk when its record was written, so a power
   * cut may have left the item alone, to be visited before its redirect.
   */
  async #ofTarget(url: string): Promise<CrawlDatum | null> {
    this.#joined ??= newTargets(this.#segment);
    const item = (await this.#joined).get(url);
    if (item?.joined === undefined) return null;
    const { depth, score, metadata, joined } = item;
    const { createdAt: now } = this.#segment.info;
    const { initialIntervalMs: intervalMs } = this.#values;
    return newDatum({ url, now, intervalMs, referrer: joined.from, depth, score, metadata });
  }
}

async function newTargets(segment: Pick<Segment, 'info' | 'fetchList'>): Promise<Map<string, FetchItem>> {
  const { urls, followed = 0 } = segment.info;
  const targets = new Map<string, FetchItem>();
  if (followed === 0) return targets;
  for await (const item of segment.fetchList(urls - followed))
    if (item.joined?.isNew === true) targets.set(item.url, item);
  return targets;
}
