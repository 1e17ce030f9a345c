import { type Simulated, SimulationFailure, simulateCrawl } from '../../../simulation/crawl/simulate.ts';
import type { Piece } from '../pieces/piece.ts';

const DAY_MS = 86_400_000;
const REPORT_EVERY = 100;
/** The series of the ledger: crawls by their seeds. */
const SERIES = 'crawls';

/**
 * Simulates crawls, seed after seed, one at least; says what failed, with the line that replays it, and the sums at the
 * end.
 */
export async function simulate(say: (line: string) => void, piece: Piece): Promise<{ readonly failures: number }> {
  const first = piece.first(SERIES);
  const sums: Record<keyof Simulated, number> = {
    processes: 0,
    crashes: 0,
    requests: 0,
    effects: 0,
    records: 0,
    elapsedMs: 0,
  };
  let failures = 0;
  let seed = first;
  const sumsSoFar = (): string => {
    const { elapsedMs, ...counts } = sums;
    const parts = Object.entries(counts).map(([name, count]) => `${count} ${name}`);
    return `${seed - first} simulated crawls, ${Math.round(elapsedMs / DAY_MS)} days: ${parts.join(', ')}, ${failures} failed`;
  };
  do {
    const beganAt = performance.now();
    const next = { [SERIES]: seed + 1 };
    const seconds = (): number => (performance.now() - beganAt) / 1_000;
    try {
      const found = await simulateCrawl(seed);
      for (const name of Object.keys(sums) as (keyof Simulated)[]) sums[name] += found[name];
      const { elapsedMs, ...counts } = found;
      piece.add({ next, sums: { crawls: 1, days: elapsedMs / DAY_MS, seconds: seconds(), ...counts } });
    } catch (error) {
      if (!(error instanceof SimulationFailure)) throw error;
      failures++;
      say(error.message);
      const failure = { replay: `npm run torture -- --simulate --seed ${seed}`, reason: error.message };
      piece.add({ next, sums: { crawls: 1, seconds: seconds() }, failures: [failure] });
    }
    seed++;
    if ((seed - first) % REPORT_EVERY !== 0) continue;
    say(sumsSoFar());
    piece.keep();
  } while (!piece.isOver());
  piece.keep();
  say(sumsSoFar());
  return { failures };
}
