import { randomInt } from 'node:crypto';
import { CrawlError } from '../../core/domain/errors.ts';
import type { BloomPlan } from '../../core/domain/url/bloom/bloom-leaf.ts';
import { BloomTree, type StoredLeaf, type TreeShape } from '../../core/domain/url/bloom/bloom-tree.ts';
import type { RedisClient } from './connect.ts';

const LAYOUT = '1';
const NO_BITS = new Uint8Array(0);

/** The tree as this process knows it, for routing; bits and URL sets stay in Redis. */
export interface SharedTree {
  readonly tree: BloomTree;
  readonly version: string;
  readonly leaves: readonly StoredLeaf[];
  readonly splits: number;
  readonly growths: number;
  /** Differs from that of any filter made later under the same name. */
  readonly epoch: string;
  /** Digests ever added. */
  readonly adds: number;
}

/**
 * Reads the tree, or creates it if there is none. Rejects with `CrawlError('config-invalid')` for a different kind of
 * filter.
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
      // Differs from that of an earlier tree: a process that knows that tree must not use the bits of this one.
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

/**
 * Lua scripts of the filter of seen URLs, each of which Redis runs atomically. All keys of a filter carry the same hash
 * tag, so they are in one slot of a cluster. Digests are packed, four words of 32 bits, big-endian.
 */

/**
 * KEYS tree, bits. ARGV version, m, k, digests. A string of one `0` or `1` per digest; `stale`: the tree has another
 * version.
 */
export const PROBE = `
if redis.call('HGET', KEYS[1], 'version') ~= ARGV[1] then return 'stale' end
local m, k, digests = tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local answers = {}
for at = 1, #digests, 16 do
  local a, b = struct.unpack('>I4I4', digests, at + 8)
  local bit, step, all = a % m, (b % 2 == 0 and b + 1 or b) % m, '1'
  for i = 1, k do
    if redis.call('GETBIT', KEYS[2], bit) == 0 then all = '0' break end
    bit = (bit + step) % m
  end
  answers[#answers + 1] = all
end
return table.concat(answers)`;

/**
 * KEYS tree, bits, set. ARGV version, m, k, capacity, digests. Number of digests added, from the first on, up to the
 * capacity; -1: the tree has another version. Then the number of digests ever added to the filter.
 */
export const ADD = `
if redis.call('HGET', KEYS[1], 'version') ~= ARGV[1] then return {-1, 0} end
local m, k, digests = tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[5]
local free = tonumber(ARGV[4]) - redis.call('STRLEN', KEYS[3]) / 16
local count = math.min(free, #digests / 16)
if count <= 0 then return {0, 0} end
for i = 0, count - 1 do
  local a, b = struct.unpack('>I4I4', digests, 16 * i + 9)
  local bit, step = a % m, (b % 2 == 0 and b + 1 or b) % m
  for j = 1, k do
    redis.call('SETBIT', KEYS[2], bit, 1)
    bit = (bit + step) % m
  end
end
redis.call('APPEND', KEYS[3], string.sub(digests, 1, 16 * count))
return {count, redis.call('HINCRBY', KEYS[1], 'adds', count)}`;

/**
 * The switch at the end of a replacement. KEYS tree, lock, old bits, old set, then bits and set of each new leaf. ARGV
 * version, token, length of the old set, shape, leaves, field to count. 1: done; 0: the tree has another version; -1:
 * another worker has the lock, the set has grown, or a new leaf has expired.
 */
export const SWITCH = `
if redis.call('HGET', KEYS[1], 'version') ~= ARGV[1] then return 0 end
if redis.call('GET', KEYS[2]) ~= ARGV[2] then return -1 end
if redis.call('STRLEN', KEYS[4]) ~= tonumber(ARGV[3]) then return -1 end
if redis.call('EXISTS', unpack(KEYS, 5)) < #KEYS - 4 then
  redis.call('DEL', KEYS[2])
  return -1
end
for i = 5, #KEYS do redis.call('PERSIST', KEYS[i]) end
redis.call('HSET', KEYS[1], 'shape', ARGV[4], 'leaves', ARGV[5])
redis.call('HINCRBY', KEYS[1], 'version', 1)
redis.call('HINCRBY', KEYS[1], ARGV[6], 1)
redis.call('DEL', KEYS[2], KEYS[3], KEYS[4])
return 1`;

/** KEYS tree. ARGV fields and values. Writes them if there is no tree yet. */
const FOUND = `
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
redis.call('HSET', KEYS[1], unpack(ARGV))
return 1`;
