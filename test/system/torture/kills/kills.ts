import { access } from 'node:fs/promises';
import { type Attempt, attempt, type Bench, type Undisturbed, undisturbed, wrongAtTheEnd } from '../attempts.ts';
import { findings } from '../end-state.ts';
import type { Fault } from '../faults/preloaded.ts';
import type { Piece } from '../pieces/piece.ts';
import { mixed, randomOf } from '../random.ts';
import { TASKS, type Task } from '../tasks.ts';

export interface KillResult {
  /** Processes that were killed; an attempt that ended before its call is none. */
  readonly kills: number;
  readonly failures: number;
}

/** The series of the ledger: attempts by their numbers. */
const SERIES = 'attempts';

/**
 * Kills commands that write, each in a call that changes a file (or goes to the database), before the call or half way
 * through it. Whatever they leave must be sound, and the same command must come to its ordinary end. The number of an
 * attempt chooses its command, and with that how many calls this has, the call.
 *
 * @param count attempts at most
 */
export async function kills(
  say: (line: string) => void,
  bench: Bench,
  piece: Piece,
  count: number,
): Promise<KillResult> {
  const tasks = TASKS.filter(({ isShared }) => !isShared || bench.emptyStore !== undefined);
  const whole = new Map<Task, Undisturbed>();
  let failures = 0;
  const byTask = new Map<string, number>();
  const first = piece.first(SERIES);
  for (let number = first; number < first + count && !piece.isOver(); number++) {
    const task = tasks[number % tasks.length]!;
    const undisturbedEnd = whole.get(task) ?? (await undisturbed(bench, task));
    whole.set(task, undisturbedEnd);
    const fault = faultOf(number, undisturbedEnd.calls.counts.change);
    let isKilled = false;
    const wrong = await attempt(bench, task, fault, async (left) => {
      isKilled = left.ended.signal === 'SIGKILL' && !left.ended.isLate;
      return wrongAfter(left, undisturbedEnd);
    });
    // A signal to the terminal has reached the command, too.
    if (piece.isStopped()) break;
    if (isKilled) byTask.set(task.name, (byTask.get(task.name) ?? 0) + 1);
    const added = { next: { [SERIES]: number + 1 }, sums: { attempts: 1, kills: isKilled ? 1 : 0 } };
    if (wrong === '') {
      piece.add(added);
      continue;
    }
    failures++;
    const { action, at } = fault;
    const reason = `${task.name}, ${action} in change ${at} of ${undisturbedEnd.calls.counts.change}: ${wrong}`;
    const replay = `npm run torture -- --kills --count 1 --seed ${number}`;
    piece.add({ ...added, failures: [{ replay, reason }] });
    say(`FAILED ${reason}\n  ${replay}`);
  }
  piece.keep();
  const killed = [...byTask.values()].reduce((sum, n) => sum + n, 0);
  const shares = [...byTask].map(([name, n]) => `${name} ${n}`).join(', ');
  say(`kills           ${killed} processes killed (${shares}); ${failures} failures`);
  return { kills: killed, failures };
}

/** @param changes calls that change a file, when nothing disturbs the command */
function faultOf(number: number, changes: number): Fault {
  const random = randomOf(mixed(number));
  return { kind: 'change', at: 1 + Math.floor(random() * changes), action: random() < 0.5 ? 'kill' : 'tear' };
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
