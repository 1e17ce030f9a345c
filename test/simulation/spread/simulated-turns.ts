import { type TakenTurn, TURN_ATTEMPTS, TURN_PAUSES_MS, type Turns } from '../../../src/cluster/ports/turns.ts';
import type { VirtualClock } from '../crawl/virtual-clock.ts';
import { LEASE_MS, type SimulatedStores } from './simulated-stores.ts';
import type { WorkerLife } from './worker-life.ts';

interface Row {
  asked: number;
  /** When it may be taken; `null`: nobody wants it. */
  wanted: number | null;
  failures: number;
  fault: string | null;
}

const isFailed = ({ failures }: Row): boolean => failures >= TURN_ATTEMPTS;

/** The turns of partitions on a server. Now and then nobody hears that one is wanted. */
export class SimulatedTurns {
  readonly #clock: VirtualClock;
  readonly #stores: SimulatedStores;
  readonly #isLost: () => boolean;
  readonly #rows = new Map<number, Row>();
  readonly #workers = new Set<WorkerLife>();

  constructor(clock: VirtualClock, stores: SimulatedStores, isLost: () => boolean) {
    this.#clock = clock;
    this.#stores = stores;
    this.#isLost = isLost;
  }

  wantAll(partitions: Iterable<number>): void {
    const now = this.#clock.now();
    for (const partition of partitions) {
      const row = this.#rows.get(partition) ?? { asked: 0, wanted: null, failures: 0, fault: null };
      this.#rows.set(partition, row);
      row.asked++;
      if (!isFailed(row)) row.wanted = Math.min(row.wanted ?? now, now);
    }
  }

  /** Those of the partitions of now. */
  of(life: WorkerLife): Turns {
    const clock = this.#clock;
    const { partitions } = this.#stores;
    const rowOf = ({ partition }: TakenTurn): Row => this.#rows.get(partition) as Row;
    return {
      worker: 'simulated',
      tell: () => {},
      want: async (wanted) => {
        await life.gate();
        for (const partition of wanted) if (!this.#isLost()) this.wantAll([partition]);
      },
      take: async (limit) => {
        await life.gate();
        const free = [...this.#rows].filter(
          ([partition, row]) => partition < partitions && this.#freeFrom(partition, row) <= clock.now(),
        );
        free.sort(([, a], [, b]) => (a.wanted as number) - (b.wanted as number));
        const taken = free.slice(0, limit).map(([partition, row]) => {
          row.wanted = clock.now() + LEASE_MS;
          return { partition, wanted: row.asked };
        });
        await life.gate();
        return taken;
      },
      end: async (turn, result) => {
        await life.gate();
        const row = rowOf(turn);
        const { fault = null } = result === 'done' ? {} : result;
        Object.assign(row, { fault, failures: fault === null ? 0 : row.failures });
        if (row.asked > turn.wanted) row.wanted = clock.now();
        else row.wanted = result === 'done' ? null : clock.now() + result.laterMs;
        await life.gate();
      },
      fail: async (turn, reason) => {
        await life.gate();
        const row = rowOf(turn);
        row.wanted = clock.now() + (TURN_PAUSES_MS[row.failures++] ?? TURN_PAUSES_MS.at(-1) ?? 0);
        row.fault = reason;
      },
      state: async () => {
        await life.gate();
        this.#workers.add(life);
        const workers = [...this.#workers].filter(({ isRunning }) => isRunning).length;
        const open = [...this.#rows].filter(([partition, { wanted }]) => partition < partitions && wanted !== null);
        const from = open.map(([partition, row]) => Math.max(0, this.#freeFrom(partition, row) - clock.now()));
        const failed = [...this.#rows].flatMap(([partition, row]) =>
          isFailed(row) ? [{ partition, reason: row.fault as string }] : [],
        );
        const resting = open.filter(([partition, row]) => {
          const isFree = this.#stores.heldUntil(partition) <= clock.now();
          return isFailed(row) && isFree && (row.wanted as number) > clock.now();
        });
        return {
          open: open.length - resting.length,
          nextMs: from.length === 0 ? null : Math.min(...from),
          workers,
          failed,
        };
      },
      forgetFailed: async () => {
        await life.gate();
        for (const row of this.#rows.values())
          if (isFailed(row)) Object.assign(row, { failures: 0, fault: null, wanted: clock.now() });
      },
      wait: async (ms, signal) => {
        await life
          .clock()
          .sleep(ms, signal)
          .catch(() => {});
      },
      close: async () => {},
    };
  }

  #freeFrom(partition: number, { wanted }: Row): number {
    return Math.max(wanted ?? Number.POSITIVE_INFINITY, this.#stores.heldUntil(partition));
  }
}
