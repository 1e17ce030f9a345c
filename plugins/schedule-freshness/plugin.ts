import { createFreshnessSchedule, definePlugin, SIMHASH64_LIKELIHOOD_RATIOS } from 'incrawl/plugin';
import { z } from 'zod';

const options = z.strictObject({
  likelihoodRatios: z
    .array(z.number().positive())
    .min(2)
    .max(65)
    .default([...SIMHASH64_LIKELIHOOD_RATIOS])
    .describe('By Hamming distance 0, 1, .. bits: how much likelier after a major change than after a minor one.'),
});

export default definePlugin({
  name: 'schedule-freshness',
  api: 1,
  options,
  setup: (host, { likelihoodRatios }) => createFreshnessSchedule({ likelihoodRatios, ...host.intervals }),
});
