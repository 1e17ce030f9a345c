import fc from 'fast-check';
import { expect, it } from 'vitest';
import { PlayedRounds, type RoundSummary, totalsOf } from '../../../src/core/steps/round-summary.ts';

const roundOf = (round: number): RoundSummary => ({
  ...totalsOf([]),
  ...{ round, segment: `s${round}`, meanDistance: null, generated: round, fetched: 1, bodyBytes: 10 * round },
});

it('a run of any length has the totals of all rounds, and lists the latest 1,000 or more', () => {
  fc.assert(
    fc.property(fc.oneof(fc.nat(5), fc.integer({ min: 990, max: 4_100 })), (count) => {
      const rounds = Array.from({ length: count }, (_, i) => roundOf(i + 1));
      const played = new PlayedRounds();
      for (const round of rounds) played.add(round);
      const summary = played.summary();
      expect(played.done).toBe(count);
      expect(summary.totals).toEqual(totalsOf(rounds));
      expect(summary.rounds).toEqual(rounds.slice(count - summary.rounds.length));
      expect(summary.rounds.length).toBeGreaterThanOrEqual(Math.min(count, 1_000));
      expect(summary.rounds.length).toBeLessThan(2_000);
    }),
    { numRuns: 20 },
  );
});
