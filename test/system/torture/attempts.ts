import { cp, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { endState } from './end-state.ts';
import type { Calls, Fault, Preloaded } from './faults/preloaded.ts';
import type { MadeStates } from './made-states.ts';
import { type Ended, program } from './program.ts';
import type { Task } from './tasks.ts';

/** Where and how tasks are tried. */
export interface Bench {
  readonly made: MadeStates;
  readonly preloaded: Preloaded;
  /** Attempts lie beneath it; removed after each. */
  readonly folder: string;
  /** Makes a database without content, and gives its URL; absent: shared crawls are left out. */
  readonly emptyStore?: () => Promise<string>;
}

export interface Attempt {
  readonly task: Task;
  readonly places: Places;
  readonly ended: Ended;
  readonly calls: Calls;
}

type Places = Parameters<Task['args']>[0];

/** Runs the task once, with or without a fault, and gives what it left to `look`; then all of it is removed. */
export async function attempt<Result>(
  bench: Bench,
  task: Task,
  fault: Fault | undefined,
  look: (attempt: Attempt) => Promise<Result>,
): Promise<Result> {
  const folder = join(bench.folder, 'attempt');
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const store = (task.isShared && (await bench.emptyStore?.())) || '';
  const places = { folder, dir: join(folder, 'crawldb'), out: join(folder, 'out'), made: bench.made, store };
  if (task.from !== undefined) await cp(bench.made[task.from], places.dir, { recursive: true });
  const env = bench.preloaded.environment(folder, fault);
  const port = store === '' ? {} : { INCRAWL_FAULT_PORT: new URL(store).port };
  const ended = await program(task.args(places), { env: { ...env, ...port } });
  const calls = bench.preloaded.calls();
  try {
    return await look({ task, places, ended, calls });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The end that a task comes to undisturbed, and its calls on the way. */
export interface Undisturbed {
  readonly end: string;
  readonly calls: Calls;
}

export function undisturbed(bench: Bench, task: Task): Promise<Undisturbed> {
  return attempt(bench, task, undefined, async ({ places, ended, calls }) => {
    if (ended.code !== 0) throw new Error(`${task.name} ended with ${ended.code}, undisturbed: ${ended.stderr}`);
    return { end: await endState(task, places), calls };
  });
}

/** Runs the task again after a disturbance; what is wrong then, or nothing. `of` is what of the end has to be equal. */
export async function wrongAtTheEnd(
  { task, places }: Attempt,
  { end }: Undisturbed,
  of = (whole: string): string => whole,
): Promise<string> {
  if (task.leaves !== undefined) await rm(task.leaves(places), { recursive: true, force: true });
  const again = await program(task.args(places));
  const isRefused = task.refusesToRepeat === true && again.code === 2;
  if (again.code !== 0 && !isRefused)
    return `run again it ended with ${again.isLate ? 'no end' : again.code}: ${again.stderr}`;
  const [is, expected] = [of(await endState(task, places)), of(end)];
  return is === expected ? '' : `it came to another end:\n${firstDifference(is, expected)}`;
}

function firstDifference(is: string, expected: string): string {
  const lines = is.split('\n');
  const others = expected.split('\n');
  const at = lines.findIndex((line, i) => line !== others[i]);
  const expectedLine = others[at < 0 ? lines.length : at] ?? `${others.length} lines`;
  return `  is       ${lines[at] ?? `${lines.length} lines`}\n  expected ${expectedLine}`;
}
