import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { senderOf } from '../../core/domain/crawl/discovery/forwarded-link.ts';
import { CrawlError } from '../../core/domain/errors.ts';
import { DepthCache } from '../../core/domain/url/cache/depth-cache.ts';
import type { SegmentStore } from '../../core/ports/segment-store.ts';
import type { CrawlDeps } from '../../operations/deps.ts';
import { nearPlan } from '../../operations/loop/step-settings.ts';
import { openSegments } from '../../operations/state/open-segments.ts';
import { storeOn } from '../../operations/state/open-store.ts';
import { keptCache } from '../../operations/state/seen-urls.ts';
import { temporaryState } from '../../operations/state/state-copy.ts';
import { copyRows } from '../../store/leveldb/db-snapshot.ts';
import { openLevelCrawlDb } from '../../store/leveldb/open-rows.ts';
import type { Turns } from '../ports/turns.ts';
import { handOver } from './hand-over.ts';
import { openPartition, type PartitionDeps, RECENT_URLS_BITS } from './open-partition.ts';

export interface InTurnDeps extends Pick<PartitionDeps, 'wiring' | 'stores'> {
  readonly turns: Pick<Turns, 'want'>;
  /** Those that have a crawl db. */
  readonly partitions: readonly number[];
  readonly signal: AbortSignal;
}

type Use<Value> = (deps: CrawlDeps, partition: number, signal: AbortSignal) => Promise<Value>;

/**
 * Uses partitions one after the other, each as a crawl of its own, under its lease: a worker that holds it ends its
 * turn first. Links to other partitions are handed over. Batches are fenced, so a process that is killed, or paused for
 * longer than its lease, leaves each partition whole. After the signal no further partition begins.
 */
export async function inTurn<Value>(deps: InTurnDeps, use: Use<Value>): Promise<Value[]> {
  const { wiring, stores, turns, signal } = deps;
  const { config } = wiring;
  const memory = { holder: randomUUID(), recent: new DepthCache(RECENT_URLS_BITS), cacheOf: keptCache(config) };
  const segmentsIn = (dir: string, token: number): SegmentStore => segmentsOf(wiring, dir, token);
  const opening = { wiring, stores, segmentsIn, memoryOf: () => ({ ...memory, endedWell: false }), asksHosts: false };
  return each(deps, async (partition) => {
    const open = await openPartition(opening, partition, signal);
    const woken = new Set([partition]);
    try {
      const value = await use(open.deps, partition, AbortSignal.any([signal, open.lost]));
      const { db } = open.deps.store();
      for (const to of await handOver({ db, partition, inboxOf: stores.inboxOf })) woken.add(to);
      if (open.lost.aborted) throw new CrawlError('lease-lost', 'another process has taken over the partition');
      return value;
    } finally {
      await open.close();
      await turns.want(woken);
    }
  });
}

/** The same on copies of the crawl dbs, while workers go on: nothing that is written is kept. */
export function inCopies<Value>(deps: Omit<InTurnDeps, 'turns'>, use: Use<Value>): Promise<Value[]> {
  const { wiring, stores, signal } = deps;
  const { config, runtime } = wiring;
  const { log } = runtime;
  return each(deps, async (partition) => {
    const copy = temporaryState('dry-run');
    try {
      const rows = stores.look(partition);
      await copyRows(rows, join(copy.dir, 'db'), runtime.onWork).finally(() => rows.close());
      const near = nearPlan(config);
      const db = await openLevelCrawlDb({ dir: join(copy.dir, 'db'), log, ...(near !== null && { near }) });
      const own = { ...wiring, dir: copy.dir, segments: segmentsOf(wiring, stores.dirOf(partition)) };
      const recent = new DepthCache(RECENT_URLS_BITS);
      const place = { partition, placeOf: stores.placeOf, recent };
      const store = await storeOn(db, own, true, { place });
      return await use({ ...own, store: () => store }, partition, signal).finally(() => db.close());
    } finally {
      copy.close();
    }
  });
}

async function each<Value>(
  { wiring, partitions, signal }: Pick<InTurnDeps, 'wiring' | 'partitions' | 'signal'>,
  use: (partition: number) => Promise<Value>,
): Promise<Value[]> {
  const values: Value[] = [];
  for (const [done, partition] of partitions.entries()) {
    if (signal.aborted) break;
    wiring.runtime.onWork({ work: `waiting for partition ${senderOf(partition)}`, done, total: partitions.length });
    values.push(await use(partition));
  }
  return values;
}

/** @param token fencing token of the lease; absent: read-only */
const segmentsOf = ({ config, runtime }: InTurnDeps['wiring'], dir: string, token?: number): SegmentStore =>
  openSegments({ config, dir, log: runtime.log, token: token === undefined ? undefined : () => token });

/** The segments of all partitions as one store, read-only; ids have the partition in front, such as `017/ID`. */
export function joinedSegments(stores: ReadonlyMap<number, SegmentStore>): Pick<SegmentStore, 'list' | 'open'> {
  return {
    async list() {
      const all = await Promise.all(
        [...stores].map(async ([partition, own]) =>
          (await own.list()).map((info) => ({ ...info, id: `${senderOf(partition)}/${info.id}` })),
        ),
      );
      return all.flat();
    },
    async open(id) {
      const [, partition = '', own = ''] = /^(\d{3})\/(.+)$/.exec(id) ?? [];
      const store = stores.get(Number(partition));
      if (own !== '' && store !== undefined) return store.open(own, 'read');
      throw new CrawlError('segment-missing', `there is no segment ${id}: one of a partition was expected, as 017/ID`);
    },
  };
}
