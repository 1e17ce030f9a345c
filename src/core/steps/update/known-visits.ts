import { wasNeverThere } from '../../domain/crawl/revisit/missing-links.ts';
import type { CrawlDatum } from '../../domain/crawl/states/datum.ts';
import { CrawlError } from '../../domain/errors.ts';
import { canonicalUrl } from '../../domain/url/canonical/canonical-url.ts';
import type { CrawlDb } from '../../ports/crawl-db.ts';
import type { FetchedRecord, ParsedRecord, Segment, SegmentInfo } from '../../ports/segment-store.ts';
import { spelledVariant } from './declared-variant.ts';
import type { LinkDeps } from './found-links.ts';
import { type ListedPages, listedPage } from './listed-page.ts';

export interface JoinedRecord {
  readonly fetched: FetchedRecord;
  /** `null` where there was nothing to parse. */
  readonly parsed: ParsedRecord | null;
}

/**
 * Fetched records with their parse output, in the order fetched. Pages are parsed nearly in that order, so few parse
 * outputs are held back while the one of a slow page is still to come. Texts are left out, since updatedb needs none.
 */
async function* joinParsed(segment: Segment): AsyncGenerator<JoinedRecord> {
  const waiting = new Map<number, ParsedRecord>();
  const parsed = segment.parsed({ texts: false })[Symbol.asyncIterator]();
  try {
    for await (const fetched of segment.fetched()) {
      if (fetched.outcome.kind !== 'success' || !segment.hasParsed(fetched.index)) {
        yield { fetched, parsed: null };
        continue;
      }
      let own = waiting.get(fetched.index);
      while (own === undefined) {
        const next = await parsed.next();
        if (next.done) {
          throw new CrawlError(
            'segment-corrupt',
            `the parse output of ${fetched.url} is missing; parse the segment again (incrawl parse --force)`,
          );
        }
        if (next.value.index === fetched.index) own = next.value;
        else waiting.set(next.value.index, next.value);
      }
      waiting.delete(fetched.index);
      yield { fetched, parsed: own };
    }
  } finally {
    await parsed.return?.();
  }
}

/** The record with its visit at `now` at the latest: a later stamp is of a clock that was ahead, and was set since. */
export function stampedBy(joined: JoinedRecord, now: number): JoinedRecord {
  const { fetched } = joined;
  if (fetched.outcome.at <= now) return joined;
  return { ...joined, fetched: { ...fetched, outcome: { ...fetched.outcome, at: now } } };
}

interface BatchLimits {
  /** Records to skip before the first batch. */
  readonly from: number;
  /** Records of a batch, at most. */
  readonly records: number;
  /** Outlinks in a batch, beyond which no more records join it. */
  readonly links: number;
}

/** {@link joinParsed} in batches, none of them empty. */
export async function* joinedBatches(segment: Segment, limits: BatchLimits): AsyncGenerator<JoinedRecord[]> {
  let position = 0;
  let batch: JoinedRecord[] = [];
  let links = 0;
  for await (const joined of joinParsed(segment)) {
    if (position++ < limits.from) continue;
    batch.push(joined);
    links += joined.parsed?.outlinks.length ?? 0;
    if (batch.length < limits.records && links < limits.links) continue;
    yield batch;
    batch = [];
    links = 0;
  }
  if (batch.length > 0) yield batch;
}

/** A visit to a page that is known, or was listed. */
export interface KnownVisit extends JoinedRecord {
  readonly previous: CrawlDatum;
  /** Whether the crawl db has its record; it lacks that of a listed URL until now. */
  readonly isStored: boolean;
  /** Whether it redirects to a URL that was never there, as far as known by now. */
  readonly isTargetMissing: boolean;
}

interface KnownVisitDeps {
  readonly db: Pick<CrawlDb, 'getMany'>;
  readonly links: Pick<LinkDeps, 'urls' | 'seedHosts'>;
  readonly segment: SegmentInfo;
  readonly listed: ListedPages;
}

/** The visits with the records of their pages. A record that was purged since its page was selected stays away. */
export async function knownVisits(deps: KnownVisitDeps, chunk: readonly JoinedRecord[]): Promise<KnownVisit[]> {
  const records = await deps.db.getMany(chunk.map(({ fetched }) => fetched.url));
  const visits = chunk.flatMap((joined, i) => {
    const record = records[i];
    const previous = record ?? listedPage(joined.fetched.url, deps.segment, deps.listed);
    if (previous === null) return [];
    const { fetched, parsed } = joined;
    const outcome = parsed === null ? null : spelledVariant(deps.links, previous, parsed.outcome);
    const isSpelled = parsed === null || outcome === null || outcome === parsed.outcome;
    const spelled = isSpelled ? parsed : { ...parsed, outcome };
    return [{ fetched, parsed: spelled, previous, isStored: record !== undefined, isTargetMissing: false }];
  });
  return withTargets(deps.db, visits);
}

/** A target is visited in the round of its redirect, so the same chunk may tell more of it than its record. */
async function withTargets(db: KnownVisitDeps['db'], visits: readonly KnownVisit[]): Promise<KnownVisit[]> {
  const targets = new Map(visits.map((visit) => [visit, targetOf(visit)]));
  const urls = [...new Set([...targets.values()].filter((url) => url !== null))];
  if (urls.length === 0) return [...visits];
  const missing = new Set(
    (await db.getMany(urls)).flatMap((record) => (record && wasNeverThere(record) ? record.url : [])),
  );
  for (const { fetched, previous } of visits) {
    if (fetched.outcome.kind === 'gone' && previous.digest === null) missing.add(fetched.url);
    else if (fetched.outcome.requests > 0) missing.delete(fetched.url);
  }
  return visits.map((visit) => ({ ...visit, isTargetMissing: missing.has(targets.get(visit) ?? '') }));
}

function targetOf({ fetched: { url, outcome } }: KnownVisit): string | null {
  if (outcome.kind !== 'redirect') return null;
  const target = canonicalUrl(outcome.target, url);
  return 'error' in target || target.url === url ? null : target.url;
}
