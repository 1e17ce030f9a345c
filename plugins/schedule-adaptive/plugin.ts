import { ADAPTIVE_DEFAULTS, createAdaptiveSchedule } from 'incrawl/bundled';
import { definePlugin } from 'incrawl/plugin';
import { z } from 'zod';

const rate = z.number().min(0).max(1);

const options = z.strictObject({
  incRate: rate.default(ADAPTIVE_DEFAULTS.incRate).describe('Growth of the interval after an unmodified visit.'),
  decRate: rate.default(ADAPTIVE_DEFAULTS.decRate).describe('Shrinkage of the interval after a modified visit.'),
  syncDelta: z.boolean().default(true).describe('Whether the next visit moves towards the time of change.'),
  syncDeltaRate: rate
    .default(ADAPTIVE_DEFAULTS.syncDeltaRate)
    .describe('Share of the time since the change by which the next visit moves.'),
});

export default definePlugin({
  name: 'schedule-adaptive',
  api: 1,
  options,
  setup: (host, rates) => createAdaptiveSchedule({ ...rates, ...host.intervals }),
});
