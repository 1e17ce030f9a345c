import { partitionDir, placing } from '../../../src/cluster/partitions/partition-dir.ts';
import type { PartitionHold, PartitionStores } from '../../../src/cluster/partitions/partition-stores.ts';
import { CrawlError } from '../../../src/core/domain/errors.ts';
import type { PartitionBy } from '../../../src/core/domain/url/hash/partition.ts';
import type { OrderedRows, RowBatch, RowIterator, RowWrite } from '../../../src/core/ports/ordered-rows.ts';
import { rowRange } from '../../../src/store/rows/codecs/keys.ts';
import { inboxWrites } from '../../../src/store/rows/forwarding/forwarding-rows.ts';
import { Fate } from '../crawl/fate.ts';
import { STATE_DIR } from '../crawl/process.ts';
import { SimulatedRows } from '../crawl/rows.ts';
import type { VirtualClock } from '../crawl/virtual-clock.ts';
import type { WorkerLife } from './worker-life.ts';

interface Lease {
  token: number;
  until: number;
}

/** Short: what a worker does just before its end, and the next one just after, then meets the delays of hosts. */
export const LEASE_MS = 4_000;

/** A server with the rows of all partitions. It never dies; workers do, within a batch or beside it. */
export class SimulatedStores {
  readonly #by: PartitionBy;
  readonly #clock: VirtualClock;
  readonly #random: () => number;
  readonly #rows: SimulatedRows[];
  readonly #leases: Lease[];
  readonly #splits: number[] = [];
  /** The partition whose rows are about to be exchanged: nobody appends to them. */
  #exchanged: number | null = null;
  readonly #shared = new Map<string, string>();
  takeOvers = 0;

  constructor(partitions: number, by: PartitionBy, clock: VirtualClock, random: () => number) {
    this.#by = by;
    this.#clock = clock;
    this.#random = random;
    const fate = new Fate(() => clock.now());
    this.#rows = Array.from({ length: partitions }, () => new SimulatedRows({ fate, clock, random }));
    this.#leases = Array.from({ length: partitions }, () => ({ token: 0, until: Number.NEGATIVE_INFINITY }));
  }

  rows(partition: number): OrderedRows {
    return (this.#rows[partition] as SimulatedRows).open();
  }

  /** When the lease on a partition ends unless it is kept, ms since the epoch. */
  heldUntil(partition: number): number {
    return (this.#leases[partition] as Lease).until;
  }

  get partitions(): number {
    return this.#rows.length;
  }

  get splits(): readonly number[] {
    return this.#splits;
  }

  placeOf(host: string): number {
    return placing(this.#by, this.#rows.length, this.#splits)(host);
  }

  /** As one worker uses it, with the shape of now. */
  of(life: WorkerLife, onSplit: () => void): PartitionStores {
    const splits = [...this.#splits];
    const partitions = this.#rows.length;
    return {
      partitions,
      by: this.#by,
      splits,
      placeOf: placing(this.#by, partitions, splits),
      dirOf: (partition) => partitionDir(STATE_DIR, partition),
      hold: async (partition) => {
        const hold = await this.#hold(partition, life);
        if (splits.length === this.#splits.length) return hold;
        onSplit();
        await hold.release();
        return refuse('db-locked');
      },
      look: (partition) => this.#gated(partition, life, () => refuse('db-locked')),
      inboxOf: (partition) => ({
        append: async (from, rows) => {
          await life.gate();
          // Each worker puts the seeds first: blows that fell there would spare what is handed over.
          const isStruck = !from.startsWith('seeds-') && life.isStruck('append');
          // Before the rows arrive, or after: one that is dead sends nothing more, one that stood still goes on.
          if (isStruck && this.#random() < 0.5) await life.gate();
          while (this.#exchanged === partition) await this.#clock.sleep(1);
          await this.rows(partition).batch(inboxWrites(from, rows));
          await life.gate();
        },
      }),
      changeShared: async (key, change) => {
        await life.gate();
        const { text, answer } = change(this.#shared.get(key) ?? null);
        if (text !== null) this.#shared.set(key, text);
        await life.gate();
        return answer;
      },
    };
  }

  /**
   * Splits a partition that nobody holds, and that has no round under way. False: somebody does, or it has.
   * @param divide writes the halves of its rows
   */
  async split(partition: number, divide: (rows: OrderedRows, into: readonly OrderedRows[]) => Promise<boolean>) {
    const lease = this.#leases[partition] as Lease;
    const clock = this.#clock;
    if (lease.until > clock.now()) return false;
    lease.token++;
    lease.until = Number.POSITIVE_INFINITY;
    try {
      const fate = new Fate(() => clock.now());
      const [stays, leaves] = [0, 1].map(() => new SimulatedRows({ fate, clock, random: this.#random }));
      if (stays === undefined || leaves === undefined) return false;
      const rows = this.rows(partition);
      if (!(await divide(rows, [stays.open(), leaves.open()]))) return false;
      this.#exchanged = partition;
      const { from: gte, to: lt } = rowRange('i');
      const last = await rows.iterator({ gte, lt }).all();
      await stays.open().batch(last.map(([key, value]) => ({ type: 'put', key, value })));
      this.#rows[partition] = stays;
      this.#rows.push(leaves);
      this.#leases.push({ token: 0, until: Number.NEGATIVE_INFINITY });
      this.#splits.push(partition);
      return true;
    } finally {
      this.#exchanged = null;
      lease.until = Number.NEGATIVE_INFINITY;
    }
  }

  async #hold(partition: number, life: WorkerLife): Promise<PartitionHold> {
    await life.gate();
    const lease = this.#leases[partition] as Lease;
    const clock = this.#clock;
    if (lease.until > clock.now()) refuse('db-locked');
    if (lease.until !== Number.NEGATIVE_INFINITY) this.takeOvers++;
    const token = ++lease.token;
    lease.until = clock.now() + LEASE_MS;
    let keptAt = clock.now();
    const lost = new AbortController();
    const end = clock.every(LEASE_MS / 3, () => {
      if (!life.isRunning) return;
      if (lease.token !== token) {
        end();
        lost.abort();
      } else {
        keptAt = clock.now();
        lease.until = keptAt + LEASE_MS;
      }
    });
    return {
      token,
      rows: this.#gated(partition, life, () => lease.token === token || refuse('lease-lost')),
      // What a worker still does in the moment in which it is struck counts as done when it runs again.
      isHeld: () => life.isRunning && !lost.signal.aborted && clock.now() - keptAt < LEASE_MS,
      lost: lost.signal,
      begun: async () => {},
      release: async () => {
        await life.gate();
        end();
        if (lease.token === token) lease.until = Number.NEGATIVE_INFINITY;
      },
    };
  }

  /** The rows as a worker sees them. Its blows come with writes; a batch of a dead one is there as a whole or not. */
  #gated(partition: number, life: WorkerLife, requireToken: () => unknown): OrderedRows {
    const rows = this.rows(partition);
    const read = async <T>(value: Promise<T>): Promise<T> => {
      await life.gate();
      const found = await value;
      await life.gate();
      return found;
    };
    const write = async (apply: () => Promise<void>): Promise<void> => {
      await life.gate();
      if (life.isStruck('batch') && this.#random() < 0.5) return life.gate().then(() => write(apply));
      requireToken();
      await apply();
      await life.gate();
    };
    function batch(): RowBatch;
    function batch(writes: RowWrite[]): Promise<void>;
    function batch(writes?: RowWrite[]): RowBatch | Promise<void> {
      if (writes !== undefined) return write(() => rows.batch(writes));
      const staged: RowWrite[] = [];
      return {
        put: (key, value) => staged.push({ type: 'put', key, value: Buffer.from(value) }),
        del: (key) => staged.push({ type: 'del', key }),
        write: () => write(() => rows.batch(staged)),
        close: async () => {},
      };
    }
    const iterating = <Row>(iterator: RowIterator<Row>): RowIterator<Row> => ({
      nextv: (size) => read(iterator.nextv(size)),
      all: () => read(iterator.all()),
      seek: (key) => iterator.seek(key),
      close: () => iterator.close(),
    });
    return {
      get: (key) => read(rows.get(key)),
      getMany: (keys, options) => read(rows.getMany(keys, options)),
      hasMany: (keys) => read(rows.hasMany(keys)),
      put: (key, value) => write(() => rows.put(key, value)),
      del: (key) => write(() => rows.del(key)),
      batch,
      clear: (range) => write(() => rows.clear(range)),
      iterator: (query) => iterating(rows.iterator(query)),
      keys: (query) => iterating(rows.keys(query)),
      snapshot: () => rows.snapshot(),
      close: async () => {},
    };
  }
}

function refuse(code: 'db-locked' | 'lease-lost'): never {
  throw new CrawlError(code, `${code} (simulated)`);
}
