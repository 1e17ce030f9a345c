import fc from 'fast-check';
import { answerTargets } from './answer-targets.ts';
import { addToCorpus, corpusOf } from './corpus.ts';
import { DOCUMENT_TARGETS } from './document-targets.ts';
import { FILE_TARGETS } from './file-targets.ts';
import { inputsFrom } from './inputs.ts';
import { PAGE_TARGETS } from './page-targets.ts';
import type { FuzzTarget } from './target.ts';
import { TEXT_TARGETS } from './text-targets.ts';

/** Every target; each is to be closed. */
export const fuzzTargets = async (): Promise<readonly FuzzTarget[]> => [
  ...PAGE_TARGETS,
  ...TEXT_TARGETS,
  ...FILE_TARGETS,
  ...DOCUMENT_TARGETS,
  ...(await answerTargets()),
];

export interface FoundInput {
  /** The smallest one that was found. */
  readonly input: Buffer;
  readonly reason: string;
}

/** Tries so many inputs, which follow from the seed; the first that a property does not hold for, made small. */
export async function tryInputs(target: FuzzTarget, seed: number, runs: number): Promise<FoundInput | null> {
  const inputs = inputsFrom(
    corpusOf(target.name).map(({ input }) => input),
    target.words,
  );
  const property = fc.asyncProperty(inputs, async (input) => {
    await target.check(input);
  });
  // Making it smaller tries thousands of inputs.
  const details = await fc.check(property, { seed, numRuns: runs, interruptAfterTimeLimit: 120_000 });
  if (!details.failed || details.counterexample === null) return null;
  const error = details.errorInstance;
  return { input: details.counterexample[0], reason: error instanceof Error ? error.message : String(error) };
}

const RUNS_AT_ONCE = 200;

/**
 * Fuzzes every parser of foreign bytes in turn until the time is over. A failing input is made small, reported with the
 * seed that finds it, and added to `test/corpus`, where every run of the tests tries it.
 */
export async function fuzz(
  say: (line: string) => void,
  { seed, milliseconds }: { readonly seed: number; readonly milliseconds: number },
): Promise<{ readonly failures: number; readonly inputs: number }> {
  const targets = await fuzzTargets();
  const endsAt = performance.now() + milliseconds;
  let failures = 0;
  let inputs = 0;
  const counts = new Map<string, number>();
  try {
    for (let round = 0; round === 0 || performance.now() < endsAt; round++) {
      for (const target of targets) {
        if (round > 0 && performance.now() >= endsAt) break;
        const own = (seed + round) | 0;
        const runs = Math.min(RUNS_AT_ONCE, target.runs ?? RUNS_AT_ONCE);
        const found = await tryInputs(target, own, runs);
        inputs += runs;
        counts.set(target.name, (counts.get(target.name) ?? 0) + runs);
        if (found === null) continue;
        failures++;
        say(`fuzz ${target.name}, seed ${own}: ${found.reason}`);
        say(`  ${found.input.length} bytes, kept as ${addToCorpus(target.name, found.input)}`);
      }
    }
  } finally {
    for (const target of targets) await target.close?.();
  }
  say(`fuzz: ${inputs} inputs, ${failures} failures (${[...counts].map(([name, n]) => `${name} ${n}`).join(', ')})`);
  return { failures, inputs };
}
