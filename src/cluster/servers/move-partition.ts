import { CrawlError, MovedError } from '../../core/domain/errors.ts';
import { type OnWork, UNOBSERVED } from '../../core/ports/work-progress.ts';
import { rowRange } from '../../store/rows/codecs/keys.ts';
import { isAway, type MovedTo, type ServerStore } from '../ports/shared-store.ts';
import { WriteLease } from '../workers/write-lease.ts';
import type { CrawlStore } from './crawl-store.ts';
import { FIRST_SERVER, serverIn, withMove, withServer } from './server-map.ts';

export interface PartitionMove {
  readonly store: CrawlStore;
  /** Name of the crawl. */
  readonly crawl: string;
  /** Three digits. */
  readonly partition: string;
  /** As the map names it. */
  readonly to: string;
  readonly leaseMs: number;
  /** Longest wait for the process that holds the partition, ms. */
  readonly waitMs: number;
  readonly signal: AbortSignal;
  /** Called when another process holds the partition, so that the move has to wait. */
  readonly onWait?: (error: CrawlError) => void;
  readonly onWork?: OnWork | undefined;
}

export interface MoveSummary {
  /** Server that had the partition. */
  readonly from: string;
  /** `finished`: an earlier move that was cut short had already copied it; `present`: it was there. */
  readonly outcome: 'moved' | 'finished' | 'present';
  /** Rows that were copied. */
  readonly rows: number;
}

/** Rows copied in one batch. */
const PAGE = 1_000;
/** Each step finishes one step of an earlier move. */
const STEPS = 4;

const nameOf = ({ crawl, partition }: Pick<PartitionMove, 'crawl' | 'partition'>): string => `${crawl}:${partition}`;

/**
 * Moves a partition to another server, under its lease. The rows are copied to a place that no reader sees. Rows that
 * others appended meanwhile are handed over in the transaction on the old server that leaves the mark there: once it
 * commits, the partition lies on the new server. Any process that meets the mark, and the next call, can do the rest:
 * show the rows, change the map, remove the old rows. A move that is killed before the commit has only made a copy; the
 * next call begins anew.
 *
 * Rejects with `db-locked` if a worker holds the partition for too long, or old rows are read for too long; with
 * `config-invalid` if the other server has such rows of its own; and with an error of a server.
 */
export async function movePartition(move: PartitionMove): Promise<MoveSummary> {
  const { to } = move;
  for (let step = 1; ; step++) {
    const { from, before } = await finishEarlier(move);
    if (from === to) {
      await abandonEarlier(move, from);
      return before === null ? { from, outcome: 'present', rows: 0 } : { from: before, outcome: 'finished', rows: 0 };
    }
    try {
      await requireOtherCrawl(move);
      const { rows, token } = await copyOver(move, from);
      await complete(move, from, { to, token });
      return { from, outcome: 'moved', rows };
    } catch (error) {
      // Another process has moved it while this one waited for its lease.
      if (!(error instanceof MovedError) || step === STEPS) throw error;
    }
  }
}

/**
 * Completes moves that have left the old server. Resolves with the server that has the partition, and the one that had
 * it before, if such a move led there.
 */
async function finishEarlier(move: PartitionMove): Promise<{ readonly from: string; readonly before: string | null }> {
  const { store, partition } = move;
  let before: string | null = null;
  for (let step = 1; ; step++) {
    const map = await store.readMap();
    const from = serverIn(map, partition);
    const where = await store.on(from).moves.whereabouts(nameOf(move));
    if (typeof where === 'object' && step < STEPS) {
      await complete(move, from, where);
      before = from;
      continue;
    }
    if (typeof where === 'object' || where === 'arriving') throw lost(move, from);
    const earlier = map.moving[partition];
    if (earlier?.to !== from) return { from, before };
    await complete(move, earlier.from, await markOn(move, earlier.from, from));
    before = earlier.from;
  }
}

/** The mark on a server, or one that leads to where the partition is. */
async function markOn(move: PartitionMove, server: string, to: string): Promise<MovedTo> {
  const where = await move.store.on(server).moves.whereabouts(nameOf(move));
  return typeof where === 'object' ? where : { to, token: '' };
}

/** What is left to do once the old server has its mark; doing it again changes nothing. */
async function complete(move: PartitionMove, from: string, mark: MovedTo): Promise<void> {
  const { store, partition } = move;
  if (mark.token !== '') await store.on(mark.to).moves.settle(nameOf(move), mark.token);
  await store.changeMap((map) => withServer(map, partition, mark.to));
  await store.on(from).moves.forget(nameOf(move), mark);
  await store.changeMap((map) => withMove(map, partition, null));
}

/** Removes the copy of a move that was cut short before it left the old server. */
async function abandonEarlier(move: PartitionMove, from: string): Promise<void> {
  const { store, partition } = move;
  const earlier = (await store.readMap()).moving[partition];
  if (earlier === undefined) return;
  const { moves } = store.on(earlier.to);
  try {
    if ((await moves.whereabouts(nameOf(move))) === 'arriving') {
      await moves.forget(nameOf(move), { to: from, token: '' });
    }
  } catch (error) {
    // Nobody reads what that server has.
    if (!isAway(error)) throw error;
  }
  await store.changeMap((map) => withMove(map, partition, null));
}

/** If a server has a whole crawl of this name, its partitions are those of that crawl. */
async function requireOtherCrawl({ store, crawl, to }: PartitionMove): Promise<void> {
  if (to === FIRST_SERVER) return;
  const other = await store.on(to).id(crawl);
  if (other === null) return;
  const isSame = other === (await store.on(FIRST_SERVER).id(crawl));
  const what = isSame
    ? `${to} is the server of cluster.store under another URL: name it as cluster.store does`
    : `${to} has another crawl of the name "${crawl}": choose another server, or a database of its own there`;
  throw new CrawlError('config-invalid', what);
}

async function copyOver(move: PartitionMove, from: string): Promise<{ readonly rows: number; readonly token: string }> {
  const { store, partition, to, onWork = UNOBSERVED } = move;
  const [source, target] = [store.on(from), store.on(to)];
  const name = nameOf(move);
  const lease = await takeLease(move, source);
  try {
    const earlier = (await store.readMap()).moving[partition];
    if (earlier !== undefined && earlier.to !== to) await abandonEarlier(move, from);
    const token = await target.moves.receive(name, { id: await source.id(name), token: lease.token, from });
    await store.changeMap((map) => withMove(map, partition, { from, to }));
    const copy = target.rows(name, token);
    let rows = 0;
    const put = async (read: readonly { readonly key: string; readonly value: Buffer }[]): Promise<void> => {
      await copy.batch(read.map(({ key, value }) => ({ type: 'put', key, value })));
      rows += read.length;
      onWork({ work: `copying rows of partition ${partition}`, done: rows, total: null });
    };
    for await (const read of allRows(source, name)) {
      move.signal.throwIfAborted();
      await put(read);
    }
    const { from: gte, to: lt } = rowRange('i');
    await source.moves.leave(name, lease.token, { to, token, range: { gte, lt }, appended: put });
    await copy.close();
    return { rows, token };
  } finally {
    await lease.release();
  }
}

async function* allRows(source: ServerStore, name: string) {
  const rows = source.rows(name, null);
  const iterator = rows.iterator({});
  try {
    for (;;) {
      const read = await iterator.nextv(PAGE);
      if (read.length === 0) return;
      yield read.map(([key, value]) => ({ key, value }));
    }
  } finally {
    await iterator.close();
    await rows.close();
  }
}

/** The lease of a partition on the server that has it, once its holder has ended its turn. */
export async function takeLease(
  move: Omit<PartitionMove, 'store' | 'to' | 'onWork'>,
  store: ServerStore,
): Promise<WriteLease> {
  const { leaseMs, waitMs, signal, onWait } = move;
  const asked = { store, name: nameOf(move), leaseMs, signal };
  try {
    return await WriteLease.take({ ...asked, waitMs: 0 });
  } catch (error) {
    if (!(error instanceof CrawlError) || error.code !== 'db-locked') throw error;
    onWait?.(error);
  }
  return WriteLease.take({ ...asked, waitMs });
}

function lost({ partition }: PartitionMove, server: string): CrawlError {
  const what = `the map of servers says that partition ${partition} lies on ${server || 'the server of cluster.store'}`;
  return new CrawlError('db-corrupt', `${what}, which has not got it: has a server been restored from a backup?`);
}
