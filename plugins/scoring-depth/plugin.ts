import { definePlugin } from 'incrawl/plugin';
import { z } from 'zod';

const options = z.strictObject({
  order: z
    .enum(['priority', 'breadth-first', 'depth-first'])
    .default('priority')
    .describe('Order of new URLs: by score, near a seed first, or far from a seed first.'),
  seedScore: z.number().positive().default(1).describe('Score of a seed without one.'),
  decay: z.number().min(0).max(1).default(0.5).describe('Factor on the score for each link.'),
  noiseFactor: z.number().min(0).max(1).default(0.2).describe('Factor on the score of a noise link.'),
});

const DAY_MS = 86_400_000;
/** Scores do not sink below this, so that far pages still differ by how long they have been waiting. */
const LEAST_SCORE = 1e-6;

export default definePlugin({
  name: 'scoring-depth',
  api: 1,
  options,
  setup: (_host, { order, seedScore, decay, noiseFactor }) => ({
    seedScore: () => seedScore,
    outlinkScore: (parent, outlink, depth) => {
      const kept = outlink.noise === undefined ? 1 : noiseFactor;
      if (order === 'breadth-first') return Math.max(LEAST_SCORE, kept / (1 + depth));
      if (order === 'depth-first') return Math.max(LEAST_SCORE, kept * (1 + depth));
      return Math.max(LEAST_SCORE, parent.score * decay * kept);
    },
    rank: (candidate, now) => {
      if (order !== 'priority' && candidate.lastFetchAt === null) return candidate.score;
      // A page that has waited long overtakes: its rank grows by its score with each day overdue.
      return candidate.score * (1 + Math.max(0, now - candidate.dueAt) / DAY_MS);
    },
  }),
});
