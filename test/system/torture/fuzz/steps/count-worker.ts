import { type Profiler, Session } from 'node:inspector';
import { parentPort } from 'node:worker_threads';
import type { FuzzTarget } from '../target.ts';
import { countScans, scannedSteps } from './scans.ts';

/** A question to this thread, and its answer. */
export interface Counting {
  readonly id: number;
  readonly target: string;
  readonly input: Uint8Array;
}

export interface Counted {
  readonly id: number;
  readonly steps: number;
}

/** Steps of Node and of the checks themselves are no steps of a parser. */
const COUNTED = /\/dist\/(?:src|plugins)\/|\/node_modules\//;

const session = new Session();
session.connect();
const post = <Result>(method: string, params: object = {}): Result => {
  let answer: unknown;
  // In its own thread a session answers before it returns.
  session.post(method, params, (error: Error | null, result?: object) => {
    if (error !== null) throw error;
    answer = result;
  });
  return answer as Result;
};
post('Profiler.enable');
// V8 counts blocks of what is loaded from now on.
post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
countScans();
const { fuzzTargets } = await import('../targets.ts');
const targets = new Map((await fuzzTargets()).map((target) => [target.name, target] as const));

/** How often the blocks of the program have run since the last question. */
function blocks(): number {
  const { result } = post<Profiler.TakePreciseCoverageReturnType>('Profiler.takePreciseCoverage');
  let steps = 0;
  for (const { url, functions } of result) {
    if (!COUNTED.test(url)) continue;
    for (const { ranges } of functions) for (const { count } of ranges) steps += count;
  }
  return steps;
}

async function stepsOf(target: FuzzTarget, input: Buffer): Promise<number> {
  blocks();
  scannedSteps();
  try {
    await target.check(input);
  } catch {
    // The thread that fuzzes finds the same.
  }
  const scanned = scannedSteps();
  return Math.round(blocks() + scanned);
}

let turn: Promise<unknown> = Promise.resolve();
parentPort?.on('message', ({ id, target, input }: Counting) => {
  turn = turn.then(async () => {
    const counted: Counted = { id, steps: await stepsOf(targets.get(target)!, Buffer.from(input)) };
    parentPort?.postMessage(counted);
  });
});
