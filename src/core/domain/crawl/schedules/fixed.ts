import type { FetchSchedule } from '../revisit/schedule.ts';

/** Every page is visited after the same interval, whatever its visits found. */
export function createFixedSchedule(options: { intervalMs: number }): FetchSchedule {
  const { intervalMs } = options;
  return {
    name: 'fixed',
    initialIntervalMs: intervalMs,
    onVisit: (memory, visit) => ({
      memory: { ...memory, intervalMs },
      nextFetchAt: visit.now + intervalMs,
      terms: [{ label: 'fixed interval', value: intervalMs, unit: 'ms' }],
    }),
  };
}
