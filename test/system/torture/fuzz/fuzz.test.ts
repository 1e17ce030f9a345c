import { afterAll, describe, expect, it } from 'vitest';
import { corpusOf } from './corpus.ts';
import { tryInputs } from './fuzz.ts';
import { StepCounter, wrongSteps } from './steps/step-counter.ts';
import { fuzzTargets } from './targets.ts';

const SEED = 20261123;
const RUNS = 150;
const targets = await fuzzTargets();
const counter = new StepCounter();
afterAll(async () => {
  await counter.close();
  for (const target of targets) await target.close?.();
});

// `npm run torture -- --fuzz` goes on for as long as one likes.
describe.each(targets.map((target) => [target.name, target] as const))('foreign bytes: %s', (name, target) => {
  it.each(corpusOf(name).map((file) => [file.name, file.input] as const))('%s of the corpus', async (_, input) => {
    await target.check(input);
  });

  it.skipIf(target.stepsPerByte === null)('takes steps by the bytes of its inputs', { timeout: 120_000 }, async () => {
    const wrong: string[] = [];
    for (const { input } of corpusOf(name)) wrong.push(wrongSteps(target, await counter.count(name, input), input));
    expect(wrong.filter((each) => each !== '')).toEqual([]);
  });

  it(`inputs made from the corpus and the grammar, seed ${SEED}`, { timeout: 120_000 }, async () => {
    const found = await tryInputs(target, SEED, Math.min(RUNS, target.runs ?? RUNS));
    expect(found === null ? null : { reason: found.reason, input: found.input.toString('latin1') }).toBeNull();
  });
});
