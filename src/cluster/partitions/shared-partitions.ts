import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { senderOf } from '../../core/domain/crawl/discovery/forwarded-link.ts';
import { CrawlError } from '../../core/domain/errors.ts';
import { PARTITIONS, type PartitionBy, type PartitionShape } from '../../core/domain/url/hash/partition.ts';
import {
  type ClusterMark,
  isOfAnotherFolder,
  newCrawlDbId,
  noteSplits,
  partitionByOf,
  readClusterMark,
  writeClusterMark,
} from '../../operations/state/cluster-mark.ts';
import { isHalfImported } from '../../store/rows/format.ts';
import { inboxWrites } from '../../store/rows/forwarding/forwarding-rows.ts';
import type { CrawlStore } from '../servers/crawl-store.ts';
import { requireSharedDb, type SharedPlace } from '../workers/open-shared-db.ts';
import { changeShared } from '../workers/shared-text.ts';
import { WriteLease } from '../workers/write-lease.ts';
import { partitionDir, placing } from './partition-dir.ts';
import type { PartitionHold, PartitionStores } from './partition-stores.ts';

/** How the hosts of a crawl are spread over partitions. Only splits change it. */
export interface SpreadShape extends PartitionShape {
  /** The unit that lies in one partition as a whole. */
  readonly by: PartitionBy;
}

/** The state directory of the whole crawl and its store. */
export interface SpreadPlace extends SharedPlace {
  readonly store: CrawlStore;
  /** `cluster.partitions`; 0: as many as the crawl has. */
  readonly partitions: number;
  /** `cluster.partitionBy`, for a crawl that begins. Default: domain. */
  readonly partitionBy?: PartitionBy;
  /** Place of the segments in an object store; empty: the directory. */
  readonly segments: string;
  /** Set by an import, which starts over if an earlier one was cut short; everything else is refused meanwhile. */
  readonly isImporting?: boolean;
}

/**
 * Partitions of a new crawl, so that some workers have work while hosts of others rest. Each costs a table, and a
 * look-up of a millisecond per minute.
 */
export const DEFAULT_PARTITIONS = 16;

/** Name of the crawl db of a partition. */
export const partitionName = (name: string, partition: number): string => `${name}:${senderOf(partition)}`;

/** Names of the crawl dbs of all partitions; that of a crawl of one partition has the name of the crawl. */
export const partitionNames = ({ name, partitions }: Pick<SpreadPlace, 'name' | 'partitions'>): string[] =>
  partitions === 1 ? [name] : Array.from({ length: partitions }, (_, partition) => partitionName(name, partition));

/**
 * Checks that the state directory and the store belong together, and begins the crawl if neither has it; a crawl of a
 * single partition is begun by its first writer. Rejects with `config-invalid`.
 */
export async function requireSpread(place: SpreadPlace): Promise<SpreadShape> {
  const { store, dir, name, partitions: asked, partitionBy, segments } = place;
  if (asked > PARTITIONS || (asked > 0 && !Number.isInteger(Math.log2(asked)))) {
    throw new CrawlError('config-invalid', `cluster.partitions is ${asked}; expected 1, 2, 4, .. ${PARTITIONS}, or 0`);
  }
  const move = 'or move it: "incrawl db export" there, and "incrawl db import" into a new --dir';
  if (existsSync(join(dir, 'db'))) {
    const what = `${dir} holds a crawl db of its own, and cluster.store names one that workers share`;
    throw new CrawlError('config-invalid', `${what}; use a new --dir, ${move}`);
  }
  const mark = readClusterMark(dir);
  const partitions = await partitionsOf(place, mark);
  if (partitions === 1) {
    await requireSharedDb(place);
    return { partitions, splits: [], by: 'domain' };
  }
  const id = await store.id(name, mark === null ? newCrawlDbId(dir, segments, partitionBy) : '');
  // A directory with a mark may be a copy; its id still tells where its segments are.
  const isElsewhere = id !== null && isOfAnotherFolder(dir, id, segments);
  if (isElsewhere && segments !== '') {
    const what = `the crawl "${name}" in ${store.product} has its segments elsewhere than in ${segments}`;
    throw new CrawlError('config-invalid', `${what}; segments.store must name the same place for all of its processes`);
  }
  if (mark === null && (id === null || isElsewhere)) {
    const what = `the crawl "${name}" in ${store.product} has its segments in another folder than ${dir}`;
    const how = 'or segments.store the place in an object store where they are';
    throw new CrawlError(
      'config-invalid',
      `${what}; --dir must name the folder that all of its processes share, ${how}`,
    );
  }
  if (mark !== null && id !== mark.id) {
    const what = `${dir} belongs to the crawl "${name}", which is not in ${store.product}`;
    throw new CrawlError('config-invalid', `${what}: the configuration names another server, or it has lost its data`);
  }
  const product = store.product;
  if (mark === null && id !== null && !writeClusterMark(dir, { id, name, product, partitions }))
    return requireSpread(place);
  const by = partitionByOf(id ?? '');
  if (partitionBy === 'host' && by === 'domain') {
    const what = `the partitions of the crawl "${name}" hold whole registrable domains, since it began so`;
    throw new CrawlError('config-invalid', `${what}: cluster.partitionBy must be domain, or nothing`);
  }
  await requireImported({ ...place, partitions }, 0);
  const { splits = [] } = await store.readMap();
  noteSplits(dir, mark ?? { id: id ?? '', name, product, partitions }, splits);
  return { partitions: partitions + splits.length, splits, by };
}

/**
 * The number of partitions. For a new crawl it is set here, before its id, by which others recognise a crawl that has
 * begun. Rejects with `config-invalid` if the configuration has another number, because each number puts URLs into
 * different partitions.
 */
async function partitionsOf(place: SpreadPlace, mark: ClusterMark | null): Promise<number> {
  const { store, dir, name, partitions: asked } = place;
  const wanted = asked || DEFAULT_PARTITIONS;
  if (mark === null && wanted > 1 && (await store.id(name)) === null) await store.spread(wanted);
  const known = mark === null ? (await store.readMap()).partitions : (mark.partitions ?? 1);
  const partitions = known ?? wanted;
  if ((mark === null || mark.name === name) && (asked === 0 || asked === partitions)) return partitions;
  const whose =
    mark === null ? `the crawl "${name}" is in ${store.product}` : `${dir} belongs to the crawl "${mark.name}"`;
  const what = `${whose}, and its number of partitions is ${partitions}`;
  throw new CrawlError('config-invalid', `${what}; cluster.name is "${name}", cluster.partitions is ${asked}`);
}

/**
 * At the end of an import, partitions become whole one after the other, the first one last: its mark stands for all.
 * Rejects with `usage-invalid` if that mark or that of the partition is there.
 */
async function requireImported(place: SpreadPlace, partition: number): Promise<void> {
  if (place.isImporting) return;
  for (const each of new Set([partition, 0])) {
    const rows = place.store.rows(partitionName(place.name, each), null);
    const isHalf = await isHalfImported(rows).finally(() => rows.close());
    if (!isHalf) continue;
    const what = `an import into the ${place.partitions} partitions of "${place.name}" was cut short, or is under way`;
    throw new CrawlError('usage-invalid', `${what}: when no other process imports, run "incrawl db import" again`);
  }
}

/**
 * The crawl dbs of the partitions in a shared store; that of a crawl of one partition has the name of the crawl.
 * @param worker id of the worker that holds them
 * @param waitMs longest wait for another holder, ms
 * @param onSplit called before a lease is refused because a partition was split since the shape was read
 */
export function sharedPartitions(
  place: SpreadPlace & SpreadShape,
  leaseMs: number,
  {
    worker,
    waitMs = 0,
    onSplit = () => {},
  }: { readonly worker?: string; readonly waitMs?: number; readonly onSplit?: () => void } = {},
): PartitionStores {
  const { store, partitions, splits, by } = place;
  const placeOf = (partition: number): SpreadPlace =>
    partitions === 1
      ? place
      : { ...place, name: partitionName(place.name, partition), dir: partitionDir(place.dir, partition) };
  return {
    partitions,
    by,
    splits,
    placeOf: placing(by, partitions, splits),
    dirOf: (partition) => placeOf(partition).dir,
    async hold(partition, signal): Promise<PartitionHold> {
      const own = placeOf(partition);
      const lease = await WriteLease.take({ store, name: own.name, leaseMs, waitMs, signal, worker });
      try {
        await requireSharedDb(own);
        if (partitions > 1) {
          await requireImported(place, partition);
          // A split takes place under the lease, so the holder of the lease knows of all earlier splits.
          await requireShape(place, onSplit);
        }
      } catch (error) {
        await lease.release();
        throw error;
      }
      return {
        token: Number(lease.token),
        rows: store.rows(own.name, lease.token),
        isHeld: () => lease.isHeld(),
        lost: lease.lost,
        begun: () => mark(own),
        release: () => lease.release(),
      };
    },
    look: (partition) => store.rows(placeOf(partition).name, null),
    inboxOf: (partition) => ({
      append: async (from, rows) => {
        const writes = inboxWrites(from, rows).flatMap((row) => (row.type === 'put' ? [row] : []));
        await store.append(
          placeOf(partition).name,
          writes.map(({ key, value }) => ({ key, value })),
        );
      },
    }),
    changeShared: (key, change) => changeShared({ store, name: place.name, leaseMs }, key, change),
  };
}

/** Rejects with `db-locked` if a partition was split since the shape was read; the shape must then be read anew. */
export async function requireShape(
  { store, name, splits }: SpreadPlace & PartitionShape,
  onSplit: () => void = () => {},
): Promise<void> {
  const { splits: known = [] } = await store.readMap();
  if (known.length === splits.length) return;
  onSplit();
  const what = `partition ${senderOf(known.at(-1) as number)} of the crawl "${name}" was split meanwhile`;
  throw new CrawlError('db-locked', `${what}: run this again`);
}

/** Marks the folder of a partition as a crawl of its own, so that commands that know no partitions work on it. */
async function mark({ store, name, dir, segments }: SpreadPlace): Promise<void> {
  if (readClusterMark(dir) !== null) return;
  mkdirSync(dir, { recursive: true });
  const id = await store.id(name, newCrawlDbId(dir, segments));
  if (id !== null) writeClusterMark(dir, { id, name, product: store.product });
}
