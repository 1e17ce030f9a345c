import { type Simulated, SimulationFailure, simulateCrawl } from '../../../simulation/crawl/simulate.ts';

export interface SimulateOptions {
  /** The first seed; each further crawl has the next one. */
  readonly seed: number;
  /** Wall time after which no further crawl begins, ms; 0: one crawl. */
  readonly milliseconds: number;
}

const DAY_MS = 86_400_000;
const REPORT_EVERY = 100;

/** Simulates crawls, seed after seed; says what failed, with the line that replays it, and the sums at the end. */
export async function simulate(
  say: (line: string) => void,
  { seed: first, milliseconds }: SimulateOptions,
): Promise<{ readonly failures: number }> {
  const end = performance.now() + milliseconds;
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
    try {
      const found = await simulateCrawl(seed);
      for (const name of Object.keys(sums) as (keyof Simulated)[]) sums[name] += found[name];
    } catch (error) {
      if (!(error instanceof SimulationFailure)) throw error;
      failures++;
      say(error.message);
    }
    seed++;
    if ((seed - first) % REPORT_EVERY === 0) say(sumsSoFar());
  } while (performance.now() < end);
  say(sumsSoFar());
  return { failures };
}
