import { existsSync, readdirSync } from 'node:fs';
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
import { temporaryState } from '../../operations/state/state-copy.ts';
import { domainOf } from '../../operations/system/domain-of.ts';
import { openLevelCrawlDb } from '../../store/leveldb/open-rows.ts';
import { dumpLines, importLines } from './db-transfer.ts';
import type { DumpLine } from './dump-lines.ts';

/** Folder of crawl dbs that are being written; "~" cannot be part of a node's name. */
const UNFINISHED = '.unfinished~';

export interface RepartitionOptions {
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
export async function repartition(
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

/** Lines of the hosts of one node; named facts and link families go to all nodes, segments and leases to none. */
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
