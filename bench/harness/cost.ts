/** CPU of work in this process, and figures over several runs. */

/** CPU of work, user and system, all threads; us. */
export async function cpuUs(work: () => unknown): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return user + system;
}

/** Mean CPU of a call, us, after a warm-up of as many calls. */
export async function cpuUsACall(calls: number, call: (i: number) => unknown): Promise<number> {
  for (let i = 0; i < calls; i++) await call(i);
  const us = await cpuUs(async () => {
    for (let i = 0; i < calls; i++) await call(i);
  });
  return us / calls;
}

export const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
export const mean = (values: readonly number[]): number => sum(values) / values.length;

/** Between the two in the middle of an even number. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return ((sorted[(sorted.length - 1) >> 1] ?? Number.NaN) + (sorted[sorted.length >> 1] ?? Number.NaN)) / 2;
}

/**
 * Runs each of several things once a round, so that a busy machine is slow for all of them; which comes first changes
 * with the round.
 */
export async function inTurn<Key, Result>(
  keys: readonly Key[],
  rounds: number,
  run: (key: Key, round: number) => Result | Promise<Result>,
): Promise<Map<Key, Result[]>> {
  const results = new Map<Key, Result[]>(keys.map((key) => [key, []]));
  for (let round = 0; round < rounds; round++) {
    for (const key of round % 2 === 0 ? keys : keys.toReversed()) results.get(key)?.push(await run(key, round));
  }
  return results;
}

/** The cheapest of several runs: on a shared machine, other processes evict the caches. */
export async function cheapest<Run extends { readonly cpuMs: number }>(
  runs: number,
  run: () => Promise<Run>,
): Promise<Run> {
  let best = await run();
  for (let i = 1; i < runs; i++) {
    const next = await run();
    if (next.cpuMs < best.cpuMs) best = next;
  }
  return best;
}

export const percent = (part: number, whole = 1): number => (100 * part) / whole;
