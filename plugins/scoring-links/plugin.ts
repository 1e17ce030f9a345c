import { definePlugin } from 'incrawl/plugin';
import { z } from 'zod';

const options = z.strictObject({
  seedScore: z.number().positive().default(1).describe('Score of a seed that names none.'),
  decay: z.number().min(0).max(1).default(0.5).describe('Factor on the score for each link.'),
  noiseFactor: z.number().min(0).max(1).default(0.2).describe('Factor on the score of a noise link.'),
  scorePower: z
    .number()
    .min(0)
    .max(2)
    .default(0.5)
    .describe('Power of the number of links to a page that is the factor on its score; 0: they count for nothing.'),
  visitPower: z
    .number()
    .min(0)
    .max(2)
    .default(0.125)
    .describe('The same for the worth of its visits: a page of 1,000 links is visited at less than half the chance.'),
});

const DAY_MS = 86_400_000;
/** Lowest score, so that the rank of distant pages still grows with the time overdue. */
const LEAST_SCORE = 1e-6;

export default definePlugin({
  name: 'scoring-links',
  api: 1,
  options,
  setup: (_host, { seedScore, decay, noiseFactor, scorePower, visitPower }) => ({
    seedScore: () => seedScore,
    outlinkScore: ({ score, metadata }, outlink) => {
      // The score from links belongs only to this page: a page linked by a popular one is not popular itself.
      const plain = score / Number(metadata.inlinkScore ?? 1);
      const near = outlink.isNextPage === true ? 1 : decay;
      return Math.max(LEAST_SCORE, plain * near * (outlink.noise === undefined ? 1 : noiseFactor));
    },
    inlinkFactors: (inlinks) => ({ score: inlinks ** scorePower, visit: inlinks ** visitPower }),
    ranksNewByScoreAndTime: true,
    // The rank grows by the score with each day overdue, so that long-waiting pages overtake.
    rank: ({ score, dueAt }, now) => score * (1 + Math.max(0, now - dueAt) / DAY_MS),
  }),
});
