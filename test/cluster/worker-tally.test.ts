import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { WorkerTally } from '../../src/cluster/workers/worker-tally.ts';
import type { CrawlProgress } from '../../src/core/steps/summaries.ts';

const WHO = { host: 'alpha', pid: 7 };
const progress = (segment: string, done: number): CrawlProgress => ({
  ...{ round: 1, stage: 'fetch', segment, urls: 100, done, inFlight: 2, waiting: 5, parsing: 0 },
  ...{ pagesPerSecond: 1, bytesReceived: 10 * done, bytesSaved: 0, busiest: [] },
});

describe('what a worker tells of itself', () => {
  it('counts each visit once, in lists that grow, come anew or begin again', () => {
    const lists = fc.array(
      fc.record({ partition: fc.integer({ min: 0, max: 3 }), steps: fc.array(fc.integer({ min: 0, max: 9 })) }),
    );
    fc.assert(
      fc.property(lists, (rounds) => {
        const tally = new WorkerTally(WHO, () => 0);
        let visits = 0;
        for (const [i, { partition, steps }] of rounds.entries()) {
          let done = 0;
          for (const step of steps) {
            done += step;
            visits += step;
            tally.progress(partition, progress(`list-${i}`, done));
          }
          tally.round();
        }
        expect(tally.report()).toMatchObject({ ...WHO, visits, bytesReceived: 10 * visits, rounds: rounds.length });
      }),
    );
  });

  it('takes the speed of the last ten seconds, and none once nothing has been done for as long', () => {
    let now = 0;
    const tally = new WorkerTally(WHO, () => now);
    expect(tally.report().visitsPerSecond).toBe(0);
    for (let second = 1; second <= 30; second++) {
      now += 1_000;
      tally.progress(0, progress('a', second < 20 ? second : 19 + (second - 19) * 5));
    }
    expect(tally.report()).toMatchObject({ visitsPerSecond: 5, inFlight: 2, waiting: 5 });
    now += 5_000;
    expect(tally.report().visitsPerSecond).toBe(2.5);
    tally.end(0);
    now += 60_000;
    expect(tally.report()).toMatchObject({ visitsPerSecond: 0, inFlight: 0, waiting: 0, underWay: [] });
  });

  it('names the rounds that it plays, by partition', () => {
    const tally = new WorkerTally(WHO, () => 0);
    tally.progress(3, progress('c', 4));
    tally.progress(1, progress('a', 2));
    tally.progress(2, progress('b', 1));
    tally.end(2);
    expect(tally.report().underWay).toEqual([
      { partition: 1, stage: 'fetch', urls: 100, done: 2 },
      { partition: 3, stage: 'fetch', urls: 100, done: 4 },
    ]);
  });
});
