import { createFreshnessSchedule, SIMHASH64_LIKELIHOOD_RATIOS } from 'incrawl/bundled';
import { definePlugin } from 'incrawl/plugin';
import { z } from 'zod';

const options = z.strictObject({
  likelihoodRatios: z
    .array(z.number().positive())
    .min(2)
    .max(65)
    .default([...SIMHASH64_LIKELIHOOD_RATIOS])
    .describe('Likelihood ratios of a major to a minor change, for the Hamming distances 0, 1, .. bits.'),
});

export default definePlugin({
  name: 'schedule-freshness',
  api: 1,
  options,
  setup: (host, { likelihoodRatios }) => createFreshnessSchedule({ likelihoodRatios, ...host.intervals }),
});
