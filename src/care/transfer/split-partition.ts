import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { copySegments } from '../../cluster/partitions/copied-segments.ts';
import { HOLD_MS } from '../../cluster/partitions/open-spread-db.ts';
import { partitionDir, placing } from '../../cluster/partitions/partition-dir.ts';
import { partitionName, partitionNames, type SpreadShape } from '../../cluster/partitions/shared-partitions.ts';
import type { ServerStore } from '../../cluster/ports/shared-store.ts';
import { type CrawlStore, SPLIT_FACT } from '../../cluster/servers/crawl-store.ts';
import { takeLease } from '../../cluster/servers/move-partition.ts';
import {
  type MoveOptions,
  numberOf,
  type PartitionsOptions,
  withPartitions,
} from '../../cluster/servers/partition-operations.ts';
import { type ServerMap, type ServerSplit, serverIn, withoutSplitting } from '../../cluster/servers/server-map.ts';
import { WriteLease } from '../../cluster/workers/write-lease.ts';
import { senderOf } from '../../core/domain/crawl/discovery/forwarded-link.ts';
import { CrawlError } from '../../core/domain/errors.ts';
import { bitsOf, MOST_BITS, MOST_PARTITIONS } from '../../core/domain/url/hash/partition.ts';
import type { Clock } from '../../core/ports/clock.ts';
import type { CrawlDb } from '../../core/ports/crawl-db.ts';
import type { Log } from '../../core/ports/log.ts';
import { nearPlan } from '../../operations/loop/step-settings.ts';
import { newCrawlDbId } from '../../operations/state/cluster-mark.ts';
import { segmentsPlace } from '../../operations/state/segments-mark.ts';
import { systemClock } from '../../operations/system/clock.ts';
import { rowRange } from '../../store/rows/codecs/keys.ts';
import { hasFormat } from '../../store/rows/format.ts';
import { openCrawlDbOn } from '../../store/rows/open-crawl-db.ts';
import { dumpLines } from './db-transfer.ts';
import { importDivided } from './divided-lines.ts';

export interface SplitOptions extends PartitionsOptions {
  readonly log: Log;
  readonly clock?: Pick<Clock, 'now'>;
}

export interface SplitPartition {
  readonly partition: string;
  /** The new partition. */
  readonly into: string;
  /** `finished`: an earlier split that was cut short had already divided it. */
  readonly outcome: 'split' | 'finished';
  /** What stays, and what is in the new partition; `null`: an earlier split has counted it. */
  readonly stays: Half | null;
  readonly leaves: Half | null;
}

export interface Half {
  readonly records: number;
  readonly hosts: number;
}

/** Pause before a partition with an unfinished round is checked again, ms. */
const LOOK_MS = 500;

/**
 * Splits a partition in two: hosts, or registrable domains, whose next bit of the hash is set go to a new one with the
 * next number. Workers may run. Both halves are written as new crawl dbs that no reader sees, under the lease of the
 * partition; one transaction on its server puts the first half in its place, with a fact that names the new one. By its
 * commit the crawl has the new shape: a process that reads the map of servers finds the split there as one under way,
 * looks for the fact, and completes the map. If it is killed before, it leaves only copies, which the next call
 * removes.
 *
 * Rejects with `usage-invalid` for a partition that cannot be split, with `db-locked` where a worker holds it or its
 * round is unfinished for too long, or it is read for too long; and with an error of a server.
 */
export function splitPartition(
  options: SplitOptions,
  partition: string,
  { signal, isDry, onWait }: MoveOptions,
): Promise<SplitPartition> {
  const { name, leaseMs } = options.config.cluster;
  return withPartitions(options, async (store, shape) => {
    const of = numberOf(partition, name, shape.partitions);
    const split: Split = { ...options, store, shape, of, signal, onWait };
    if (isDry) return { ...viewOf(split, shape.partitions, 'split'), ...(await countHalves(split)) };
    // One at a time: each takes the next number.
    const lock = await WriteLease.take({ store, name: lockOf(name), leaseMs, waitMs: 2 * leaseMs, signal });
    try {
      const finished = await settleEarlier(split);
      if (finished !== null) return viewOf(split, finished, 'finished');
      requireMore(split);
      const { token, ...halves } = await divide(split, lock);
      await store.readMap();
      await store.changeMap((map) => withoutSplitting(map, { token }));
      await wantTurn(split);
      return { ...viewOf(split, shape.partitions, 'split'), ...halves };
    } finally {
      await lock.release();
    }
  });
}

interface Split extends SplitOptions, Pick<MoveOptions, 'signal' | 'onWait'> {
  readonly store: CrawlStore;
  readonly shape: SpreadShape;
  readonly of: number;
}

type Halves = Pick<SplitPartition, 'stays' | 'leaves'>;

/** Name of the lease that a split is made under. */
const lockOf = (crawl: string): string => `${crawl}:splitting`;
/** Name of the rows that are to take the place of those of the partition. */
const stageOf = (crawl: string): string => `${crawl}:split`;

const viewOf = ({ of }: Split, into: number, outcome: SplitPartition['outcome']): SplitPartition => ({
  ...{ partition: senderOf(of), into: senderOf(into), outcome, stays: null, leaves: null },
});

/** Which hosts move to the new partition. */
function leaving({ shape: { by, partitions, splits }, of }: Split): (host: string) => boolean {
  const placeOf = placing(by, partitions + 1, [...splits, of]);
  return (host) => placeOf(host) === partitions;
}

function requireMore({ shape, of }: Split): void {
  const bits = bitsOf(shape)[of] as number;
  if (shape.partitions < MOST_PARTITIONS && bits < MOST_BITS) return;
  const what = bits < MOST_BITS ? `a crawl has at most ${MOST_PARTITIONS} partitions` : 'it was split too often';
  throw new CrawlError('usage-invalid', `partition ${senderOf(of)} cannot be split: ${what}`);
}

/**
 * Resolves with the new partition if an earlier, interrupted split has divided this one; otherwise `null`. After this
 * call, a stalled process that was about to divide another partition can no longer do so.
 */
async function settleEarlier(split: Split): Promise<number | null> {
  const { store, of, config } = split;
  const { splitting } = await store.readMap();
  if (splitting === undefined) return null;
  if (!splitting.isDone) {
    const before = senderOf(splitting.of);
    const { name: crawl, leaseMs } = config.cluster;
    const server = store.on(serverIn(await store.readMap(), before));
    const lease = await takeLease({ ...split, crawl, partition: before, leaseMs, waitMs: HOLD_MS }, server);
    await lease.release();
  }
  const isDone = (await store.readMap()).splitting?.isDone === true;
  await store.changeMap((map) => withoutSplitting(map, splitting));
  if (!isDone) return null;
  if (splitting.of === of) return splitting.into;
  throw new CrawlError('db-locked', `a split of partition ${senderOf(splitting.of)} was finished: run this again`);
}

/**
 * Divides the rows of the partition. Resolves with the token that names this split.
 * @param lock lease that the split is made under
 */
async function divide(split: Split, lock: WriteLease): Promise<Halves & { readonly token: string }> {
  const { store, shape, of, config, signal, log, clock = systemClock, onWork } = split;
  const { name: crawl } = config.cluster;
  const dir = resolve(split.dir);
  const [name, into, stage] = [partitionName(crawl, of), shape.partitions, stageOf(crawl)];
  const map = await store.readMap();
  if (map.moving[senderOf(of)] !== undefined) {
    throw new CrawlError('usage-invalid', `partition ${senderOf(of)} is on its way to another server: end that first`);
  }
  const from = serverIn(map, senderOf(of));
  const server = store.on(from);
  const { lease, db } = await heldBetweenRounds(split, server);
  const copies: { close(): Promise<void> }[] = [db];
  try {
    await copySegments({ config, dir, signal, isHeld: () => lock.isHeld() }, of, into);
    const other = partitionDir(dir, into);
    mkdirSync(other, { recursive: true });
    // The same in every retry: rows that have arrived carry it.
    const [, ...place] = newCrawlDbId(other, segmentsPlace(config)).split('.');
    const seed = `${await server.id(name)}/${into}`;
    const id = [createHash('sha256').update(seed).digest('hex').slice(0, 32), ...place].join('.');
    const token = await server.moves.receive(partitionName(crawl, into), { id, token: lease.token, from });
    const staged = await server.moves.receive(stage, { id: null, token: '0', from });
    await store.changeMap((now) => begun(now, shape, { of, into, token }));
    const near = nearPlan(config);
    const opened = async (as: string, under: string) => {
      const rows = server.rows(as, under);
      const copy = await openCrawlDbOn(rows, { name: `partition ${senderOf(of)}`, log, ...(near && { near }) });
      copies.push(copy);
      return copy;
    };
    const dbs = [await opened(stage, staged), await opened(partitionName(crawl, into), token)] as const;
    const [stays, leaves] = await importDivided(stopping(dumpLines(db, clock.now()), signal), {
      firstChange: (await db.feedEnds()).first,
      ...{ dbs, by: shape.by, leaves: leaving(split), facts: { [SPLIT_FACT]: token }, onWork },
    });
    const { from: gte, to: lt } = rowRange('i');
    const last = server.rows(stage, staged);
    copies.push(last);
    await server.moves.replace(name, lease.token, stage, {
      range: { gte, lt },
      appended: (rows) => last.batch(rows.map(({ key, value }) => ({ type: 'put', key, value }))),
    });
    return { stays, leaves, token };
  } finally {
    for (const each of copies) await each.close().catch(() => {});
    await lease.release();
  }
}

/** A process that stalled for longer than its lease finds the map changed by its successor. */
function begun(map: ServerMap, { splits }: SpreadShape, splitting: ServerSplit): ServerMap {
  if (map.splitting === undefined && (map.splits?.length ?? 0) === splits.length) return { ...map, splitting };
  throw new CrawlError('db-locked', 'another process has begun to split a partition meanwhile: run this again');
}

async function* stopping<Line>(lines: AsyncIterable<Line>, signal: AbortSignal): AsyncGenerator<Line> {
  for await (const line of lines) {
    signal.throwIfAborted();
    yield line;
  }
}

/** Takes the partition when no round is in progress: a fetch list has hosts of both halves. */
async function heldBetweenRounds(
  split: Split,
  server: ServerStore,
): Promise<{ readonly lease: WriteLease; readonly db: CrawlDb }> {
  const { of, config, signal, onWait } = split;
  const { name: crawl, leaseMs } = config.cluster;
  const until = performance.now() + HOLD_MS;
  for (let look = 1; ; look++) {
    const waitMs = Math.max(0, until - performance.now());
    const lease = await takeLease({ crawl, partition: senderOf(of), leaseMs, waitMs, signal, onWait }, server);
    try {
      const db = await openToDivide(split, server);
      if ((await db.segments()).every(({ state }) => state === 'updated')) return { lease, db };
      await db.close();
      const what = `partition ${senderOf(of)} has a round that was not finished`;
      const error = new CrawlError('db-locked', `${what}, which a worker does ("incrawl work")`);
      if (performance.now() >= until) throw error;
      if (look === 1) onWait(error);
    } catch (error) {
      await lease.release();
      throw error;
    }
    await lease.release();
    await delay(LOOK_MS, undefined, { signal });
  }
}

async function openToDivide({ of, config, log }: Split, server: ServerStore): Promise<CrawlDb> {
  const rows = server.rows(partitionName(config.cluster.name, of), null);
  if (await hasFormat(rows)) return openCrawlDbOn(rows, { name: `partition ${senderOf(of)}`, isReadOnly: true, log });
  await rows.close();
  throw new CrawlError('usage-invalid', `partition ${senderOf(of)} is empty: nothing was crawled in it yet`);
}

async function countHalves(split: Split): Promise<Halves> {
  const { store, of } = split;
  requireMore(split);
  const db = await openToDivide(split, store.on(serverIn(await store.readMap(), senderOf(of))));
  try {
    const leaves = leaving(split);
    const halves = [0, 1].map(() => ({ records: 0, hosts: 0 }));
    for await (const { host, urls } of db.hosts()) {
      const half = halves[leaves(host) ? 1 : 0];
      if (half === undefined) continue;
      half.hosts++;
      half.records += urls;
    }
    return { stays: halves[0] ?? null, leaves: halves[1] ?? null };
  } finally {
    await db.close();
  }
}

/** The worker that takes it learns about the split and continues with both. */
async function wantTurn({ store, shape, of, config }: Split): Promise<void> {
  const { name, leaseMs } = config.cluster;
  const turns = store.turns(partitionNames({ name, partitions: shape.partitions }), leaseMs);
  await turns.want([of]).finally(() => turns.close());
}
