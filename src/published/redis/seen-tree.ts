import { randomInt } from 'node:crypto';
import { CrawlError } from '../../core/domain/errors.ts';
import type { BloomPlan } from '../../core/domain/url/bloom/bloom-leaf.ts';
import { BloomTree, type StoredLeaf, type TreeShape } from '../../core/domain/url/bloom/bloom-tree.ts';
import type { RedisClient } from './connect.ts';
import { FOUND } from './scripts.ts';

const LAYOUT = '1';
const NO_BITS = new Uint8Array(0);

/** The tree as this process knows it, for routing; bits and URL sets stay in Redis. */
export interface SharedTree {
  readonly tree: BloomTree;
  readonly version: string;
  readonly leaves: readonly StoredLeaf[];
  readonly splits: number;
  readonly growths: number;
  /** Unlike that of any filter made later under the same name. */
  readonly epoch: string;
  /** Digests ever added. */
  readonly adds: number;
}

/**
 * Reads the tree, or creates it when there is none. Rejects with `CrawlError('config-invalid')` for a filter of another
 * kind.
 */
export async function readTree(
  redis: RedisClient,
  key: string,
  plan: BloomPlan,
  hash: string,
  epoch: string,
): Promise<SharedTree> {
  let row = await redis.hgetall(key);
  if (row.version === undefined) {
    const leaves = Array.from({ length: plan.leaves }, (_, id) => ({ id, size: plan.sizes[0] }));
    const fields = {
      layout: LAYOUT,
      hash,
      epoch,
      plan: JSON.stringify(plan),
      // Unlike that of an earlier tree: a process that knows that tree must not use the bits of this one.
      version: randomInt(2 ** 47),
      nextId: plan.leaves,
      adds: 0,
      splits: 0,
      growths: 0,
      shape: JSON.stringify(leaves.map(({ id }) => id)),
      leaves: JSON.stringify(leaves),
    };
    await redis.eval(FOUND, 1, key, ...Object.entries(fields).flat());
    row = await redis.hgetall(key);
  }
  const refuse = (what: string): never => {
    throw new CrawlError(
      'config-invalid',
      `the filter ${key} in Redis ${what}; choose another seen.redisName or delete it`,
    );
  };
  if (row.layout !== LAYOUT) refuse(`has layout ${row.layout}, this incrawl writes ${LAYOUT}`);
  if (row.hash !== hash) refuse(`has digests by ${row.hash}, this incrawl makes ${hash}`);
  const stored = JSON.parse(row.plan ?? '{}') as BloomPlan;
  if (stored.falsePositiveRate !== plan.falsePositiveRate || stored.sizes.join() !== plan.sizes.join()) {
    refuse(`was made for m = ${stored.bitsPerLeaf}, f = ${stored.falsePositiveRate}`);
  }
  const leaves = JSON.parse(row.leaves ?? '[]') as StoredLeaf[];
  const sizes = new Map(leaves.map(({ id, size }) => [id, size]));
  const shape = JSON.parse(row.shape ?? '[]') as TreeShape[];
  const tree = new BloomTree(stored, {
    shape,
    nextId: Number(row.nextId),
    bits: (id) => ({ size: sizes.get(id) ?? 0, bits: NO_BITS, count: 0 }),
  });
  const counts = { splits: Number(row.splits), growths: Number(row.growths), adds: Number(row.adds) };
  return { tree, version: row.version ?? '', leaves, epoch: row.epoch ?? '', ...counts };
}
