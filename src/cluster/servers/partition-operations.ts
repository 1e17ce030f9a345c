import { resolve } from 'node:path';
import type { Config } from '../../core/config/schema.ts';
import { SERVER_URL, withoutCredentials, withoutPassword } from '../../core/config/store-url.ts';
import { senderOf } from '../../core/domain/crawl/discovery/forwarded-link.ts';
import { CrawlError } from '../../core/domain/errors.ts';
import { isoTime } from '../../core/domain/time.ts';
import type { OnWork } from '../../core/ports/work-progress.ts';
import { readClusterMark } from '../../operations/state/cluster-mark.ts';
import { segmentsPlace } from '../../operations/state/segments-mark.ts';
import { HOLD_MS } from '../partitions/open-spread-db.ts';
import { partitionName, requireSpread, type SpreadShape } from '../partitions/shared-partitions.ts';
import { openStoreOf } from '../workers/open-shared-db.ts';
import type { CrawlStore } from './crawl-store.ts';
import { type MoveSummary, movePartition } from './move-partition.ts';
import { FIRST_SERVER, serverIn } from './server-map.ts';

export interface PartitionsOptions {
  readonly config: Config;
  /** State directory of the whole crawl. */
  readonly dir: string;
  readonly onWork?: OnWork;
}

/** Where a partition lies. */
export interface PartitionView {
  /** Three digits. */
  readonly partition: string;
  /** URL without its password. */
  readonly server: string;
  /** Space in tables and indexes, bytes. */
  readonly bytes: number;
  /** Target server of a move that has not ended; `null`: none. */
  readonly movingTo: string | null;
  /** Why its last turn failed, or could not be played; `null`: it succeeded. */
  readonly fault: string | null;
  /** Time of the next attempt, ISO 8601; `null`: there is no fault, or a worker is playing it. */
  readonly nextTryAt: string | null;
}

export interface MovedPartition {
  readonly partition: string;
  readonly from: string;
  readonly to: string;
  /** `finished`: an earlier move that was cut short had already copied it; `present`: it was there. */
  readonly outcome: MoveSummary['outcome'];
  /** Rows that were copied. */
  readonly rows: number;
  /** Space that it took before, bytes. */
  readonly bytes: number;
}

export interface MoveOptions {
  readonly signal: AbortSignal;
  /** Reports where the partition is, and moves nothing. */
  readonly isDry: boolean;
  readonly onWait: (error: CrawlError) => void;
}

/** The partitions of a crawl, with the servers on which they lie. */
export function partitionViews(options: PartitionsOptions): Promise<readonly PartitionView[]> {
  return withPartitions(options, async (store, { partitions }) => {
    const map = await store.readMap();
    const rows = new Map((await store.workers(options.config.cluster.name))?.partitions.map((row) => [row.name, row]));
    const views: PartitionView[] = [];
    for (let number = 0; number < partitions; number++) {
      const partition = senderOf(number);
      const server = serverIn(map, partition);
      const own = partitionName(options.config.cluster.name, number);
      const bytes = await store.on(server).sizeOf(own);
      const move = map.moving[partition];
      const movingTo = move === undefined ? null : shown(options.config, move.to);
      const { fault = null, wantedAt = null, holder = null } = rows.get(own) ?? {};
      const nextTryAt = fault === null || holder !== null || wantedAt === null ? null : isoTime(wantedAt);
      views.push({ partition, server: shown(options.config, server), bytes, movingTo, fault, nextTryAt });
    }
    return views;
  });
}

/**
 * Moves a partition to another server. Rejects as `movePartition` does, and with `usage-invalid` if there is no such
 * partition, or the target is not the URL of a server.
 */
export function movePartitionTo(
  options: PartitionsOptions,
  asked: { readonly partition: string; readonly url: string },
  { signal, isDry, onWait }: MoveOptions,
): Promise<MovedPartition> {
  const { config, onWork } = options;
  const { name, leaseMs } = config.cluster;
  if (!SERVER_URL.test(asked.url)) {
    const wanted = 'expected the URL of a PostgreSQL, such as postgres://crawler@10.0.0.8/crawl';
    throw new CrawlError('usage-invalid', `${withoutPassword(asked.url)} names no server: ${wanted}`);
  }
  const isKnown = [config.cluster.store, ...config.cluster.servers].includes(asked.url);
  if (!isKnown && asked.url !== withoutCredentials(asked.url)) {
    const how = 'leave it out here, and set it by PGPASSWORD, in ~/.pgpass or in cluster.servers of all machines';
    throw new CrawlError(
      'usage-invalid',
      `${withoutPassword(asked.url)} has a password, which workers need too: ${how}`,
    );
  }
  return withPartitions(options, async (store, { partitions }) => {
    const number = numberOf(asked.partition, name, partitions);
    const partition = senderOf(number);
    const to = store.named(asked.url);
    const before = serverIn(await store.readMap(), partition);
    const bytes = await store.on(before).sizeOf(partitionName(name, number));
    const viewOf = ({ from, outcome, rows }: MoveSummary): MovedPartition => {
      return { partition, from: shown(config, from), to: shown(config, to), outcome, rows, bytes };
    };
    if (isDry) {
      await store.on(to).now(name);
      return viewOf({ from: before, outcome: before === to ? 'present' : 'moved', rows: 0 });
    }
    return viewOf(
      await movePartition({
        ...{ store, crawl: name, partition, to, leaseMs, waitMs: HOLD_MS },
        ...{ signal, onWait, onWork },
      }),
    );
  });
}

/** The number of a partition as people write it. Throws `usage-invalid` if the crawl has no such partition. */
export function numberOf(partition: string, crawl: string, partitions: number): number {
  const number = /^\d{1,3}$/.test(partition) ? Number(partition) : partitions;
  if (number < partitions) return number;
  const known = `the crawl "${crawl}" has ${partitions}, 000 to ${senderOf(partitions - 1)}`;
  throw new CrawlError('usage-invalid', `there is no partition ${partition}: ${known}`);
}

/** Opens the servers of a crawl in partitions. Rejects with `usage-invalid` if the directory has no such crawl. */
export async function withPartitions<Value>(
  { config, dir }: Pick<PartitionsOptions, 'config' | 'dir'>,
  use: (store: CrawlStore, shape: SpreadShape) => Promise<Value>,
): Promise<Value> {
  const folder = resolve(dir);
  const partitions = readClusterMark(folder)?.partitions;
  if (partitions === undefined) {
    const how = 'a crawl in partitions begins with "incrawl work" and cluster.store';
    throw new CrawlError('usage-invalid', `${dir} holds no crawl in partitions: ${how}`);
  }
  const store = await openStoreOf(config, folder);
  try {
    const place = { store, dir: folder, name: config.cluster.name, segments: segmentsPlace(config) };
    return await use(store, await requireSpread({ ...place, partitions }));
  } finally {
    await store.close();
  }
}

const shown = ({ cluster }: Config, server: string): string =>
  server === FIRST_SERVER ? withoutCredentials(cluster.store) : server;
