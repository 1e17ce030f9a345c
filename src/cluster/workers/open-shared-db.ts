// cluster/workers/: a crawl that several workers share.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Config } from '../../core/config/schema.ts';
import { CrawlError } from '../../core/domain/errors.ts';
import type { Log } from '../../core/ports/log.ts';
import { nearPlan } from '../../operations/loop/step-settings.ts';
import {
  type ClusterMark,
  isOfAnotherFolder,
  newCrawlDbId,
  readClusterMark,
  refuseSpread,
  writeClusterMark,
} from '../../operations/state/cluster-mark.ts';
import { configuredFilter } from '../../operations/state/seen-urls.ts';
import { copyRows } from '../../store/leveldb/db-snapshot.ts';
import { openCrawlDbOn } from '../../store/rows/open-crawl-db.ts';
import type { RowsCrawlDb } from '../../store/rows/rows-crawl-db.ts';
import type { SharedStore } from '../ports/shared-store.ts';
import { type CrawlStore, openCrawlStore } from '../servers/crawl-store.ts';
import { partOfName } from '../servers/server-map.ts';
import { WriteLease } from './write-lease.ts';

export interface SharedDbOptions {
  readonly config: Config;
  /** State directory, the same for all processes of the crawl. */
  readonly dir: string;
  readonly log: Log;
  /** `look`: read-only, beside a process that writes. */
  readonly access: 'write' | 'look';
  /** Longest wait for another writer, ms; default: twice the lease, since the lease of a dead writer has to expire. */
  readonly waitMs?: number;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Opens the crawl db of a configuration that places it in a shared store. Rejects with `CrawlError`: `db-locked` if
 * another process writes it for too long, an error of the store, `config-invalid` if directory and store do not belong
 * together.
 */
export async function openSharedDb(options: SharedDbOptions): Promise<RowsCrawlDb> {
  const { config, dir, log, signal } = options;
  const { name, leaseMs } = config.cluster;
  requireServer(config, dir);
  refuseSpread(dir);
  if (existsSync(join(dir, 'db'))) {
    throw new CrawlError(
      'config-invalid',
      `${dir} holds a crawl db of its own, and cluster.store names another one; use a new --dir, or move it with ` +
        '"incrawl db export" and "incrawl db import"',
    );
  }
  const store = await openCrawlStore(config.cluster);
  let lease: WriteLease | null = null;
  try {
    const place: SharedPlace = { store, dir, name };
    await refuseUnjoined(store, place);
    const isNew = !(await requireSharedDb(place));
    if (isNew) refusePartitions(config);
    const mayWrite = options.access === 'write' || isNew;
    if (mayWrite) await warnOfDanger(place, log);
    const waitMs = options.waitMs ?? 2 * leaseMs;
    if (mayWrite) lease = await WriteLease.take({ store, name, leaseMs, waitMs, signal });
    const near = nearPlan(config);
    const filter = mayWrite ? await configuredFilter(config) : undefined;
    const db = await openCrawlDbOn(store.rows(name, lease?.token ?? null), {
      name: `"${name}" in ${store.product}`,
      isReadOnly: !mayWrite,
      log,
      ...(filter === undefined ? {} : { seenFilter: filter }),
      ...(near === null ? {} : { near }),
    });
    const close = db.close.bind(db);
    try {
      await requireOwn(db, place, await store.id(name, isNew ? newCrawlDbId(dir) : ''));
    } catch (error) {
      await close();
      throw error;
    }
    return Object.assign(db, { close: () => close().finally(() => leave(store, lease)) });
  } catch (error) {
    await leave(store, lease);
    throw error;
  }
}

/**
 * A crawl that begins as one crawl db can never be divided, so it does not begin if several partitions are configured.
 */
function refusePartitions({ cluster: { name, partitions } }: Config): void {
  if (partitions <= 1) return;
  throw new CrawlError(
    'config-invalid',
    `cluster.partitions is ${partitions}, and this command works on one crawl db: begin the crawl "${name}" with ` +
      '"incrawl inject" or "incrawl work", or set cluster.partitions to 1',
  );
}

/** A crawl in partitions has no rows under its own name; that does not mean that they are lost. */
async function refuseUnjoined(store: CrawlStore, { dir, name }: Pick<SharedPlace, 'dir' | 'name'>): Promise<void> {
  if (readClusterMark(dir) !== null || partOfName(name) !== null) return;
  const { partitions } = await store.readMap();
  if (partitions === undefined) return;
  const what = `the crawl "${name}" in ${store.product} has ${partitions} partitions, and ${dir} does not belong to it yet`;
  const how = `"incrawl work" joins it, as does "incrawl inject" where cluster.partitions is ${partitions}`;
  throw new CrawlError('usage-invalid', `${what}: ${how}`);
}

async function leave(store: SharedStore, lease: WriteLease | null): Promise<void> {
  await lease?.release();
  await store.close();
}

/** Copies the rows of this moment into a new LevelDB folder. Rejects as {@link openSharedDb} does. */
export async function copySharedDb(
  { config, dir }: Pick<SharedDbOptions, 'config' | 'dir'>,
  to: string,
): Promise<void> {
  const { name } = config.cluster;
  refuseSpread(dir);
  const store = await openStoreOf(config, dir);
  try {
    await requireSharedDb({ store, dir, name });
    await copyRows(store.rows(name, null), to);
  } finally {
    await store.close();
  }
}

/** A state directory and the rows that belong to it. */
export interface SharedPlace {
  readonly store: SharedStore;
  readonly dir: string;
  readonly name: string;
}

/** The servers of a directory whose crawl db is in a shared store. Rejects with `config-invalid` if none is named. */
export async function openStoreOf(config: Config, dir: string): Promise<CrawlStore> {
  requireServer(config, dir);
  return openCrawlStore(config.cluster);
}

function requireServer(config: Config, dir: string): void {
  if (config.cluster.store !== '') return;
  throw new CrawlError(
    'config-invalid',
    `the crawl db of ${dir} is in a shared store: cluster.store must name the server`,
  );
}

/** Logs that already have the warning. */
const warned = new WeakSet<Log>();

/** Warns, once per log, of what the server may do to the rows. */
export async function warnOfDanger({ store, name }: Pick<SharedPlace, 'store' | 'name'>, log: Log): Promise<void> {
  if (warned.has(log)) return;
  const danger = await store.danger(name);
  if (danger === null) return;
  warned.add(log);
  log.warn(danger);
}

function lostData({ store: { product }, dir, name }: SharedPlace): CrawlError {
  return new CrawlError(
    'config-invalid',
    `${dir} belongs to the crawl "${name}", which is not in ${product}: cluster.store names another server, or the server ` +
      'has lost its data',
  );
}

/**
 * Checks that state directory and store belong together: segments lie in the directory, the crawl db in the store, and
 * one without the other would lose pages. Rejects with `CrawlError('config-invalid')` if they do not. False: neither
 * has this crawl yet.
 */
export async function requireSharedDb(place: SharedPlace): Promise<boolean> {
  const { store, dir, name } = place;
  // The mark is written after the id, and read before it. So a crawl that another process begins at this moment is
  // not taken for a lost one.
  const mark = readClusterMark(dir);
  const id = await store.id(name);
  if (mark !== null) requireSame(mark, place, id);
  if (id !== null && !(await store.isWhole(name))) {
    const what = `${store.product} has lost rows of the crawl "${name}": its tables were emptied or deleted`;
    throw new CrawlError('config-invalid', what);
  }
  return id !== null || mark !== null;
}

function requireSame(mark: ClusterMark, place: SharedPlace, id: string | null): void {
  const { store, dir, name } = place;
  if (mark.name !== name) {
    throw new CrawlError('config-invalid', `${dir} belongs to the crawl "${mark.name}", and cluster.name is "${name}"`);
  }
  if (id === null) throw lostData(place);
  if (mark.id !== id) {
    const both = `${dir} and ${store.product} hold different crawls of the name "${name}"`;
    throw new CrawlError('config-invalid', both);
  }
}

/** Writes the mark of a directory that has none, for the crawl db just opened. */
async function requireOwn(db: RowsCrawlDb, place: SharedPlace, id: string | null): Promise<void> {
  const { store, dir, name } = place;
  const mark = readClusterMark(dir);
  if (mark !== null) return requireSame(mark, place, id);
  if (id === null) throw lostData(place);
  // A new crawl that was killed before its mark was written has no segments, and its id names this directory.
  if (isOfAnotherFolder(dir, id) || (await db.segments()).length > 0) {
    throw new CrawlError(
      'config-invalid',
      `the crawl "${name}" in ${store.product} has its segments in another folder than ${dir}; --dir must name the ` +
        'folder that all of its processes share',
    );
  }
  if (!writeClusterMark(dir, { id, name, product: store.product })) await requireOwn(db, place, id);
}
