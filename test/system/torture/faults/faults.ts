import { attempt, type Bench, type Undisturbed, undisturbed, wrongAtTheEnd } from '../attempts.ts';
import { findings } from '../end-state.ts';
import { asked, type Ended } from '../program.ts';
import { randomOf } from '../random.ts';
import { TASKS, type Task } from '../tasks.ts';
import type { CallKind, Fault, FaultAction } from './preloaded.ts';

/** What each kind of call may answer, by the manuals of Linux. */
const ANSWERS: Readonly<Partial<Record<CallKind, readonly FaultAction[]>>> = {
  open: ['EMFILE', 'EIO'],
  read: ['EIO'],
  write: ['ENOSPC', 'EIO', 'short'],
  sync: ['EIO'],
  rename: ['ENOSPC'],
  unlink: ['EIO'],
  mkdir: ['ENOSPC'],
  connect: ['EMFILE', 'ENETUNREACH'],
  accept: ['EMFILE'],
  spawn: ['EAGAIN'],
};

/** Done, an error that is told, a full disk; anything else is a crash. */
const ORDERLY_CODES: readonly (number | null)[] = [0, 1, 3];

export interface FaultOptions {
  /** Absent: each call of each kind, 1, 2, 3, .. until a run passes without a fault. Else so many, drawn. */
  readonly faults?: number;
  readonly seed: number;
}

export interface FaultResult {
  readonly faults: number;
  readonly failures: number;
}

/**
 * Lets calls of a crawl to the system fail, one in each run. It must end in time, done or with an error that it tells;
 * what it leaves must be sound, and the same command without the fault must come to its ordinary end.
 */
export async function faults(
  say: (line: string) => void,
  bench: Bench,
  { faults: count, seed }: FaultOptions,
): Promise<FaultResult> {
  const failures: string[] = [];
  const byKind = new Map<CallKind, number>();
  const task = TASKS.find(({ name }) => name === 'crawl')!;
  const end = await undisturbed(bench, task);
  /** False when the run has passed before that call. */
  const hasFailed = async (fault: Fault): Promise<boolean> => {
    const { hasHappened, wrong } = await withFault(bench, task, fault, end);
    if (hasHappened) byKind.set(fault.kind, (byKind.get(fault.kind) ?? 0) + 1);
    if (hasHappened && wrong !== '') {
      failures.push(`${fault.action} in ${fault.kind} ${fault.at}: ${wrong}`);
      say(`FAILED ${failures.at(-1)}`);
    }
    return hasHappened;
  };
  if (count === undefined) {
    for (const [kind, action] of answers()) for (let at = 1; await hasFailed({ kind, at, action }); at++);
  } else {
    for (const fault of drawnFaults(count, seed, end)) await hasFailed(fault);
  }
  const happened = [...byKind.values()].reduce((sum, n) => sum + n, 0);
  const shares = [...byKind].map(([kind, n]) => `${kind} ${n}`).join(', ');
  say(`faults          ${happened} calls failed (${shares}); ${failures.length} failures`);
  return { faults: happened, failures: failures.length };
}

function answers(): (readonly [CallKind, FaultAction])[] {
  return Object.entries(ANSWERS).flatMap(([kind, actions]) => actions.map((each) => [kind as CallKind, each] as const));
}

function drawnFaults(count: number, seed: number, { calls }: Undisturbed): Fault[] {
  const random = randomOf(seed);
  const possible = answers().filter(([kind]) => calls.counts[kind] > 0);
  return Array.from({ length: count }, (_, i) => {
    const [kind, action] = possible[i % possible.length]!;
    return { kind, action, at: 1 + Math.floor(random() * calls.counts[kind]) };
  });
}

function withFault(bench: Bench, task: Task, fault: Fault, end: Undisturbed): Promise<Tried> {
  return attempt(bench, task, fault, async (left) => {
    const { ended, calls, places } = left;
    if (!calls.hasHappened) return { hasHappened: false, wrong: '' };
    const disorder = disorderIn(ended) || (await findings(places.dir));
    if (disorder !== '') return { hasHappened: true, wrong: disorder };
    if (fault.kind !== 'connect') return { hasHappened: true, wrong: await wrongAtTheEnd(left, end) };
    // A page that could not be fetched waits for its next visit, and another one may have had its content meanwhile.
    await asked(['due', 'retry', '--host', new URL(bench.made.origin).host, '--dir', places.dir]);
    return { hasHappened: true, wrong: await wrongAtTheEnd(left, end, contentsIn) };
  });
}

/** Of the records in an end state: URL and digest of the content. */
function contentsIn(end: string): string {
  return [...end.matchAll(/^\{"url":"([^"]*)".*?"digest":([^,]*),/gm)]
    .map(([, url, digest]) => `${url} ${digest}`)
    .join('\n');
}

interface Tried {
  readonly hasHappened: boolean;
  readonly wrong: string;
}

function disorderIn({ code, signal, isLate, stderr }: Ended): string {
  if (isLate) return 'it did not end';
  if (!ORDERLY_CODES.includes(code)) return `it ended with ${code ?? signal}: ${stderr}`;
  if (code !== 0 && stderr.trim() === '') return `it ended with ${code} and told no reason`;
  return /This is a bug of incrawl|^\s+at .+:\d+:\d+/m.test(stderr) ? `it told of a bug: ${stderr}` : '';
}
