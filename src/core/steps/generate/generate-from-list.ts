import { parseSeedLine } from '../../domain/crawl/discovery/seed.ts';
import { BARE_CHARS } from '../../domain/crawl/rendering/render-trials.ts';
import type { DayBoundOf } from '../../domain/crawl/revisit/budget-shares.ts';
import type { Absence } from '../../domain/crawl/revisit/missing-links.ts';
import { dueFacts } from '../../domain/crawl/revisit/next-visit.ts';
import { type CrawlDatum, NO_VALIDATORS } from '../../domain/crawl/states/datum.ts';
import { isPartial, takesPartial } from '../../domain/crawl/states/truncation.ts';
import { hostOf } from '../../domain/url/canonical/url-key.ts';
import type { Clock } from '../../ports/clock.ts';
import type { CrawlDb, DueEntry } from '../../ports/crawl-db.ts';
import type { FetchItem, RoundBounds, SegmentStore } from '../../ports/segment-store.ts';
import { factsOf, takenFacts } from '../facts/host-observations.ts';
import type { SeedSource } from '../inject.ts';
import { type GenerateSummary, NO_REJECTIONS, type SeedError } from '../summaries.ts';
import { countingRejections, type UrlChain } from '../url-chain.ts';
import { interleaveHosts, newSegmentId } from './fetch-list.ts';
import { type AuditChoice, createAuditChoice } from './hazard-round.ts';

export interface ListDeps {
  readonly db: CrawlDb;
  readonly segments: SegmentStore;
  readonly clock: Clock;
  /** The canonical form only, or with the normalisers and filters that were asked for. */
  readonly urls: UrlChain;
  readonly seedHosts: ReadonlySet<string>;
  /** Score of a URL that no page links to. */
  readonly seedScore: (url: string) => number;
  readonly partition: (host: string) => number;
  /** Uniform in [0, 1): which visits become audits. */
  readonly random: () => number;
}

export interface ListOptions {
  /** As in `GenerateSettings`. */
  readonly auditShare: number;
  readonly dryRun: boolean;
  /** Bounds of hosts by the day: the list counts, and goes by none. */
  readonly dayBoundOf?: DayBoundOf | undefined;
}

interface ListedUrl {
  readonly url: string;
  readonly host: string;
}

/** Records read at a time. */
const READ_WINDOW = 1_000;

/**
 * A target of a redirect has a place in the segment of a list whatever its size: the list is what the operator wants.
 */
const BOUNDS: RoundBounds = {
  free: Number.MAX_SAFE_INTEGER,
  ...{ isCharged: false, maxPerHost: 0, maxPerDomain: 0, minScore: 0, minIntervalMs: 0 },
};

/**
 * Makes a segment of the URLs of a list, due or not, as `freegen` of Nutch. Nothing is injected: a URL that is unknown
 * gets its record when updatedb applies its visit. Known ones are visited by their records, and leased as by generate.
 * The list is held in memory.
 */
export async function generateFromList(
  deps: ListDeps,
  sources: readonly SeedSource[],
  { auditShare, dryRun, dayBoundOf }: ListOptions,
): Promise<GenerateSummary> {
  const { db, segments, clock } = deps;
  const now = clock.now();
  const { listed, ...read } = await readList(deps, sources);
  const free = await withoutLeased(db, listed);
  const list = interleaveHosts(free);
  const hosts = new Set(list.map(({ host }) => host));
  const summary = {
    due: listed.length,
    selected: list.length,
    hosts: hosts.size,
    rejected: { ...NO_REJECTIONS, urlFilter: read.filtered },
    list: { urls: read.urls, underWay: listed.length - list.length, filteredBy: read.filteredBy, errors: read.errors },
  };
  if (dryRun) return { ...summary, segment: null, urls: list.map(({ url }) => url) };
  if (list.length === 0) return { ...summary, segment: null };

  const id = await newSegmentId(deps, now);
  const facts = await factsOf(db, [...hosts]);
  const audits = createAuditChoice(auditShare, facts, deps.random);
  const entries: DueEntry[] = [];
  const info = { id, createdAt: now, hosts: facts, bounds: BOUNDS, isListed: true as const };
  await segments.create(info, listItems(deps, list, audits, entries));
  await db.write(
    {
      lease: { segment: id, entries },
      segments: [{ id, state: 'generated', createdAt: now, urls: list.length, applied: 0 }],
      hostFacts: await takenFacts(
        db,
        dayBoundOf,
        list.map(({ host }) => host),
        now,
      ),
    },
    { durable: true },
  );
  return { ...summary, segment: id };
}

async function readList(deps: ListDeps, sources: readonly SeedSource[]) {
  const errors: SeedError[] = [];
  const filteredBy: Record<string, number> = {};
  const chain = countingRejections(deps.urls, filteredBy);
  const context = { from: null, depth: 0, seedHosts: deps.seedHosts, scope: 'default' } as const;
  const listed = new Map<string, ListedUrl>();
  let [urls, filtered] = [0, 0];
  for (const { name, lines } of sources) {
    let line = 0;
    for await (const text of lines) {
      line++;
      const seed = parseSeedLine(text);
      if (seed === null) continue;
      const report = (message: string): void => {
        errors.push({ source: name, line, text: text.slice(0, 200), message });
      };
      if ('error' in seed) {
        report(seed.error);
        continue;
      }
      if (text.includes('\t') && text.trim() !== seed.url) {
        report('expected a URL alone: settings of a page are for "incrawl inject"');
        continue;
      }
      const { url, reason, by } = chain.apply(seed.url, context);
      if (url === null) {
        if (by === undefined || by === 'url') report(reason ?? 'expected a URL that can be crawled');
        else filtered++;
        continue;
      }
      urls++;
      if (!listed.has(url)) listed.set(url, { url, host: hostOf(url) });
    }
  }
  return { listed: [...listed.values()], urls, filtered, filteredBy, errors };
}

/** A URL in another segment is on its way already. */
async function withoutLeased(db: CrawlDb, listed: readonly ListedUrl[]): Promise<readonly ListedUrl[]> {
  if ((await db.counters()).leased === 0) return listed;
  const free: ListedUrl[] = [];
  for (let start = 0; start < listed.length; start += READ_WINDOW) {
    const window = listed.slice(start, start + READ_WINDOW);
    const leases = await db.leases(window.map(({ url }) => url));
    free.push(...window.filter((_, i) => leases[i] === undefined));
  }
  return free;
}

/** @param entries gets the due entries of the known URLs, which are to be leased */
async function* listItems(
  { db, partition, seedScore }: ListDeps,
  list: readonly ListedUrl[],
  audits: ReturnType<typeof createAuditChoice>,
  entries: DueEntry[],
): AsyncGenerator<FetchItem> {
  let index = 0;
  for (let start = 0; start < list.length; start += READ_WINDOW) {
    const window = list.slice(start, start + READ_WINDOW);
    const records = await db.getMany(window.map(({ url }) => url));
    for (const [i, { url, host }] of window.entries()) {
      const place = { index: index++, host, partition: partition(host) };
      const record = records[i];
      if (record === undefined) {
        const unknown = { validators: NO_VALIDATORS, digest: null, audit: false, metadata: {} };
        yield { ...place, url, depth: 0, score: seedScore(url), ...unknown };
        continue;
      }
      if (record.nextFetchAt !== null) entries.push({ ...dueFacts(record), dueAt: record.nextFetchAt });
      yield fetchItem(record, place, audits);
    }
  }
}

/**
 * The entry of the fetch list for a record.
 * @param audits asked for a visit that could be skipped by headers
 * @param absence of a URL that probably does not exist; `null`: it may exist
 */
export function fetchItem(
  record: CrawlDatum,
  place: Pick<FetchItem, 'index' | 'host' | 'partition'>,
  audits: AuditChoice,
  absence: Absence | null = null,
): FetchItem {
  // The content of a gone page may have been pruned: should it be back, its body is needed even where it is the same.
  // A partial copy shows nothing of the page to be unchanged.
  const isHeld = record.state !== 'gone' && !needsBody(record) && !isPartial(record.truncated);
  const validators = isHeld ? record.validators : NO_VALIDATORS;
  const digest = isHeld ? record.digest : null;
  const isAuditable = digest !== null && (validators.etag !== null || validators.lastModified !== null);
  return {
    ...place,
    url: record.url,
    depth: record.depth,
    score: record.score,
    validators,
    ...digests(record, digest),
    ...(record.textChars !== null && record.textChars < BARE_CHARS && { isBare: true }),
    ...(digest !== null && { claims: { contentType: record.contentType, robotsTag: record.robotsTag } }),
    audit: isAuditable && audits.next(place.host),
    ...(takesPartial(record) && { takesPartial: true }),
    ...(absence !== null && { absence }),
    metadata: record.metadata,
  };
}

/** The digest that the next body is compared with: that of the static page, also where a rendered one is stored. */
function digests({ rendered }: CrawlDatum, digest: string | null): Pick<FetchItem, 'digest' | 'rendered'> {
  if (rendered === null || digest === null) return { digest };
  return { digest: rendered.digest, rendered: { ...rendered, shown: digest } };
}

/**
 * Whether the body of a page is needed, so that no conditional request is sent: the page could not be parsed, and the
 * parser may have been mended. An unsupported type lasts, so there a server that has validators may answer 304.
 */
function needsBody({ state, lastError, validators }: CrawlDatum): boolean {
  const { etag, lastModified } = validators;
  return state === 'parse_failed' && (lastError?.code !== 'parse-unsupported' || (etag ?? lastModified) === null);
}
