import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { ROOT } from '../../program.ts';
import type { FuzzTarget } from '../target.ts';
import type { Counted, Counting } from './count-worker.ts';

const WORKER = join(ROOT, 'dist/test/system/torture/fuzz/steps/count-worker.js');
/** Bytes that every input is taken to have in addition: what a check costs for none. */
const ALLOWANCE = 256;

/**
 * Counts the steps of checks in a thread of its own: how often the blocks of the program and of its packages run (by
 * the counters of V8), and what native methods scan (`scans.ts`). The same input gives about the same count on every
 * machine and under every load; caches that fill make a small difference.
 */
export class StepCounter {
  readonly #worker = new Worker(WORKER);
  readonly #waiting = new Map<number, { resolve(steps: number): void; reject(error: Error): void }>();
  #last = 0;

  constructor() {
    this.#worker.on('message', ({ id, steps }: Counted) => {
      this.#waiting.get(id)?.resolve(steps);
      this.#waiting.delete(id);
      if (this.#waiting.size === 0) this.#worker.unref();
    });
    this.#worker.on('error', (error) => {
      for (const { reject } of this.#waiting.values()) reject(error);
    });
    this.#worker.unref();
  }

  /** How many counts are under way. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Steps of a check of the target. */
  count(target: string, input: Buffer): Promise<number> {
    const question: Counting = { id: ++this.#last, target, input: new Uint8Array(input) };
    this.#worker.ref();
    return new Promise((resolve, reject) => {
      this.#waiting.set(question.id, { resolve, reject });
      this.#worker.postMessage(question);
    });
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }
}

/** Steps for each byte, those that are allowed for none included. */
export const ratioOf = (steps: number, { length }: Buffer): number => steps / (length + ALLOWANCE);

/** What is wrong with so many steps, or nothing. */
export function wrongSteps(target: FuzzTarget, steps: number, input: Buffer): string {
  const { stepsPerByte, name, moreSteps = () => 0 } = target;
  const ratio = ratioOf(steps - moreSteps(input), input);
  if (stepsPerByte === null || ratio <= stepsPerByte) return '';
  return `${name} takes ${steps} steps for ${input.length} bytes, ${Math.round(ratio)} a byte: more than ${stepsPerByte}`;
}
