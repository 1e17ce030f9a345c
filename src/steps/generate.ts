import type { CrawlDatum, CrawlState } from '../domain/crawl/datum.ts';
import type { Clock } from '../ports/clock.ts';
import { type CrawlDb, type DueEntry, type HostFacts, NO_HOST_FACTS } from '../ports/crawl-db.ts';
import type { FetchItem, SegmentStore } from '../ports/segment-store.ts';
import { type Candidate, interleaveHosts, Selection } from './fetch-list.ts';
import type { GenerateRejections, GenerateSummary } from './summaries.ts';
import type { UrlChain } from './url-chain.ts';

export interface GenerateOptions {
  readonly topN?: number;
  /** 0: no cap. */
  readonly maxPerHost?: number;
  readonly maxPerDomain?: number;
  readonly minScore?: number;
  readonly minIntervalMs?: number;
  /** Only these states; absent: all that can be due. */
  readonly status?: readonly CrawlState[];
  /** Look this far ahead: what falls due until then counts as due, ms. */
  readonly addDaysMs?: number;
  readonly dryRun?: boolean;
}

export interface GenerateRoom {
  readonly db: CrawlDb;
  readonly segments: SegmentStore;
  readonly clock: Clock;
  readonly urls: UrlChain;
  readonly rank: (entry: DueEntry, now: number) => number;
  readonly hostOf: (url: string) => string;
  readonly domainOf: (host: string) => string;
  readonly partitionOf: (host: string) => number;
  readonly seedHosts: ReadonlySet<string>;
  /** Uniform in [0, 1): which visits become audits. */
  readonly random: () => number;
  readonly auditShare: number;
}

/** Records read at a time while the fetch list is written. */
const READ_WINDOW = 1_000;

/**
 * Selects what is due, the best by rank under the caps, into a new segment, and leases it there.
 * The fetch list is whole on disk before the one batch that leases its URLs and makes the segment known: a crash leaves either
 * nothing or a list without a row, which is swept at the next start.
 */
export async function generate(
  room: GenerateRoom,
  options: Required<Omit<GenerateOptions, 'status'>> & Pick<GenerateOptions, 'status'>,
): Promise<GenerateSummary> {
  const now = room.clock.now();
  const selection = new Selection(options);
  const rejected: GenerateRejections = {
    urlFilter: 0,
    status: 0,
    minScore: 0,
    minInterval: 0,
    hostCap: 0,
    domainCap: 0,
    topN: 0,
  };
  const wanted = options.status === undefined ? null : new Set(options.status);
  let due = 0;
  for await (const entry of room.db.due({ until: now + options.addDaysMs })) {
    due++;
    if (!isAdmitted(room, entry)) rejected.urlFilter++;
    else if (wanted !== null && !wanted.has(entry.state)) rejected.status++;
    else if (entry.score < options.minScore) rejected.minScore++;
    else if (entry.intervalMs < options.minIntervalMs) rejected.minInterval++;
    else {
      const host = room.hostOf(entry.url);
      selection.add({ entry, host, domain: room.domainOf(host), rank: room.rank(entry, now) });
    }
  }
  const chosen = interleaveHosts(selection.finish());
  Object.assign(rejected, selection.rejected);
  const hosts = new Set(chosen.map((candidate) => candidate.host));
  const summary = { due, selected: chosen.length, hosts: hosts.size, rejected };
  if (options.dryRun) return { ...summary, segment: null, urls: chosen.map((candidate) => candidate.entry.url) };
  if (chosen.length === 0) return { ...summary, segment: null };

  const id = await newSegmentId(room, now);
  await room.segments.create(
    { id, createdAt: now, hosts: await factsOf(room.db, [...hosts]) },
    fetchItems(room, chosen),
  );
  await room.db.write(
    {
      lease: { segment: id, entries: chosen.map((candidate) => candidate.entry) },
      segments: [{ id, state: 'generated', createdAt: now, urls: chosen.length, applied: 0 }],
    },
    { durable: true },
  );
  return { ...summary, segment: id };
}

/** The filters are asked again, since the operator may have changed them since the URL was found. */
function isAdmitted(room: GenerateRoom, entry: DueEntry): boolean {
  const context = { from: null, depth: entry.depth, seedHosts: room.seedHosts };
  return room.urls.apply(entry.url, context).url === entry.url;
}

async function* fetchItems(room: GenerateRoom, chosen: readonly Candidate[]): AsyncGenerator<FetchItem> {
  let index = 0;
  for (let start = 0; start < chosen.length; start += READ_WINDOW) {
    const window = chosen.slice(start, start + READ_WINDOW);
    const records = await room.db.getMany(window.map((candidate) => candidate.entry.url));
    for (const [i, candidate] of window.entries()) {
      yield fetchItem(room, index++, candidate, records[i]);
    }
  }
}

function fetchItem(room: GenerateRoom, index: number, candidate: Candidate, record: CrawlDatum | undefined): FetchItem {
  if (record === undefined) throw new TypeError(`due index names ${candidate.entry.url}, which has no record`);
  const { validators, digest } = record;
  const isAuditable = digest !== null && (validators.etag !== null || validators.lastModified !== null);
  return {
    index,
    url: record.url,
    host: candidate.host,
    partition: room.partitionOf(candidate.host),
    depth: record.depth,
    score: record.score,
    validators,
    digest,
    audit: isAuditable && room.random() < room.auditShare,
    metadata: record.metadata,
  };
}

async function factsOf(db: CrawlDb, hosts: readonly string[]): Promise<Record<string, HostFacts>> {
  const rows = await db.hostRows(hosts);
  return Object.fromEntries(hosts.map((host, i) => [host, rows[i]?.facts ?? NO_HOST_FACTS]));
}

/** `YYYYMMDDhhmmss-nnnnn`, in UTC, later than every id so far even when the clock stands still. */
async function newSegmentId(room: GenerateRoom, now: number): Promise<string> {
  const stamp = new Date(now).toISOString().replace(/[-:T]/g, '').slice(0, 14);
  const known = [...(await room.db.segments()), ...(await room.segments.list())].map((segment) => segment.id).sort();
  const last = known.at(-1);
  if (last === undefined || last < stamp) return `${stamp}-00001`;
  const lastStamp = last.slice(0, 14);
  return `${lastStamp}-${String(Number(last.slice(15)) + 1).padStart(5, '0')}`;
}
