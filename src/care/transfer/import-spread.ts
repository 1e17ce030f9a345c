import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { shareOfFact } from '../../cluster/partitions/merged-facts.ts';
import { placing } from '../../cluster/partitions/partition-dir.ts';
import type { PartitionHold } from '../../cluster/partitions/partition-stores.ts';
import { requireSpread, sharedPartitions } from '../../cluster/partitions/shared-partitions.ts';
import { openStoreOf } from '../../cluster/workers/open-shared-db.ts';
import type { Config } from '../../core/config/schema.ts';
import { LINKED_ELSEWHERE_KEY, senderOf } from '../../core/domain/crawl/discovery/forwarded-link.ts';
import { CrawlError } from '../../core/domain/errors.ts';
import { HotUrls } from '../../core/domain/url/cache/weighted-urls.ts';
import { hostOf } from '../../core/domain/url/canonical/url-key.ts';
import type { PartitionBy } from '../../core/domain/url/hash/partition.ts';
import type { Clock } from '../../core/ports/clock.ts';
import type { CrawlDb } from '../../core/ports/crawl-db.ts';
import type { Log } from '../../core/ports/log.ts';
import type { OnWork } from '../../core/ports/work-progress.ts';
import { counted } from '../../core/steps/work-meter.ts';
import { nearPlan } from '../../operations/loop/step-settings.ts';
import { segmentsPlace } from '../../operations/state/segments-mark.ts';
import { systemClock } from '../../operations/system/clock.ts';
import { isHalfImported } from '../../store/rows/format.ts';
import { openCrawlDbOn } from '../../store/rows/open-crawl-db.ts';
import type { RowsCrawlDb } from '../../store/rows/rows-crawl-db.ts';
import { ImportSink, type TransferSummary } from './db-transfer.ts';
import type { DumpCounts, DumpLine } from './dump-lines.ts';
import { readAnyDump, type SkippedLine } from './nutch-dump.ts';

export interface ImportSpreadOptions {
  readonly config: Config;
  readonly dir: string;
  readonly log: Log;
  readonly clock?: Pick<Clock, 'now'>;
  readonly onWork?: OnWork;
}

/** Maximum number of skipped URLs in the log. */
const NAMED = 20;

/**
 * Imports an incrawl export or a Nutch dump into a new crawl of `cluster.partitions` partitions, while this process
 * holds all of them. Rejects with `db-locked` if a worker holds one, with `usage-invalid` if the crawl is not empty,
 * and with any error of the store.
 */
export async function importSpread(
  { config, dir: folder, log, clock = systemClock, onWork }: ImportSpreadOptions,
  lines: AsyncIterable<string>,
): Promise<TransferSummary & { readonly skipped: number }> {
  const dir = resolve(folder);
  const { name, leaseMs } = config.cluster;
  const store = await openStoreOf(config, dir);
  const holds: PartitionHold[] = [];
  const dbs: RowsCrawlDb[] = [];
  try {
    mkdirSync(dir, { recursive: true });
    const asked = { store, dir, name, segments: segmentsPlace(config), isImporting: true };
    const { partitions, partitionBy } = config.cluster;
    const spread = await requireSpread({ ...asked, partitions, partitionBy });
    const stores = sharedPartitions({ ...asked, ...spread }, leaseMs);
    const near = nearPlan(config);
    const opened = async (partition: number): Promise<RowsCrawlDb> => {
      const { rows } = holds[partition] as PartitionHold;
      return openCrawlDbOn(rows, { name: `partition ${senderOf(partition)}`, log, ...(near && { near }) });
    };
    for (let partition = 0; partition < spread.partitions; partition++) {
      holds.push(await stores.hold(partition, new AbortController().signal));
    }
    const [first] = holds;
    const isCutShort = first !== undefined && (await isHalfImported(first.rows));
    // The first one last: while it is unfinished, all are.
    for (let partition = spread.partitions - 1; partition >= 0; partition--) {
      const db = await opened(partition);
      dbs.unshift(db);
      await (holds[partition] as PartitionHold).begun();
      if (!isCutShort || partition === 0) continue;
      // It may have been whole when an earlier import was cut short. An unfinished crawl db is emptied when it is
      // opened.
      await db.write({ isImporting: true });
      dbs[0] = await opened(partition);
    }
    let skipped = 0;
    const onSkipped = ({ line, url, reason }: SkippedLine): void => {
      if (++skipped <= NAMED) log.warn(`line ${line}: ${url} is skipped: ${reason}`);
    };
    const read = readAnyDump(lines, { now: clock.now(), onSkipped });
    const summary = await importPartitioned(dbs, read, { by: spread.by, onWork });
    return { ...summary, skipped };
  } finally {
    for (const db of dbs) await db.close().catch(() => {});
    for (const hold of holds) await hold.release();
    await store.close();
  }
}

/**
 * Recent links from one partition to another that are remembered, so that each target is marked only once or a few
 * times.
 */
const RECENT = 1 << 18;
/** Targets looked up at a time. */
const CHUNK = 500;

/**
 * Writes the lines of one crawl db into empty ones, one per partition: each row goes to the partition of its site, and
 * changes are renumbered. Segments, leases and facts about rounds are left out, as in an export of a spread crawl; URLs
 * of a round in progress are due. A page with links from other partitions is marked, so that it does not become an
 * orphan for lack of links in its own partition. All crawl dbs become whole at the end, the first one last. After an
 * interruption they are emptied when opened again. The first one gets the mark of an unfinished import before any other
 * has a row. Rejects with `usage-invalid` if one is not empty, and for lines that are not a whole export.
 */
export async function importPartitioned(
  dbs: readonly CrawlDb[],
  lines: AsyncIterable<DumpLine>,
  { by = 'domain', onWork }: { readonly by?: PartitionBy; readonly onWork?: OnWork | undefined } = {},
): Promise<TransferSummary> {
  for (const db of dbs) {
    if ((await db.counters()).urls === 0) continue;
    throw new CrawlError('usage-invalid', 'the crawl is not empty: import into a new one, with another cluster.name');
  }
  const placeOf = placing(by, dbs.length);
  await dbs[0]?.write({ isImporting: true }, { durable: true });
  const sinks = dbs.map((db) => new ImportSink(db, 'whole'));
  const elsewhere = new LinkedElsewhere(dbs, placeOf);
  const lastChange = dbs.map(() => 0);
  const total = { records: 0, links: 0, hosts: 0, changes: 0 };
  let end: DumpCounts | null = null;
  let areRecordsWritten = false;
  for await (const line of counted(lines, onWork, 'importing rows')) {
    if (end !== null) throw new CrawlError('usage-invalid', 'lines follow the last line of the export ("end")');
    if ('end' in line) end = line.end;
    else if ('record' in line) {
      total.records++;
      await sinks[placeOf(hostOf(line.record.url))]?.add(line);
    } else if ('links' in line) {
      total.links++;
      // The records come before the links, and must exist to be marked.
      if (!areRecordsWritten) for (const sink of sinks) await sink.flush();
      areRecordsWritten = true;
      await sinks[placeOf(hostOf(line.links.url))]?.add(line);
      await elsewhere.note(line.links.url, line.links.targets);
    } else if ('host' in line) {
      total.hosts++;
      await sinks[placeOf(line.host.host)]?.add(line);
    } else if ('change' in line) {
      total.changes++;
      const place = placeOf(hostOf(line.change.url));
      const seq = (lastChange[place] ?? 0) + 1;
      lastChange[place] = seq;
      await sinks[place]?.add({ change: { ...line.change, seq } });
    } else if ('families' in line) {
      // Hosts of the domain may be in any partition.
      const own = by === 'host' ? sinks : [sinks[placeOf(line.families.domain)]];
      for (const sink of own) await sink?.add(line);
    } else if ('waiting' in line) await sinks[placeOf(hostOf(line.waiting.url))]?.add(line);
    else if ('meta' in line) {
      for (const [place, sink] of sinks.entries()) {
        const value = shareOfFact(line.meta.name, line.meta.value, place, dbs.length, placeOf);
        if (value !== null) await sink.add({ meta: { name: line.meta.name, value } });
      }
    } else if ('outbox' in line || 'inbox' in line) {
      const what = 'the export is of one partition of a spread crawl, with links on their way to others';
      throw new CrawlError('usage-invalid', `${what}: export the whole crawl`);
    }
  }
  requireWhole(total, end);
  await elsewhere.flush();
  for (const sink of sinks) await sink.flush();
  for (const sink of sinks.toReversed()) await sink.finish();
  return { ...total, merged: 0 };
}

function requireWhole(read: DumpCounts, end: DumpCounts | null): void {
  const names = ['records', 'links', 'hosts', 'changes'] as const;
  if (end !== null && names.every((name) => end[name] === read[name])) return;
  const counts = end === null ? 'it has no last line' : `its last line counts ${end.records} records`;
  throw new CrawlError('usage-invalid', `the export is incomplete: ${counts}, ${read.records} were read`);
}

/** Marks the records that pages of other partitions link to. */
export class LinkedElsewhere {
  readonly #dbs: readonly CrawlDb[];
  readonly #placeOf: (host: string) => number;
  readonly #recent = new HotUrls(RECENT);
  readonly #urls: Set<string>[];

  /** @param placeOf index of the crawl db of a host; an index outside `dbs`: the host is elsewhere */
  constructor(dbs: readonly CrawlDb[], placeOf: (host: string) => number) {
    this.#dbs = dbs;
    this.#placeOf = placeOf;
    this.#urls = dbs.map(() => new Set());
  }

  async note(from: string, targets: readonly string[]): Promise<void> {
    const own = this.#placeOf(hostOf(from));
    for (const target of targets) {
      const place = this.#placeOf(hostOf(target));
      if (place === own || this.#recent.has(target)) continue;
      this.#recent.add(target);
      const urls = this.#urls[place];
      urls?.add(target);
      if (urls !== undefined && urls.size >= CHUNK) await this.#mark(place);
    }
  }

  async flush(): Promise<void> {
    for (const place of this.#dbs.keys()) await this.#mark(place);
  }

  async #mark(place: number): Promise<void> {
    const [db, urls] = [this.#dbs[place], this.#urls[place]];
    if (db === undefined || urls === undefined || urls.size === 0) return;
    const records = await db.getMany([...urls]);
    urls.clear();
    const puts = records.flatMap((previous) => {
      if (previous === undefined || LINKED_ELSEWHERE_KEY in previous.metadata) return [];
      const metadata = { ...previous.metadata, [LINKED_ELSEWHERE_KEY]: true };
      return [{ datum: { ...previous, metadata }, previous }];
    });
    if (puts.length > 0) await db.write({ puts, isImporting: true });
  }
}
