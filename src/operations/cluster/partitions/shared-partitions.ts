import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { inboxWrites } from '../../../adapters/rows/forwarding/forwarding-rows.ts';
import { senderOf } from '../../../domain/crawl/discovery/forwarded-link.ts';
import { CrawlError } from '../../../domain/errors.ts';
import { PARTITIONS } from '../../../domain/url/hash/partition.ts';
import type { SharedStore } from '../../../ports/cluster/shared-store.ts';
import { isOfAnotherFolder, newCrawlDbId, readClusterMark, writeClusterMark } from '../cluster-mark.ts';
import { WriteLease } from '../write-lease.ts';
import { partitionDir } from './open-partition.ts';
import type { PartitionHold, PartitionStores } from './partition-stores.ts';

export interface SpreadPlace {
  readonly store: SharedStore;
  /** State directory of the whole crawl. */
  readonly dir: string;
  /** `cluster.name` and `cluster.partitions`. */
  readonly name: string;
  readonly partitions: number;
}

/** Name of the crawl db of a partition; in a Redis Cluster each may lie on another node. */
export const partitionName = (name: string, partition: number): string => `${name}:${senderOf(partition)}`;

/**
 * Checks that the state directory and the store belong together, and begins the crawl where neither has it. Rejects
 * with `config-invalid`.
 */
export async function requireSpread({ store, dir, name, partitions }: SpreadPlace): Promise<void> {
  if (partitions > PARTITIONS || !Number.isInteger(Math.log2(partitions))) {
    throw new CrawlError('config-invalid', `cluster.partitions is ${partitions}; expected 1, 2, 4, .. ${PARTITIONS}`);
  }
  const move = 'or move it: "incrawl export-db" there, and "incrawl import-db" into a new --dir';
  if (existsSync(join(dir, 'db'))) {
    const what = `${dir} holds a crawl db of its own, and cluster.partitions asks for ${partitions} in a shared store`;
    throw new CrawlError('config-invalid', `${what}; use a new --dir, ${move}`);
  }
  const mark = readClusterMark(dir);
  if (mark !== null && mark.partitions === undefined) {
    const what = `${dir} belongs to the crawl "${mark.name}", which has one crawl db in ${mark.product}`;
    throw new CrawlError('config-invalid', `${what}: set cluster.partitions to 1, ${move}`);
  }
  if (mark !== null && (mark.partitions !== partitions || mark.name !== name)) {
    const what = `${dir} belongs to the crawl "${mark.name}" of ${mark.partitions} partitions`;
    throw new CrawlError('config-invalid', `${what}; cluster.name is "${name}", cluster.partitions is ${partitions}`);
  }
  const id = await store.id(name, mark === null ? newCrawlDbId(dir) : '');
  if (mark === null && (id === null || isOfAnotherFolder(dir, id))) {
    const what = `the crawl "${name}" in ${store.product} has its segments in another folder than ${dir}`;
    throw new CrawlError('config-invalid', `${what}; --dir must name the folder that all of its processes share`);
  }
  if (mark !== null && id !== mark.id) {
    const what = `${dir} belongs to the crawl "${name}", which is not in ${store.product}`;
    throw new CrawlError('config-invalid', `${what}: the configuration names another server, or it has lost its data`);
  }
  const product = store.product;
  if (mark === null && id !== null && !writeClusterMark(dir, { id, name, product, partitions }))
    await requireSpread({ store, dir, name, partitions });
}

/** The crawl dbs of the partitions in a shared store. */
export function sharedPartitions({ store, dir, name, partitions }: SpreadPlace, leaseMs: number): PartitionStores {
  return {
    partitions,
    async hold(partition, signal): Promise<PartitionHold> {
      const own = partitionName(name, partition);
      const lease = await WriteLease.take({ store, name: own, leaseMs, waitMs: 0, signal });
      try {
        await markPartition(store, own, partitionDir(dir, partition));
      } catch (error) {
        await lease.release();
        throw error;
      }
      return {
        rows: store.rows(own, lease.token),
        isHeld: () => lease.isHeld(),
        lost: lease.lost,
        release: () => lease.release(),
      };
    },
    look: (partition) => store.rows(partitionName(name, partition), null),
    inboxOf: (partition) => ({
      append: async (from, rows) => {
        const writes = inboxWrites(from, rows).flatMap((row) => (row.type === 'put' ? [row] : []));
        await store.append(
          partitionName(name, partition),
          writes.map(({ key, value }) => ({ key, value })),
        );
      },
    }),
  };
}

/** A partition has a mark in its folder, as a crawl of its own: so commands that know no partitions work on it. */
async function markPartition(store: SharedStore, name: string, dir: string): Promise<void> {
  if (readClusterMark(dir) !== null) return;
  mkdirSync(dir, { recursive: true });
  const id = await store.id(name, newCrawlDbId(dir));
  if (id !== null) writeClusterMark(dir, { id, name, product: store.product });
}
