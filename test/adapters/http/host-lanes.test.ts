import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { createAbortWatch } from '../../../src/adapters/http/exchange/abort-watch.ts';
import { createHostLanes } from '../../../src/adapters/http/lanes/host-lanes.ts';
import { hostLanesContract } from '../../contracts/host-lanes.contract.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

hostLanesContract('p-queue', createHostLanes);

describe('createHostLanes', () => {
  it('forgets the ends of hosts whose time has come', async () => {
    let now = 0;
    const lanes = createHostLanes({
      clock: { now: () => now, sleep: async () => {} },
      concurrency: 10,
      connectionsPerHost: 1,
      defaultDelayMs: 1000,
    });
    const run = async (from: number, to: number): Promise<number> => {
      for (let i = from; i < to; i++) {
        now += 1;
        await lanes.run(`host-${i}.example`, async () => {});
      }
      collectGarbage();
      return process.memoryUsage().heapUsed;
    };
    await run(0, 2000);
    const before = await run(2000, 4000);
    const after = await run(4000, 34_000);
    // 30,000 hosts remembered would be about 6 MB.
    expect(after - before).toBeLessThan(3_000_000);
    expect(lanes.size).toBe(0);
  });
});

describe('createAbortWatch', () => {
  it('calls back every watcher once, but not those that have left', () => {
    const watch = createAbortWatch();
    const stop = new AbortController();
    const reported: string[] = [];
    watch.watch(stop.signal, () => reported.push('a'));
    const leave = watch.watch(stop.signal, () => reported.push('b'));
    watch.watch(stop.signal, (reason) => reported.push(String(reason)));
    leave();
    stop.abort('reason');
    stop.abort('again');
    expect(reported).toEqual(['a', 'reason']);
  });
});
