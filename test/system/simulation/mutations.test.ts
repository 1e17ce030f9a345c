import { describe, expect, it } from 'vitest';
import { mutatedSource } from '../torture/simulation/mutations/mutated-tree.ts';
import { MUTATIONS } from '../torture/simulation/mutations/mutations.ts';
import { simulatedWith } from '../torture/simulation/mutations/try-mutations.ts';

/** Of the ordinary test of seeds; `npm run torture -- --simulate --mutations` tries all mutations with more. */
const SEEDS = 40;
const TRIED = [
  'a WARC file of an earlier process is not synced',
  'inject is not synced',
  'leases are not synced',
  'the checksum of a frame is not compared',
];

describe('simulated crawls', () => {
  it.each(MUTATIONS)('could be tried without a guard: $name', (mutation) => {
    expect(mutatedSource(mutation)).not.toBe('');
  });

  it.each(TRIED)('fail when %s', async (name) => {
    const mutation = MUTATIONS.find((each) => each.name === name);
    if (mutation === undefined) throw new Error(`the table has no mutation "${name}"`);
    expect((await simulatedWith(mutation, 1, SEEDS)).failed).not.toBeNull();
  });
});
