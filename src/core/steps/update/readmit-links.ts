import type { CrawlDatum } from '../../domain/crawl/states/datum.ts';
import type { Clock } from '../../ports/clock.ts';
import type { CrawlDb, StoredLinks } from '../../ports/crawl-db.ts';
import type { ParsedRecord } from '../../ports/segment-store.ts';
import type { ReadmitSummary } from '../summaries.ts';
import { countingRejections } from '../url-chain.ts';
import { type Found, type LinkCounts, type LinkDeps, type LinkOptions, outlinkTargets } from './found-links.ts';
import { waitingPut } from './like-urls/waiting-links.ts';
import { additions } from './links/additions.ts';
import { followShorterWays } from './links/follow-shorter-ways.ts';
import { forwardingPart } from './links/link-forwarding.ts';
import { shorterWayFacts } from './links/shorter-ways.ts';

export interface ReadmitDeps {
  readonly db: CrawlDb;
  readonly clock: Clock;
  readonly links: LinkDeps;
}

export interface ReadmitOptions extends LinkOptions {
  /** Pages per batch, at most. */
  readonly chunk: number;
  /** Interval of a URL that enters, ms. */
  readonly initialIntervalMs: number;
}

/** A page and the parse output of its stored content. */
export interface LinkingPage {
  readonly datum: CrawlDatum;
  readonly parsed: ParsedRecord;
}

/** Links of a batch, beyond which no more pages join it. */
const MAX_BATCH_LINKS = 7_500;

/**
 * Judges the stored links of pages by the URL rules in force, without a request: URLs that were refused before and are
 * admitted now enter as if the pages had been parsed again. No link is removed, so that a mistaken rule makes no
 * orphans. A second run changes nothing, so a run that was cut short is repeated from its start.
 */
export async function readmitLinks(
  deps: ReadmitDeps,
  pages: AsyncIterable<LinkingPage>,
  options: ReadmitOptions,
  signal?: AbortSignal,
): Promise<ReadmitSummary> {
  const counts: LinkCounts = { filteredBy: {}, demotedBy: {} };
  const tally = { outlinks: 0, filteredUrls: 0 };
  const counted = { ...deps.links, ...counts, urls: countingRejections(deps.links.urls, counts.filteredBy) };
  let newUrls = 0;
  let judged = 0;
  let batch: LinkingPage[] = [];
  let links = 0;
  const flush = async (): Promise<void> => {
    const found = new Map<string, Found>();
    const moved: StoredLinks[] = [];
    const linking: { readonly datum: CrawlDatum; readonly all: readonly string[] }[] = [];
    const before = await deps.db.linksOf(batch.map(({ datum }) => datum.url));
    for (const [i, { datum, parsed }] of batch.entries()) {
      const targets = outlinkTargets(counted, parsed, { page: datum, at: deps.clock.now() }, options, found, tally);
      const stored = before[i] ?? [];
      const all = [...new Set([...stored, ...targets])];
      linking.push({ datum, all });
      if (all.length > stored.length) moved.push({ url: datum.url, targets: all });
    }
    const { added, waiting, forward, shorter } = await additions(counted, found, options, options.initialIntervalMs);
    const puts = [
      ...added.map((datum) => ({ datum, previous: null })),
      ...linking.flatMap(({ datum, all }) => waitingPut(datum, all, waiting)),
    ];
    if (puts.length + moved.length + forward.length + shorter.length > 0) {
      const facts = deps.links.admission.books?.facts();
      const meta = { ...facts?.meta, ...(await shorterWayFacts(deps.db, shorter)) };
      await deps.db.write({ puts, links: moved, ...facts, meta, ...forwardingPart({ forward }) });
    }
    deps.links.admission.forwarding?.note(forward);
    deps.links.seen.add(added.map(({ url }) => url));
    const onAdded = (behind: readonly CrawlDatum[]): void => {
      newUrls += behind.length;
    };
    if (shorter.length > 0) await followShorterWays({ ...deps, links: counted }, { ...options, onAdded });
    newUrls += added.length;
    judged += batch.length;
    batch = [];
    links = 0;
  };
  for await (const page of pages) {
    if (signal?.aborted) break;
    batch.push(page);
    links += page.parsed.outlinks.length;
    if (batch.length >= options.chunk || links >= MAX_BATCH_LINKS) await flush();
  }
  if (!signal?.aborted) await flush();
  return { pages: judged, ...tally, newUrls, ...counts, isCutShort: signal?.aborted ?? false };
}
