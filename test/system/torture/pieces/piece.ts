import { type Added, type LongPart, type PartSoFar, partOf, type Sums } from '../../../../bench/harness/long-runs.ts';
import type { Occasion } from '../../../../bench/harness/occasion.ts';
import type { Ledger } from './ledger.ts';

/** What a part of the torture tries now: where it begins, when it ends, and where its results go. */
export interface Piece {
  /** The first number of a series that is to be tried, counted from 1. */
  first(series: string): number;
  isComplete(series: string): boolean;
  /** Whether no further try is to begin. What was under way as it became true is not to be counted. */
  isOver(): boolean;
  /** Whether the process is asked to end. */
  isStopped(): boolean;
  /** Takes results; they are kept within a minute, failures at once. */
  add(added: Added): void;
  /** Keeps what was added. */
  keep(): void;
}

export interface PieceOptions {
  /** Ms of wall time; absent: no limit. */
  readonly milliseconds?: number | undefined;
  /** Aborted when the process is asked to end. */
  readonly stop?: AbortSignal | undefined;
}

const KEEP_EVERY_MS = 60_000;

/** A piece that nothing is kept of. @param seed the first number of each series */
export function unkeptPiece(seed: number, { milliseconds, stop }: PieceOptions = {}): Piece {
  const end = performance.now() + (milliseconds ?? Number.POSITIVE_INFINITY);
  const isStopped = (): boolean => stop?.aborted === true;
  return {
    first: () => seed,
    isComplete: () => false,
    isOver: () => isStopped() || performance.now() >= end,
    isStopped,
    add() {},
    keep() {},
  };
}

/** A piece that goes on where the last one of the part ended, and adds to the ledger. */
export function addingPiece(
  ledger: Ledger,
  part: LongPart,
  { at, ...options }: PieceOptions & { readonly at: () => Occasion },
): Piece {
  const begun: PartSoFar = partOf(ledger.read(), part);
  const piece = unkeptPiece(1, options);
  let waiting: Added[] = [];
  let keptAt = performance.now();
  const keep = (): void => {
    keptAt = performance.now();
    if (waiting.length === 0) return;
    ledger.add(part, joined(waiting), at());
    waiting = [];
  };
  return {
    ...piece,
    first: (series) => begun.next[series] ?? 1,
    isComplete: (series) => begun.complete.includes(series),
    add(added) {
      waiting.push(added);
      const isUrgent = (added.failures ?? []).length > 0;
      if (isUrgent || performance.now() - keptAt >= KEEP_EVERY_MS) keep();
    },
    keep,
  };
}

function joined(all: readonly Added[]): Added {
  const [next, sums, peaks]: Record<string, number>[] = [{}, {}, {}] as const;
  const merge = (into: Record<string, number>, from: Sums, join: (one: number, other: number) => number): void => {
    for (const [name, value] of Object.entries(from)) into[name] = join(into[name] ?? 0, value);
  };
  for (const each of all) {
    merge(next!, each.next ?? {}, Math.max);
    merge(sums!, each.sums ?? {}, (one, other) => one + other);
    merge(peaks!, each.peaks ?? {}, Math.max);
  }
  return {
    next: next!,
    sums: sums!,
    peaks: peaks!,
    complete: all.flatMap(({ complete = [] }) => complete),
    failures: all.flatMap(({ failures = [] }) => failures),
  };
}
