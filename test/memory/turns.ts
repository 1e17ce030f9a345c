import { setTimeout as delay } from 'node:timers/promises';
import { type TakenTurn, TURN_ATTEMPTS, TURN_PAUSES_MS, type Turns } from '../../src/cluster/ports/turns.ts';

interface Held {
  wanted: number;
  /** When it may be taken; `null`: nobody wants it. */
  from: number | null;
  isPlayed: boolean;
  failures: number;
  fault: string | null;
}

/** Turns of one process: the reference. The first pauses after a failed turn are none. */
export function createMemoryTurns(now: () => number = () => performance.now()): Turns {
  const all = new Map<number, Held>();
  let waiting: (() => void)[] = [];
  const ring = (): void => {
    const wake = waiting;
    waiting = [];
    for (const each of wake) each();
  };
  const isFailed = ({ failures }: Held): boolean => failures >= TURN_ATTEMPTS;
  const heldOf = ({ partition }: TakenTurn): Held => all.get(partition) as Held;

  return {
    worker: 'memory',
    tell() {},
    async want(partitions) {
      for (const partition of new Set(partitions)) {
        const held = all.get(partition) ?? { wanted: 0, from: null, isPlayed: false, failures: 0, fault: null };
        all.set(partition, held);
        held.wanted++;
        if (!isFailed(held)) held.from = Math.min(held.from ?? now(), now());
      }
      ring();
    },
    async take(limit) {
      const free = [...all].filter(([, { from, isPlayed }]) => from !== null && from <= now() && !isPlayed);
      free.sort(([, a], [, b]) => (a.from as number) - (b.from as number));
      return free.slice(0, limit).map(([partition, held]) => {
        held.isPlayed = true;
        return { partition, wanted: held.wanted };
      });
    },
    async end(turn, result) {
      const held = heldOf(turn);
      const { fault = null } = result === 'done' ? {} : result;
      Object.assign(held, { isPlayed: false, fault, failures: fault === null ? 0 : held.failures });
      if (held.wanted > turn.wanted) held.from = now();
      else held.from = result === 'done' ? null : now() + result.laterMs;
      ring();
    },
    async fail(turn, reason) {
      const held = heldOf(turn);
      held.isPlayed = false;
      held.failures++;
      held.fault = reason;
      held.from = now() + (isFailed(held) ? (TURN_PAUSES_MS[held.failures - 1] ?? TURN_PAUSES_MS.at(-1) ?? 0) : 0);
      ring();
    },
    async state() {
      const open = [...all.values()].filter(({ from }) => from !== null);
      const free = open.flatMap(({ from, isPlayed }) => (isPlayed ? [] : [Math.max(0, (from as number) - now())]));
      const failed = [...all].flatMap(([partition, held]) =>
        isFailed(held) ? [{ partition, reason: held.fault as string }] : [],
      );
      const resting = open.filter((held) => isFailed(held) && !held.isPlayed && (held.from as number) > now());
      return {
        open: open.length - resting.length,
        nextMs: free.length === 0 ? null : Math.min(...free),
        workers: 1,
        failed,
      };
    },
    async forgetFailed() {
      for (const held of all.values())
        if (isFailed(held)) Object.assign(held, { failures: 0, fault: null, from: now() });
    },
    async wait(ms, signal) {
      await Promise.race([
        new Promise<void>((resolve) => waiting.push(resolve)),
        delay(ms, undefined, { signal }).catch(() => {}),
      ]);
    },
    async close() {},
  };
}
