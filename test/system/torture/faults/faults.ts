import { UsageError } from '../../../../bench/harness/measurement.ts';
import { attempt, type Bench, type Undisturbed, undisturbed, wrongAtTheEnd } from '../attempts.ts';
import { findings } from '../end-state.ts';
import type { Piece } from '../pieces/piece.ts';
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
  /** Calls that fail, at most; absent: until no kind has a call left. */
  readonly count?: number | undefined;
  /** Absent: each call of each kind, in order. Else so many as `count` says, drawn by it. */
  readonly drawnBy?: number;
}

export interface FaultResult {
  readonly faults: number;
  readonly failures: number;
}

/**
 * Lets calls of a crawl to the system fail, one in each run. It must end in time, done or with an error that it tells;
 * what it leaves must be sound, and the same command without the fault must come to its ordinary end. The calls of a
 * kind are tried in order, until a run passes without a fault.
 */
export async function faults(
  say: (line: string) => void,
  bench: Bench,
  piece: Piece,
  { count = Number.POSITIVE_INFINITY, drawnBy }: FaultOptions = {},
): Promise<FaultResult> {
  let failures = 0;
  let happened = 0;
  const byKind = new Map<CallKind, number>();
  const task = TASKS.find(({ name }) => name === 'crawl')!;
  const end = await undisturbed(bench, task);
  /** False when the run has passed before that call, or was stopped. */
  const hasFailed = async (fault: Fault): Promise<boolean> => {
    const { hasHappened, wrong } = await withFault(bench, task, fault, end);
    // A signal to the terminal has reached the command, too.
    if (piece.isStopped()) return false;
    const series = seriesOf(fault);
    if (!hasHappened) {
      piece.add({ complete: [series] });
      return false;
    }
    happened++;
    byKind.set(fault.kind, (byKind.get(fault.kind) ?? 0) + 1);
    const added = { next: { [series]: fault.at + 1 }, sums: { calls: 1 } };
    if (wrong === '') {
      piece.add(added);
      return true;
    }
    failures++;
    const reason = `${fault.action} in ${fault.kind} ${fault.at}: ${wrong}`;
    const replay = `npm run torture -- --faults --fault ${series.replace(' ', ':')}:${fault.at}`;
    piece.add({ ...added, failures: [{ replay, reason }] });
    say(`FAILED ${reason}\n  ${replay}`);
    return true;
  };
  if (drawnBy !== undefined) {
    for (const fault of drawnFaults(count, drawnBy, end)) await hasFailed(fault);
  } else {
    for (const [kind, action] of FAULT_KINDS) {
      const series = seriesOf({ kind, action });
      if (piece.isComplete(series)) continue;
      const isOver = (): boolean => happened >= count || piece.isOver();
      for (let at = piece.first(series); !isOver() && (await hasFailed({ kind, at, action })); at++);
    }
  }
  piece.keep();
  const shares = [...byKind].map(([kind, n]) => `${kind} ${n}`).join(', ');
  say(`faults          ${happened} calls failed (${shares}); ${failures} failures`);
  return { faults: happened, failures };
}

/** One call alone, as `KIND:ERROR:N` names it; throws a `UsageError` for another text. */
export async function oneFault(say: (line: string) => void, bench: Bench, named: string): Promise<FaultResult> {
  const [kindName, actionName, number, ...rest] = named.split(':');
  const found = FAULT_KINDS.find(([kind, action]) => kind === kindName && action === actionName);
  const at = Number(number);
  if (found === undefined || !Number.isInteger(at) || at < 1 || rest.length > 0)
    throw new UsageError(`--fault ${named}: expected KIND:ERROR:N, such as ${FAULT_KINDS[0]!.join(':')}:1`);
  const task = TASKS.find(({ name }) => name === 'crawl')!;
  const fault = { kind: found[0], action: found[1], at };
  const { hasHappened, wrong } = await withFault(bench, task, fault, await undisturbed(bench, task));
  say(`fault ${named}: ${hasHappened ? wrong || 'nothing is wrong' : 'the crawl has no such call'}`);
  return { faults: hasHappened ? 1 : 0, failures: wrong === '' ? 0 : 1 };
}

/** The series of the ledger: calls of a kind that give an error, by their numbers. */
const seriesOf = ({ kind, action }: Pick<Fault, 'kind' | 'action'>): string => `${kind} ${action}`;

/** Each kind of call with each answer. */
export const FAULT_KINDS: readonly (readonly [CallKind, FaultAction])[] = Object.entries(ANSWERS).flatMap(
  ([kind, actions]) => actions.map((each) => [kind as CallKind, each] as const),
);

function drawnFaults(count: number, seed: number, { calls }: Undisturbed): Fault[] {
  const random = randomOf(seed);
  const possible = FAULT_KINDS.filter(([kind]) => calls.counts[kind] > 0);
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
