import { definePlugin } from 'incrawl/plugin';
import { z } from 'zod';

const options = z.strictObject({
  order: z
    .enum(['priority', 'breadth-first', 'depth-first'])
    .default('priority')
    .describe('Order of new URLs: by score, near a seed first, or far from a seed first.'),
  seedScore: z.number().positive().default(1).describe('Score of a seed that names none.'),
  decay: z.number().min(0).max(1).default(0.5).describe('Factor on the score for each link.'),
  noiseFactor: z.number().min(0).max(1).default(0.2).describe('Factor on the score of a noise link.'),
});

const DAY_MS = 86_400_000;
/** Lowest score, so that the rank of distant pages still grows with the time overdue. */
const LEAST_SCORE = 1e-6;

export default definePlugin({
  name: 'scoring-depth',
  api: 1,
  options,
  setup: (_host, { order, seedScore, decay, noiseFactor }) => ({
    seedScore: () => seedScore,
    outlinkScore: (parent, outlink, depth) => {
      const kept = outlink.noise === undefined ? 1 : noiseFactor;
      const near = outlink.isNextPage === true ? 1 : decay;
      if (order === 'breadth-first') return Math.max(LEAST_SCORE, kept / (1 + depth));
      if (order === 'depth-first') return Math.max(LEAST_SCORE, kept * (1 + depth));
      return Math.max(LEAST_SCORE, parent.score * near * kept);
    },
    ranksNewByScoreAndTime: true,
    rank: (candidate, now) => {
      if (order !== 'priority' && candidate.lastFetchAt === null) return candidate.score;
      // The rank grows by the score with each day overdue, so that long-waiting pages overtake.
      return candidate.score * (1 + Math.max(0, now - candidate.dueAt) / DAY_MS);
    },
  }),
});
