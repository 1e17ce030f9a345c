import { setImmediate } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { heapByStage } from '../../src/cli/lean-engine.ts';

const garbage = (): WeakRef<object> => new WeakRef({ pages: new Array(1_000).fill('a page') });

describe('the heap of a crawl', () => {
  const enter = heapByStage();
  afterEach(() => enter({ stage: 'fetch' }));

  it('is collected before each segment is applied', async () => {
    for (let round = 0; round < 2; round++) {
      enter({ stage: 'fetch' });
      const page = garbage();
      // A WeakRef holds what it was made with until the end of the job.
      await setImmediate();
      enter({ stage: 'update' });
      expect(page.deref()).toBeUndefined();
    }
  });

  it('grows as it does in fetches from the start of each crawl: the one before may have ended within an update', () => {
    const flags: string[] = [];
    heapByStage((flag) => flags.push(flag))({ stage: 'generate' });
    expect(flags).toEqual(['--heap-growing-percent=120']);
  });

  it('leaves no gc for others to call', () => {
    expect('gc' in globalThis).toBe(false);
  });
});
