import type { Clock } from '../../core/ports/clock.ts';
import { elapsedOf } from '../../core/ports/clock.ts';
import type { Turns } from '../ports/turns.ts';

/** Pause between two looks at the turns, ms. A wanted turn is announced, unless a pooler swallows the notification. */
const LOOK_MS = 5_000;
/** The shortest pause, if the lease is short, ms. */
const LEAST_LOOK_MS = 1_000;
/** All partitions are checked after this time, ms: links may have come from a process that died meanwhile. */
const LOOK_ALL_MS = 10 * 60_000;

export interface StayDeps {
  readonly turns: Pick<Turns, 'state' | 'wait'>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Length of a lease, ms. A look is a sign of life, so there are several looks per lease. */
  readonly leaseMs: number;
}

/**
 * Waits while nothing is due, until a turn is wanted, a URL falls due, or all partitions are to be checked again.
 * @param dueInMs time until the next URL falls due, ms
 */
export async function stay({ turns, clock, signal, leaseMs }: StayDeps, dueInMs: number): Promise<void> {
  const until = elapsedOf(clock) + Math.min(dueInMs, LOOK_ALL_MS);
  const lookMs = Math.max(LEAST_LOOK_MS, Math.min(LOOK_MS, leaseMs / 3));
  while (!signal.aborted) {
    const leftMs = until - elapsedOf(clock);
    if (leftMs <= 0) return;
    await turns.wait(Math.min(lookMs, leftMs), signal);
    if ((await turns.state()).open > 0) return;
  }
}
