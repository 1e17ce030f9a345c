/** `node mutated-child.js SEED COUNT`: simulates crawls by the program beside it, until one of them fails. */
import { SimulationFailure, simulateCrawl } from '../../../../simulation/crawl/simulate.ts';

/** What the process answers: the seed whose crawl failed and its first fault, or that none did. */
export interface MutatedEnd {
  readonly failed: { readonly seed: number; readonly fault: string } | null;
}

const [first, count] = process.argv.slice(2).map(Number) as [number, number];
process.send?.(await simulated(), () => process.disconnect());

async function simulated(): Promise<MutatedEnd> {
  for (let seed = first; seed < first + count; seed++) {
    try {
      await simulateCrawl(seed);
    } catch (error) {
      if (!(error instanceof SimulationFailure)) throw error;
      return { failed: { seed, fault: error.message.split('\n')[1] ?? '' } };
    }
  }
  return { failed: null };
}
