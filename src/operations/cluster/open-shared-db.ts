import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { copyRows } from '../../adapters/leveldb/copy-rows.ts';
import { connectRedis, type RedisClient } from '../../adapters/redis/connect.ts';
import { crawlDbId, isCrawlDbWhole } from '../../adapters/redis/crawl-db-id.ts';
import { evictionPolicy } from '../../adapters/redis/eviction.ts';
import { RedisRows } from '../../adapters/redis/rows.ts';
import { WriteLease } from '../../adapters/redis/write-lease.ts';
import { openCrawlDbOn } from '../../adapters/rows/open-crawl-db.ts';
import type { RowsCrawlDb } from '../../adapters/rows/rows-crawl-db.ts';
import type { Config } from '../../config/schema.ts';
import { CrawlError } from '../../domain/errors.ts';
import type { Log } from '../../ports/log.ts';
import { nearPlan } from '../dedup/dedup-settings.ts';
import { configuredFilter } from '../state/seen-urls.ts';
import {
  type ClusterMark,
  isOfAnotherFolder,
  newCrawlDbId,
  readClusterMark,
  writeClusterMark,
} from './cluster-mark.ts';

export interface SharedDbOptions {
  readonly config: Config;
  /** State directory, the same for all processes of the crawl. */
  readonly dir: string;
  readonly log: Log;
  /** `look`: to read, beside a process that writes. */
  readonly access: 'write' | 'look';
  /** Longest wait for another writer, ms; default: twice the lease, which a dead writer holds until it ends. */
  readonly waitMs?: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Opens the crawl db that the configuration says is in Redis. Rejects with `CrawlError`: `db-locked` when another
 * process writes it for too long, `redis-unreachable`, `config-invalid` when directory and Redis do not belong
 * together.
 */
export async function openSharedDb(options: SharedDbOptions): Promise<RowsCrawlDb> {
  const { config, dir, log, signal } = options;
  const { redis: url, name, leaseMs } = config.cluster;
  if (url === '') throw noServer(dir);
  if (existsSync(join(dir, 'db'))) {
    throw new CrawlError(
      'config-invalid',
      `${dir} holds a crawl db of its own, and cluster.redis names another one; use a new --dir, or move it with ` +
        '"incrawl export-db" and "incrawl import-db"',
    );
  }
  const redis = await connectRedis(url);
  try {
    const isNew = !(await requireSharedDb(redis, dir, name));
    const mayWrite = options.access === 'write' || isNew;
    if (mayWrite) await warnOfEviction(redis, name, log);
    const waitMs = options.waitMs ?? 2 * leaseMs;
    const lease = mayWrite ? await WriteLease.take({ redis, name, leaseMs, waitMs, signal }) : null;
    const near = nearPlan(config);
    const filter = mayWrite ? await configuredFilter(config) : undefined;
    const db = await openCrawlDbOn(new RedisRows({ redis, name, lease }), {
      name: `"${name}" in Redis`,
      isReadOnly: !mayWrite,
      log,
      ...(filter === undefined ? {} : { seenFilter: filter }),
      ...(near === null ? {} : { near }),
    });
    try {
      const id = await crawlDbId(redis, name, isNew ? newCrawlDbId(dir) : '');
      await requireOwn(db, dir, name, id);
    } catch (error) {
      await db.close();
      throw error;
    }
    return db;
  } catch (error) {
    redis.disconnect();
    throw error;
  }
}

/** Copies the rows of this moment into a new LevelDB folder. Rejects as {@link openSharedDb} does. */
export async function copySharedDb(
  { config, dir }: Pick<SharedDbOptions, 'config' | 'dir'>,
  to: string,
): Promise<void> {
  const { redis: url, name } = config.cluster;
  if (url === '') throw noServer(dir);
  const redis = await connectRedis(url);
  const rows = new RedisRows({ redis, name, lease: null });
  try {
    await requireSharedDb(redis, dir, name);
    await copyRows(rows, to);
  } finally {
    await rows.close();
  }
}

/** Logs that have the warning: a worker opens the crawl db for each job. */
const warned = new WeakSet<Log>();

async function warnOfEviction(redis: RedisClient, name: string, log: Log): Promise<void> {
  if (warned.has(log)) return;
  const policy = await evictionPolicy(redis, `{${name}}:db:id`);
  if (policy === null) return;
  warned.add(log);
  log.warn(
    'Redis evicts keys when its memory is full, which destroys the crawl: set its maxmemory-policy to noeviction',
    { policy },
  );
}

function lostData(dir: string, name: string): CrawlError {
  return new CrawlError(
    'config-invalid',
    `${dir} belongs to the crawl "${name}", which is not in Redis: cluster.redis names another server, or the server ` +
      'has lost its data',
  );
}

function noServer(dir: string): CrawlError {
  return new CrawlError('config-invalid', `the crawl db of ${dir} is in Redis: cluster.redis must name the server`);
}

/**
 * Checks that state directory and Redis belong together: segments lie in the directory, the crawl db in Redis, and one
 * without the other would lose pages. Rejects with `CrawlError('config-invalid')` when they do not. False: neither has
 * this crawl yet.
 */
export async function requireSharedDb(redis: RedisClient, dir: string, name: string): Promise<boolean> {
  // The mark is written after the id, and read before it: so a crawl that another process begins at this moment is not
  // taken for a lost one.
  const mark = readClusterMark(dir);
  const id = await crawlDbId(redis, name);
  if (mark !== null) requireSame(mark, dir, name, id);
  if (id !== null && !(await isCrawlDbWhole(redis, name))) {
    throw new CrawlError(
      'config-invalid',
      `Redis has lost rows of the crawl "${name}": keys were evicted (set maxmemory-policy to noeviction) or deleted`,
    );
  }
  return id !== null || mark !== null;
}

function requireSame(mark: ClusterMark, dir: string, name: string, id: string | null): void {
  if (mark.name !== name) {
    throw new CrawlError('config-invalid', `${dir} belongs to the crawl "${mark.name}", and cluster.name is "${name}"`);
  }
  if (id === null) throw lostData(dir, name);
  if (mark.id !== id) {
    throw new CrawlError('config-invalid', `${dir} and Redis hold different crawls of the name "${name}"`);
  }
}

/** Writes the mark of a directory without one, for the crawl db just opened. */
async function requireOwn(db: RowsCrawlDb, dir: string, name: string, id: string | null): Promise<void> {
  const mark = readClusterMark(dir);
  if (mark !== null) return requireSame(mark, dir, name, id);
  if (id === null) throw lostData(dir, name);
  // A new crawl that was killed before its mark was written has no segments, and its id names this directory.
  if (isOfAnotherFolder(dir, id) || (await db.segments()).length > 0) {
    throw new CrawlError(
      'config-invalid',
      `the crawl "${name}" in Redis has its segments in another folder than ${dir}; --dir must name the folder that ` +
        'all of its processes share',
    );
  }
  if (!writeClusterMark(dir, { id, name })) await requireOwn(db, dir, name, id);
}
