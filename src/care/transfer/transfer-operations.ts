import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { rename, rm, rmdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { CrawlError } from '../../core/domain/errors.ts';
import { hostOf } from '../../core/domain/url/canonical/url-key.ts';
import { nodeOf, partitionOf } from '../../core/domain/url/hash/partition.ts';
import { makeFolder } from '../../core/plugin-host/make-folder.ts';
import type { Clock } from '../../core/ports/clock.ts';
import type { CrawlDb } from '../../core/ports/crawl-db.ts';
import type { Log } from '../../core/ports/log.ts';
import type { OnWork } from '../../core/ports/work-progress.ts';
import type { CrawlDeps, QueryDb } from '../../operations/deps.ts';
import { refuseClusterState } from '../../operations/state/cluster-mark.ts';
import { recover } from '../../operations/state/open-store.ts';
import { refuseStoredSegments } from '../../operations/state/segments-mark.ts';
import { onSnapshot, temporaryState } from '../../operations/state/state-copy.ts';
import { requireCrawlDb } from '../../operations/state/state-folder.ts';
import { domainOf } from '../../operations/system/domain-of.ts';
import { copySegment, isSameSegment, segmentIds, segmentInfo } from '../../store/files/care/segment-care.ts';
import { openLevelCrawlDb } from '../../store/leveldb/open-rows.ts';
import { dumpLines, dumpTexts, importLines, type TransferSummary } from './db-transfer.ts';
import type { DumpLine } from './dump-lines.ts';
import { readAnyDump, type SkippedLine } from './nutch-dump.ts';

/** Export, import, merge and split of whole crawl dbs. */
export interface TransferOperations {
  /** The crawl db as lines of JSON, without line ends. */
  exportDb(): AsyncIterable<string>;
  /** Imports such lines, or those of a Nutch dump, into an empty crawl db, or (`merge`) adds them. */
  importDb(lines: AsyncIterable<string>, mode: 'whole' | 'merge'): Promise<ImportSummary>;
  /** Adds the crawl of another state directory to this one. */
  merge(dir: string): Promise<MergeSummary>;
  /** Splits the crawl db into one for each node. */
  repartition(options: RepartitionOptions): Promise<RepartitionSummary>;
}

export interface ImportSummary extends TransferSummary {
  /** URLs of a foreign dump that cannot be crawled; the log names the first ones. */
  readonly skipped: number;
}

/** Maximum number of skipped URLs in the log. */
const NAMED = 20;

export function transferOperations({
  dir,
  config,
  runtime,
  segments,
  store,
  asked,
}: Pick<CrawlDeps, 'dir' | 'config' | 'runtime' | 'segments' | 'store'> & { asked(): QueryDb }): TransferOperations {
  const { clock, log, onWork } = runtime;
  return {
    async *exportDb() {
      yield* dumpTexts(await asked().asOne(log), clock.now(), onWork);
    },
    async importDb(lines, mode) {
      const { db } = store();
      let skipped = 0;
      const onSkipped = ({ line, url, reason }: SkippedLine): void => {
        if (++skipped <= NAMED) log.warn(`line ${line}: ${url} is skipped: ${reason}`);
      };
      const summary = await importLines(db, readAnyDump(lines, { now: clock.now(), onSkipped }), mode, onWork);
      // Segments may or may not have been copied along on disk.
      await recover(db, segments, log);
      return { ...summary, skipped };
    },
    merge: (other) => mergeState(store().db, dir, other, runtime),
    repartition: (options) => repartition(store().db, { by: config.partition.by, ...options }, runtime),
  };
}

export interface MergeSummary extends TransferSummary {
  readonly from: string;
  /** Segments copied, by their ids here; segments from an earlier merge are not copied again. */
  readonly segments: readonly string[];
}

/**
 * Merges another crawl into this one: its records, outlinks and host facts, and its applied segments for their content.
 * The other state directory is not changed, and a crawl may run there: its state as of now is read. A segment id that
 * both crawls have gets a suffix.
 */
async function mergeState(
  db: CrawlDb,
  dir: string,
  other: string,
  { log, clock, onWork }: { readonly log: Log; readonly clock: Clock; readonly onWork?: OnWork },
): Promise<MergeSummary> {
  const from = resolve(other);
  refuseClusterState(from, 'a merge');
  for (const each of [from, dir]) refuseStoredSegments(each, 'a merge');
  requireCrawlDb(from);
  if (realpathSync(from) === realpathSync(dir)) throw new CrawlError('usage-invalid', `${from} is this crawl itself`);
  return onSnapshot(from, async (snapshot) => {
    const theirs = await openLevelCrawlDb({ dir: join(snapshot, 'db'), log, clock });
    const summary = await importLines(db, dumpLines(theirs, clock.now()), 'merge', onWork).finally(() =>
      theirs.close(),
    );
    const segments: string[] = [];
    const known = new Set((await db.segments()).map(({ id }) => id));
    for (const id of segmentIds(join(from, 'segments'))) {
      const { state, createdAt, urls } = segmentInfo(join(from, 'segments', id));
      if (state !== 'updated') continue;
      const { own, isCopied } = placeFor(join(from, 'segments', id), join(dir, 'segments'), id);
      if (isCopied && known.has(own)) continue;
      // An interrupted merge may have copied it without its row.
      if (!isCopied) copySegment(join(from, 'segments', id), join(dir, 'segments', own), own);
      await db.write({ segments: [{ id: own, state: 'updated', createdAt, urls, applied: urls }] }, { durable: true });
      segments.push(own);
    }
    return { from, segments, ...summary };
  });
}

/** The id, with a suffix if another segment has it. `isCopied`: an earlier merge has copied the segment. */
function placeFor(folder: string, dir: string, id: string): { readonly own: string; readonly isCopied: boolean } {
  for (let number = 0; ; number++) {
    const own = number === 0 ? id : `${id}-m${number}`;
    const place = join(dir, own);
    if (!existsSync(place)) return { own, isCopied: false };
    if (isSameSegment(folder, place)) return { own, isCopied: true };
  }
}

/** Folder of crawl dbs that are being written; "~" cannot be part of a node's name. */
const UNFINISHED = '.unfinished~';

interface RepartitionOptions {
  readonly nodes: readonly string[];
  readonly out: string;
  /** Writes the crawl dbs to a temporary folder, which is deleted. */
  readonly dryRun?: boolean;
}

export interface RepartitionSummary {
  readonly out: string;
  readonly nodes: readonly {
    readonly node: string;
    readonly dir: string;
    readonly records: number;
    readonly hosts: number;
  }[];
}

/**
 * Splits a crawl db into one for each node, `OUT/NODE/db`: the records, outlinks, facts and changes of a host, or of a
 * registrable domain, go to one node. When a node is added later, about 1/(n+1) of the hosts move. The crawl dbs appear
 * once all are whole. Segments stay in place. Rejects with `usage-invalid` for names that cannot be folders, and for a
 * folder that is not empty.
 */
async function repartition(
  db: CrawlDb,
  options: RepartitionOptions & { readonly by: 'host' | 'domain' },
  { log, clock, onWork }: { readonly log: Log; readonly clock: Clock; readonly onWork?: OnWork },
): Promise<RepartitionSummary> {
  const { nodes, out, by } = options;
  const target = resolve(out);
  if (
    nodes.length === 0 ||
    new Set(nodes).size < nodes.length ||
    nodes.some((node) => !/^[\w.-]+$/.test(node) || /^\.+$/.test(node))
  ) {
    throw new CrawlError(
      'usage-invalid',
      `expected different names of nodes, of letters, digits, "_", "-" and ".", got ${nodes.join(',')}`,
    );
  }
  const unfinished = join(target, UNFINISHED);
  if (existsSync(target) && readdirSync(target).some((name) => name !== UNFINISHED)) {
    throw new CrawlError('usage-invalid', `${target} is not empty; the crawl dbs of the nodes go into a new folder`);
  }
  const elsewhere = options.dryRun ? temporaryState('dry-run') : null;
  const place = elsewhere?.dir ?? unfinished;
  try {
    await rm(place, { recursive: true, force: true });
    const nodeOfHost = (host: string): string => nodeOf(partitionOf(by === 'domain' ? domainOf(host) : host), nodes);
    const summaries: RepartitionSummary['nodes'][number][] = [];
    for (const node of nodes) {
      await makeFolder(join(place, node));
      const own = await openLevelCrawlDb({ dir: join(place, node, 'db'), log, clock });
      try {
        const lines = linesOfNode(dumpLines(db, clock.now()), (host) => nodeOfHost(host) === node);
        const { records } = await importLines(own, lines, 'whole', onWork);
        const { hosts } = await own.counters();
        summaries.push({ node, dir: join(target, node), records, hosts });
      } finally {
        await own.close();
      }
    }
    if (elsewhere === null) {
      for (const node of nodes) await rename(join(unfinished, node), join(target, node));
      await rmdir(unfinished);
    }
    return { out: target, nodes: summaries };
  } catch (error) {
    await rm(place, { recursive: true, force: true });
    throw error;
  } finally {
    elsewhere?.close();
  }
}

/** Lines for the hosts of one node; named facts and link families go to all nodes, segments and leases to none. */
async function* linesOfNode(
  lines: AsyncIterable<DumpLine>,
  isOwn: (host: string) => boolean,
): AsyncGenerator<DumpLine> {
  const counts = { records: 0, links: 0, hosts: 0, changes: 0 };
  for await (const line of lines) {
    if ('end' in line) yield { end: counts };
    else if ('record' in line) {
      if (!isOwn(hostOf(line.record.url))) continue;
      counts.records++;
      yield line;
    } else if ('links' in line) {
      if (!isOwn(hostOf(line.links.url))) continue;
      counts.links++;
      yield line;
    } else if ('host' in line) {
      if (!isOwn(line.host.host)) continue;
      counts.hosts++;
      yield line;
    } else if ('change' in line) {
      if (!isOwn(hostOf(line.change.url))) continue;
      counts.changes++;
      yield line;
    } else if ('meta' in line || 'families' in line || 'feed' in line) yield line;
  }
}
