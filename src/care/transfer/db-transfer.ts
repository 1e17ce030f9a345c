// care/transfer/: crawl dbs as JSON lines, merged and divided into shares.

import type { ChangeRow } from '../../core/domain/crawl/change/change-feed.ts';
import { dueFacts } from '../../core/domain/crawl/revisit/next-visit.ts';
import type { CrawlDatum } from '../../core/domain/crawl/states/datum.ts';
import { revived } from '../../core/domain/crawl/states/settle.ts';
import { CrawlError, unknownVersion } from '../../core/domain/errors.ts';
import { canonicalUrl } from '../../core/domain/url/canonical/canonical-url.ts';
import type { DomainFamilies } from '../../core/domain/url/families/stored-families.ts';
import {
  type CrawlDb,
  type CrawlDbBatch,
  type CrawlDbPut,
  type DueEntry,
  type HostFacts,
  NO_HOST_FACTS,
  type SegmentRow,
  type StoredLinks,
} from '../../core/ports/crawl-db.ts';
import type { OnWork } from '../../core/ports/work-progress.ts';
import { counted } from '../../core/steps/work-meter.ts';
import {
  DUMP_VERSION,
  type DumpCounts,
  type DumpLine,
  type ForwardingLine,
  isForwarding,
  parseDumpLine,
  restoring,
} from './dump-lines.ts';

/** The whole crawl db line by line. Each kind of line is a separate snapshot, so no other process may write. */
export async function* dumpLines(db: CrawlDb, now: number): AsyncGenerator<DumpLine> {
  const counts = { records: 0, links: 0, hosts: 0, changes: 0 };
  yield { incrawl: 'crawldb', version: DUMP_VERSION, exportedAt: new Date(now).toISOString() };
  for (const [name, value] of Object.entries(await db.metas())) yield { meta: { name, value } };
  for (const segment of await db.segments()) yield { segment };
  for await (const { host, facts } of db.hosts()) {
    if (isNothing(facts)) continue;
    counts.hosts++;
    yield { host: { host, facts } };
  }
  for await (const families of db.scanLinkFamilies()) yield { families };
  for await (const record of db.scan()) {
    counts.records++;
    yield { record };
  }
  for await (const links of db.scanLinks()) {
    counts.links++;
    yield { links };
  }
  for await (const { url, segment } of db.scanLeases()) yield { lease: { url, segment } };
  for await (const change of db.changes()) {
    counts.changes++;
    yield { change };
  }
  const { last } = await db.feedEnds();
  if (last > 0) yield { feed: { last } };
  yield* forwardingLines(db);
  yield { end: counts };
}

/** The lines of {@link dumpLines} as text, without line ends. */
export async function* dumpTexts(db: CrawlDb, now: number, onWork?: OnWork): AsyncGenerator<string> {
  for await (const line of counted(dumpLines(db, now), onWork, 'exporting rows')) yield JSON.stringify(line);
}

/** Links from and to other partitions; none in a crawl of one. */
async function* forwardingLines({ forwarding }: CrawlDb): AsyncGenerator<DumpLine> {
  for await (const outbox of forwarding.outbox()) yield { outbox };
  for await (const { from, number, item } of forwarding.inbox()) yield { inbox: { from, number, item } };
  for await (const waiting of forwarding.scanWaiting()) yield { waiting };
  const marks = await forwarding.marks();
  if (marks.lastSent > 0 || marks.received.length > 0) yield { forwarding: marks };
}

const isNothing = (facts: HostFacts): boolean =>
  (Object.keys(NO_HOST_FACTS) as (keyof HostFacts)[]).every((name) => facts[name] === NO_HOST_FACTS[name]);

export interface TransferSummary extends DumpCounts {
  /** Records whose URL already existed; under `merge` the two are merged. */
  readonly merged: number;
}

/** Lines per batch. */
const CHUNK = 1_000;

/**
 * Writes lines into a crawl db. `whole`: the db must be empty and becomes the exported one, leases included. `merge`:
 * existing rows stay, two records of one URL are merged by `mergeDatum`, and segments, leases, link families and change
 * feed of the other crawl are left out. Rejects with `usage-invalid`, naming the line: under `merge` earlier lines may
 * have been written; an interrupted `whole` import leaves nothing.
 */
export async function importLines(
  db: CrawlDb,
  lines: AsyncIterable<DumpLine>,
  mode: 'whole' | 'merge',
  onWork?: OnWork,
): Promise<TransferSummary> {
  if (mode === 'whole' && (await db.counters()).urls > 0) {
    throw new CrawlError(
      'usage-invalid',
      'the crawl db is not empty: add to it with --merge, or name another with --dir',
    );
  }
  const sink = new ImportSink(db, mode);
  let end: DumpCounts | null = null;
  for await (const line of counted(lines, onWork, 'importing rows')) {
    if (end !== null) throw new CrawlError('usage-invalid', 'lines follow the last line of the export ("end")');
    if ('end' in line) end = line.end;
    else await sink.add(line);
  }
  const { records, links, hosts, changes } = sink;
  if (end === null) {
    throw new CrawlError(
      'usage-invalid',
      `the export was cut short: it ends after ${records} records without its last line`,
    );
  }
  if (end.records !== records || end.links !== links || end.hosts !== hosts || end.changes !== changes) {
    throw new CrawlError(
      'usage-invalid',
      `the export is incomplete: its last line counts ${end.records} records, ${records} were read`,
    );
  }
  await sink.finish();
  return { records, links, hosts, changes, merged: sink.merged };
}

/** Collects lines into batches. Under `whole`, lines added without {@link finish} leave an unfinished crawl db. */
export class ImportSink {
  records = 0;
  links = 0;
  hosts = 0;
  changes = 0;
  merged = 0;
  readonly #db: CrawlDb;
  readonly #mode: 'whole' | 'merge';
  #puts: CrawlDbPut['datum'][] = [];
  readonly #urls = new Set<string>();
  #links: StoredLinks[] = [];
  #facts: { host: string; facts: HostFacts }[] = [];
  #leases = new Map<string, string[]>();
  #segments: SegmentRow[] = [];
  #families: DomainFamilies[] = [];
  #meta: Record<string, string> = {};
  #changes: ChangeRow[] = [];
  #lastChange = 0;
  #forwarding: ForwardingLine[] = [];

  readonly #firstChange: number | undefined;

  /** @param firstChange oldest number of the feed if only some changes are imported; default: the first imported one */
  constructor(db: CrawlDb, mode: 'whole' | 'merge', firstChange?: number) {
    this.#db = db;
    this.#mode = mode;
    this.#firstChange = firstChange;
  }

  async add(line: Exclude<DumpLine, { readonly end: DumpCounts }>): Promise<void> {
    if ('record' in line) {
      this.records++;
      // Two URLs of a foreign crawl may be the same URL here: the second is merged into the first.
      if (this.#urls.has(line.record.url)) await this.flush();
      this.#urls.add(line.record.url);
      this.#puts.push(line.record);
    } else if ('links' in line) {
      this.links++;
      this.#links.push(line.links);
    } else if ('host' in line) {
      this.hosts++;
      this.#facts.push(line.host);
    } else if ('change' in line) {
      this.changes++;
      if (this.#mode === 'whole') this.#changes.push(line.change);
    } else if (this.#mode === 'whole') {
      if ('meta' in line) this.#meta[line.meta.name] = line.meta.value;
      else if ('families' in line) this.#families.push(line.families);
      else if ('segment' in line) this.#segments.push(line.segment);
      else if ('lease' in line) this.#leaseOf(line.lease.segment).push(line.lease.url);
      else if ('feed' in line) this.#lastChange = line.feed.last;
      else if (isForwarding(line)) this.#forwarding.push(line);
    }
    const { length } = this.#forwarding;
    if (this.#puts.length + this.#links.length + this.#facts.length + this.#changes.length + length >= CHUNK)
      await this.flush();
  }

  #leaseOf(segment: string): string[] {
    const urls = this.#leases.get(segment) ?? [];
    this.#leases.set(segment, urls);
    return urls;
  }

  async flush(): Promise<void> {
    const stored = await this.#db.getMany(this.#puts.map(({ url }) => url));
    const puts = this.#puts.map((datum, i): CrawlDbPut => {
      const previous = stored[i] ?? null;
      if (previous === null) return { datum, previous };
      this.merged++;
      return { datum: mergeDatum(previous, datum), previous };
    });
    const [links, hostFacts] = [await this.#newLinks(), await this.#newFacts()];
    const first = this.#firstChange === undefined ? {} : { first: this.#firstChange };
    const feed = this.#mode === 'whole' ? { restore: { rows: this.#changes, last: this.#lastChange, ...first } } : {};
    const forwarding = this.#forwarding.length === 0 ? {} : { forwarding: restoring(this.#forwarding) };
    await this.#write({ puts, links, hostFacts, feed, ...forwarding });
    this.#forwarding = [];
    this.#changes = [];
    this.#puts = [];
    this.#urls.clear();
    this.#links = [];
    this.#facts = [];
  }

  /** A page with stored outlinks keeps them: they come from the last parse by its own crawl. */
  async #newLinks(): Promise<StoredLinks[]> {
    if (this.#mode === 'whole') return this.#links;
    const stored = await this.#db.linksOf(this.#links.map(({ url }) => url));
    return this.#links.filter((_, i) => stored[i]?.length === 0);
  }

  async #newFacts(): Promise<{ host: string; facts: HostFacts }[]> {
    if (this.#mode === 'whole') return this.#facts;
    const rows = await this.#db.hostRows(this.#facts.map(({ host }) => host));
    return this.#facts.flatMap(({ host, facts }, i) => {
      const known = rows[i]?.facts ?? NO_HOST_FACTS;
      // Counts alone contradict none of the other facts. They are not added up, so that merging twice adds nothing.
      const traffic = known.traffic ?? facts.traffic;
      const fetchesOfDay = known.fetchesOfDay ?? facts.fetchesOfDay;
      return isNothing({ ...known, traffic: null, fetchesOfDay: null })
        ? [{ host, facts: { ...facts, traffic, fetchesOfDay } }]
        : [];
    });
  }

  async finish(): Promise<void> {
    await this.flush();
    if (this.#families.length > 0) await this.#write({ linkFamilies: this.#families });
    for (const segment of this.#segments) await this.#write({ segments: [segment] });
    for (const [segment, urls] of this.#leases) {
      for (let i = 0; i < urls.length; i += CHUNK) {
        const data = await this.#db.getMany(urls.slice(i, i + CHUNK));
        const entries = data.flatMap((datum): DueEntry[] =>
          datum === undefined || datum.nextFetchAt === null ? [] : [{ ...dueFacts(datum), dueAt: datum.nextFetchAt }],
        );
        await this.#write({ lease: { segment, entries } });
      }
    }
    const last = this.#mode === 'whole' ? { meta: this.#meta, isImporting: false } : {};
    await this.#db.write(last, { durable: true });
  }

  /** Marks an unfinished import, which would otherwise look like a whole crawl db. */
  #write(batch: CrawlDbBatch): Promise<void> {
    return this.#db.write(this.#mode === 'whole' ? { ...batch, isImporting: true } : batch);
  }
}

const NO_FEED_ENTRY: Pick<ChangeRow, 'seq' | 'notedAt'> = { seq: 0, notedAt: 0 };

/** Parses lines of text. Checks the header, that URLs are canonical, and that changes are in order. */
export async function* readDump(lines: AsyncIterable<string>): AsyncGenerator<DumpLine> {
  let number = 0;
  let before = NO_FEED_ENTRY;
  for await (const text of lines) {
    number++;
    if (text.trim() === '') continue;
    const line = parseDumpLine(text, number);
    if (number === 1 && !('incrawl' in line)) {
      throw new CrawlError('usage-invalid', 'line 1: the header of an export ("incrawl": "crawldb") was expected');
    }
    if ('incrawl' in line) {
      if (line.version > DUMP_VERSION) throw unknownVersion('the export has version', line.version, DUMP_VERSION);
      continue;
    }
    const url = 'record' in line ? line.record.url : 'links' in line ? line.links.url : null;
    if (url !== null && !isCanonical(url))
      throw new CrawlError('usage-invalid', `line ${number}: ${url} is not canonical`);
    if ('change' in line) {
      if (line.change.seq <= before.seq || line.change.notedAt < before.notedAt) {
        throw new CrawlError('usage-invalid', `line ${number}: a change behind number ${before.seq} was expected`);
      }
      before = line.change;
    }
    yield line;
  }
  if (number === 0) throw new CrawlError('usage-invalid', 'an export was expected, the input is empty');
}

function isCanonical(url: string): boolean {
  const canonical = canonicalUrl(url);
  return 'url' in canonical && canonical.url === url;
}

/**
 * Merges the records of one URL from two crawls. The record visited later wins; depth and referrer come from the
 * shorter path. The operator's settings (seed, fixed interval, metadata) are merged, and the record visited later wins.
 */
export function mergeDatum(mine: CrawlDatum, theirs: CrawlDatum): CrawlDatum {
  if (mine.url !== theirs.url)
    throw new TypeError(`records of one URL were expected, got ${mine.url} and ${theirs.url}`);
  const [later, earlier] = (theirs.lastFetchAt ?? -1) > (mine.lastFetchAt ?? -1) ? [theirs, mine] : [mine, theirs];
  const nearer = theirs.depth < mine.depth ? theirs : mine;
  const merged: CrawlDatum = {
    ...later,
    discoveredAt: Math.min(mine.discoveredAt, theirs.discoveredAt),
    depth: nearer.depth,
    referrer: nearer.referrer,
    seed: mine.seed || theirs.seed,
    score: Math.max(mine.score, theirs.score),
    fixedIntervalMs: later.fixedIntervalMs ?? earlier.fixedIntervalMs,
    metadata: { ...earlier.metadata, ...later.metadata },
  };
  // A seed of one crawl may be an orphan in the other.
  return merged.seed && merged.state === 'orphan'
    ? revived(merged, later.lastFetchAt ?? later.discoveredAt, 'seed')
    : merged;
}
