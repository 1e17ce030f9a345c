import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { ROOT } from '../program.ts';

const WORKER = join(ROOT, 'dist/test/system/torture/fuzz/watchdog-worker.js');

/** What the thread that watches is given. */
export interface Watched {
  /** How many checks have begun; the target and the number of the input that is checked, or -1. */
  readonly state: Int32Array;
  readonly targets: readonly string[];
  /** A check that takes longer does not end, ms. */
  readonly lateMs: number;
}

/** Far more than a check may take, ms. */
const LATE_MS = 120_000;

/**
 * Ends this process where a check does not end, and says which: a loop without an end lets nothing else run in the
 * thread of the checks, so that another one has to watch it.
 */
export class Watchdog {
  readonly #state = new Int32Array(new SharedArrayBuffer(3 * Int32Array.BYTES_PER_ELEMENT));
  readonly #targets: readonly string[];
  readonly #worker: Worker;

  constructor(targets: readonly string[], lateMs = LATE_MS) {
    this.#targets = targets;
    Atomics.store(this.#state, 2, -1);
    const workerData: Watched = { state: this.#state, targets, lateMs };
    this.#worker = new Worker(WORKER, { workerData });
    this.#worker.unref();
  }

  begin(target: string, number: number): void {
    Atomics.store(this.#state, 1, this.#targets.indexOf(target));
    Atomics.store(this.#state, 2, number);
    Atomics.add(this.#state, 0, 1);
  }

  end(): void {
    Atomics.store(this.#state, 2, -1);
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }
}
