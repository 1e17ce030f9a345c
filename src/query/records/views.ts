import type { RenderTrials } from '../../core/domain/crawl/rendering/render-trials.ts';
import type { CrawlDatum, MetadataValue } from '../../core/domain/crawl/states/datum.ts';
import { changeSignatureOf } from '../../core/domain/crawl/states/duplicate.ts';
import { type HostTraffic, latencyPercentile, NO_TRAFFIC } from '../../core/domain/crawl/states/host-traffic.ts';
import { fieldNamed, type QueryEnvironment, type QueryField } from '../../core/domain/query/fields.ts';
import { isoTime, isoTimeOrNull, seconds } from '../../core/domain/time.ts';
import type { DueEntry, HostRow, StateCounts } from '../../core/ports/crawl-db.ts';
import { requireField } from '../../core/steps/records/find-records.ts';

/** A record as people and other programs see it: times in ISO 8601, intervals in seconds, signature in hex. */
export interface RecordView {
  readonly url: string;
  readonly state: string;
  readonly discoveredAt: string;
  readonly referrer: string | null;
  readonly depth: number;
  readonly seed: boolean;
  readonly score: number;
  readonly lastFetchAt: string | null;
  readonly nextFetchAt: string | null;
  /** What set it: `touch`, `retry`, `sitemap`, `seed`, `schedule`; `null`: a link, or unknown. */
  readonly dueBy: string | null;
  readonly changedAt: string | null;
  /** Seconds. */
  readonly interval: number;
  readonly fixedInterval: number | null;
  readonly failures: number;
  readonly lastError: { readonly code: string; readonly message: string; readonly at: string } | null;
  readonly httpStatus: number | null;
  readonly contentType: string | null;
  readonly robotsTag: string | null;
  readonly etag: string | null;
  readonly lastModified: string | null;
  readonly contentLength: number | null;
  readonly digest: string | null;
  /** As in the record; `null`: the copy is whole. */
  readonly truncated: string | null;
  /** Whether a browser made the stored copy. */
  readonly rendered: boolean;
  readonly signature: string | null;
  readonly changeSignature: string | null;
  readonly changeDigest: string | null;
  readonly signatureName: string | null;
  readonly title: string | null;
  readonly textChars: number | null;
  /** What the page states about itself; times in ISO 8601. */
  readonly authors: readonly string[];
  readonly publishedAt: string | null;
  readonly modifiedAt: string | null;
  readonly lang: string | null;
  /**
   * Blocks that differed at the last change, and blocks that differ on most visits and are ignored, as element paths.
   */
  readonly changedBlocks: readonly string[];
  readonly volatileBlocks: readonly string[];
  readonly target: string | null;
  readonly visits: readonly VisitView[];
  readonly metadata: Readonly<Record<string, MetadataValue>>;
}

export interface VisitView {
  readonly at: string;
  readonly outcome: string;
  readonly distance: number | null;
  /** Seconds since the previous visit. */
  readonly elapsed: number | null;
  readonly bytes: number;
  /** Interval after the visit, seconds. */
  readonly interval: number;
}

export interface DueView {
  readonly url: string;
  readonly dueAt: string;
  readonly state: string;
  readonly score: number;
  readonly depth: number;
  readonly interval: number;
  readonly failures: number;
}

export interface HostView {
  readonly host: string;
  readonly urls: number;
  readonly byState: StateCounts;
  readonly headersTrusted: boolean;
  readonly audits: number;
  readonly lies: number;
  readonly conditionalHits: number;
  readonly conditionalMisses: number;
  readonly headHits: number;
  readonly headMisses: number;
  readonly bytesSaved: number;
  /** Visits brought forward by a `lastmod`: those that found a change, and those that did not. */
  readonly hintHits: number;
  readonly hintMisses: number;
  /** End of the pause that the host requested (Retry-After); `null`: none. */
  readonly restUntil: string | null;
  /** What rendering has shown about its empty pages, by path pattern. */
  readonly rendering: readonly TrialsView[];
  /** Visits that sent a request, or failed to, and how many of them failed that way. */
  readonly visits: number;
  readonly dnsFailures: number;
  readonly connectionFailures: number;
  readonly timeouts: number;
  /** All bytes received, headers included. */
  readonly receivedBytes: number;
  /** Seconds within which 50, 90 and 99 % of the answered visits ended; `null` without any. */
  readonly latencyP50: number | null;
  readonly latencyP90: number | null;
  readonly latencyP99: number | null;
  /** Expected major changes per day of its pages, by their estimated rates; `null` without any. */
  readonly changesPerDay: number | null;
}

export function recordView(datum: CrawlDatum): RecordView {
  return {
    url: datum.url,
    state: datum.state,
    discoveredAt: isoTime(datum.discoveredAt),
    referrer: datum.referrer,
    depth: datum.depth,
    seed: datum.seed,
    score: datum.score,
    lastFetchAt: isoTimeOrNull(datum.lastFetchAt),
    nextFetchAt: isoTimeOrNull(datum.nextFetchAt),
    dueBy: datum.dueBy,
    changedAt: isoTimeOrNull(datum.changedAt),
    interval: seconds(datum.fixedIntervalMs ?? datum.schedule.intervalMs),
    fixedInterval: datum.fixedIntervalMs === null ? null : seconds(datum.fixedIntervalMs),
    failures: datum.failures,
    lastError: datum.lastError === null ? null : { ...datum.lastError, at: isoTime(datum.lastError.at) },
    httpStatus: datum.httpStatus,
    contentType: datum.contentType,
    robotsTag: datum.robotsTag,
    etag: datum.validators.etag,
    lastModified: datum.validators.lastModified,
    contentLength: datum.validators.contentLength,
    digest: datum.digest,
    truncated: datum.truncated,
    rendered: datum.rendered !== null,
    signature: datum.signature,
    changeSignature: changeSignatureOf(datum),
    changeDigest: datum.changeDigest,
    signatureName: datum.signatureName,
    title: datum.title,
    textChars: datum.textChars,
    authors: datum.stated?.authors ?? [],
    publishedAt: isoTimeOrNull(datum.stated?.publishedAt ?? null),
    modifiedAt: isoTimeOrNull(datum.stated?.modifiedAt ?? null),
    lang: datum.stated?.lang ?? null,
    changedBlocks: datum.blocks?.changed ?? [],
    volatileBlocks: datum.blocks?.volatile ?? [],
    target: datum.target,
    visits: datum.visits.map((visit) => ({
      at: isoTime(visit.at),
      outcome: visit.outcome,
      distance: visit.distance,
      elapsed: visit.elapsedMs === null ? null : seconds(visit.elapsedMs),
      bytes: visit.bytes,
      interval: seconds(visit.intervalMs),
    })),
    metadata: datum.metadata,
  };
}

export function dueView(entry: DueEntry): DueView {
  return {
    url: entry.url,
    dueAt: isoTime(entry.dueAt),
    state: entry.state,
    score: entry.score,
    depth: entry.depth,
    interval: seconds(entry.intervalMs),
    failures: entry.failures,
  };
}

/** As `RenderTrials`, with the time in ISO 8601. */
export interface TrialsView extends Omit<RenderTrials, 'at'> {
  readonly at: string;
}

function trafficView({ latency, ...sums }: HostTraffic) {
  const within = (share: number): number | null => {
    const ms = latencyPercentile({ latency, ...sums }, share);
    return ms === null ? null : Number((ms / 1_000).toPrecision(3));
  };
  return { ...sums, latencyP50: within(0.5), latencyP90: within(0.9), latencyP99: within(0.99) };
}

export function hostView(row: HostRow, now: number, changesPerDay: number | null = null): HostView {
  const { distrustedUntil, restUntil, traffic, rendering, ...known } = row.facts;
  const facts = {
    ...known,
    ...trafficView(traffic ?? NO_TRAFFIC),
    restUntil: restUntil === null || now >= restUntil ? null : isoTime(restUntil),
    rendering: (rendering ?? []).map((trials) => ({ ...trials, at: isoTime(trials.at) })),
  };
  const headersTrusted = distrustedUntil === null || now >= distrustedUntil;
  const rate = changesPerDay === null ? null : Number(changesPerDay.toPrecision(3));
  return { host: row.host, urls: row.urls, byState: row.byState, headersTrusted, ...facts, changesPerDay: rate };
}

/** A record reduced to the requested fields, in their order. */
export type RecordRow = Readonly<Record<string, unknown>>;

/** Parts of a record that are lists or objects. */
const WHOLE_PARTS = ['visits', 'lastError', 'metadata'] as const satisfies readonly (keyof RecordView)[];

/** Makes rows of these fields from records. Throws `usage-invalid` for an unknown field name. */
export function rowMaker(names: readonly string[], env: QueryEnvironment): (datum: CrawlDatum) => RecordRow {
  const columns = names.map((name) => {
    const part = WHOLE_PARTS.find((each) => each.toLowerCase() === name.toLowerCase());
    if (part !== undefined && fieldNamed(name) === undefined) {
      return [part, (datum: CrawlDatum) => recordView(datum)[part]] as const;
    }
    const field = requireField('fields', name);
    return [field.name, (datum: CrawlDatum) => shown(field, field.read(datum, env))] as const;
  });
  return (datum) => Object.fromEntries(columns.map(([name, read]) => [name, read(datum)]));
}

/** Times in ISO 8601, durations in seconds, as in the whole record. */
function shown({ type }: QueryField, value: MetadataValue | null): MetadataValue | null {
  if (typeof value !== 'number') return value;
  return type === 'time' ? isoTime(value) : type === 'duration' ? seconds(value) : value;
}
