import { access } from 'node:fs/promises';
import { type Attempt, attempt, type Bench, type Undisturbed, undisturbed, wrongAtTheEnd } from '../attempts.ts';
import { findings } from '../end-state.ts';
import type { Fault } from '../faults/preloaded.ts';
import { randomOf } from '../random.ts';
import { TASKS, type Task } from '../tasks.ts';

export interface KillOptions {
  readonly kills: number;
  readonly seed: number;
}

export interface KillResult {
  /** Processes that were killed; an attempt that ended before its call is none. */
  readonly kills: number;
  readonly failures: number;
}

/**
 * Kills commands that write, each in a call that changes a file (or goes to the database), before the call or half way
 * through it. Whatever they leave must be sound, and the same command must come to its ordinary end.
 */
export async function kills(
  say: (line: string) => void,
  bench: Bench,
  { kills: count, seed }: KillOptions,
): Promise<KillResult> {
  const tasks = TASKS.filter(({ isShared }) => !isShared || bench.emptyStore !== undefined);
  const whole = new Map<Task, Undisturbed>();
  const failures: string[] = [];
  const byTask = new Map<string, number>();
  const random = randomOf(seed);
  for (let i = 0; i < count; i++) {
    const task = tasks[i % tasks.length]!;
    const undisturbedEnd = whole.get(task) ?? (await undisturbed(bench, task));
    whole.set(task, undisturbedEnd);
    const at = 1 + Math.floor(random() * undisturbedEnd.calls.counts.change);
    const fault: Fault = { kind: 'change', at, action: random() < 0.5 ? 'kill' : 'tear' };
    const wrong = await attempt(bench, task, fault, async (left) => {
      if (left.ended.signal === 'SIGKILL' && !left.ended.isLate)
        byTask.set(task.name, (byTask.get(task.name) ?? 0) + 1);
      return wrongAfter(left, undisturbedEnd);
    });
    if (wrong === '') continue;
    const failure = `${task.name}, ${fault.action} in change ${at} of ${undisturbedEnd.calls.counts.change}: ${wrong}`;
    failures.push(failure);
    say(`FAILED ${failure}`);
  }
  const killed = [...byTask.values()].reduce((sum, n) => sum + n, 0);
  const shares = [...byTask].map(([name, n]) => `${name} ${n}`).join(', ');
  say(`kills           ${killed} processes killed (${shares}); ${failures.length} failures`);
  return { kills: killed, failures: failures.length };
}

async function wrongAfter(left: Attempt, end: Undisturbed): Promise<string> {
  const { ended, task, places } = left;
  if (ended.isLate) return 'it did not end';
  if (ended.signal === null && ended.code !== 0) return `it ended with ${ended.code}: ${ended.stderr}`;
  const isThere = await access(places.dir).then(
    () => true,
    () => false,
  );
  if (isThere && !task.isDamaged && !task.isShared) {
    const found = await findings(places.dir);
    if (found !== '') return found;
  }
  return wrongAtTheEnd(left, end);
}
