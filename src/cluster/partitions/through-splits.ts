import { totalsOf, type WorkOptions, type WorkSummary } from '../workers/work-off.ts';

/**
 * Runs the work, and starts it over with all partitions when one was split. Turns under way then end as they do on a
 * signal, with what is in flight.
 * @param work plays turns of the partitions as they are when it begins; calls `onSplit` when it learns of a split
 */
export async function throughSplits(
  { seeds = [], ...options }: WorkOptions,
  work: (options: WorkOptions, onSplit: () => void) => Promise<WorkSummary>,
): Promise<WorkSummary> {
  let before: WorkSummary | null = null;
  for (;;) {
    const split = new AbortController();
    const signal = options.signal === undefined ? split.signal : AbortSignal.any([options.signal, split.signal]);
    const summary = await work({ ...options, signal, ...(before === null && { seeds }) }, () => split.abort());
    before = before === null ? summary : joined(before, summary);
    if (!split.signal.aborted || options.signal?.aborted) return before;
  }
}

const joined = (before: WorkSummary, after: WorkSummary): WorkSummary => ({
  ...after,
  rounds: [...before.rounds, ...after.rounds],
  totals: totalsOf([before.totals, after.totals]),
  roundsDone: before.roundsDone + after.roundsDone,
  turns: before.turns + after.turns,
});
