import { createSimilaritySchedule, SIMILARITY_DEFAULTS } from 'incrawl/bundled';
import { definePlugin } from 'incrawl/plugin';
import { z } from 'zod';

const rate = z.number().min(0).max(1);

const options = z.strictObject({
  incRate: rate
    .default(SIMILARITY_DEFAULTS.incRate)
    .describe('Growth of the interval after a visit with similarity 1.'),
  decRate: rate
    .default(SIMILARITY_DEFAULTS.decRate)
    .describe('Shrinkage of the interval after a visit with similarity 0.'),
  saturationBits: z
    .number()
    .int()
    .min(1)
    .max(64)
    .default(SIMILARITY_DEFAULTS.saturationBits)
    .describe('Hamming distance from which a page counts as wholly changed, bits.'),
  hysteresis: rate
    .default(SIMILARITY_DEFAULTS.hysteresis)
    .describe('Factors this close to 1 leave the interval alone.'),
});

export default definePlugin({
  name: 'schedule-similarity',
  api: 1,
  options,
  setup: (host, rates) => createSimilaritySchedule({ ...rates, ...host.intervals }),
});
