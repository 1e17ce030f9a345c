import { describe, expect, it } from 'vitest';
import { carryOut } from '../../src/cluster/partitions/orders.ts';
import { newDatum } from '../../src/core/domain/crawl/states/datum.ts';
import type { Log } from '../../src/core/ports/log.ts';
import type { CrawlDeps } from '../../src/operations/deps.ts';
import { systemClock } from '../../src/operations/system/clock.ts';
import { createMemoryCrawlDb } from '../memory/crawl-db.ts';

const NOW = 1_800_000_000_000;
const URL = 'https://a.example/';

function depsOf() {
  const said: string[] = [];
  const say = (message: string) => void said.push(message);
  const log: Log = { debug: say, info: say, warn: say, error: say };
  const db = createMemoryCrawlDb();
  const deps = {
    dir: 'partitions/003',
    runtime: { clock: { ...systemClock, now: () => NOW }, log, random: () => 0, onWork: () => {} },
    plugins: { loaded: { urlChain: { normalizers: [], filters: [] } }, policy: {} },
    store: () => ({ db }),
  } as unknown as CrawlDeps;
  return { deps, db, said };
}

describe('an order to the holder of a partition', () => {
  it('that it does not know, or whose arguments are wrong, is left with a warning', async () => {
    const { deps, said } = depsOf();
    await carryOut(deps, { command: 'drop', args: [] });
    await carryOut(deps, { command: 'toString', args: [] });
    await carryOut(deps, { command: 'touchMatching', args: [{ where: 'depth is ..' }, NOW] });
    expect(said).toEqual(
      ['drop', 'toString', 'touchMatching'].map((name) => `${name}: not carried out for another process`),
    );
  });

  it('carried out twice does no more than once', async () => {
    const { deps, db, said } = depsOf();
    const datum = { ...newDatum({ url: URL, now: NOW, intervalMs: 1, depth: 0 }), state: 'gone' as const };
    await db.write({ puts: [{ datum: { ...datum, nextFetchAt: NOW + 5_000 }, previous: null }] });
    const order = { command: 'retry', args: [{ state: 'gone' }] };
    await carryOut(deps, order);
    const after = await db.get(URL);
    expect(after?.nextFetchAt).toBe(NOW);
    await carryOut(deps, order);
    expect(await db.get(URL)).toEqual(after);
    expect(said).toEqual(Array(2).fill('retry: carried out for another process'));
  });

  it('that meets a fault of the crawl db is kept', async () => {
    const { deps } = depsOf();
    const scan = (): never => {
      throw new Error('away');
    };
    const broken = { ...deps, store: () => ({ db: { scan } }) };
    await expect(
      carryOut(broken as unknown as CrawlDeps, { command: 'retry', args: [{ state: 'gone' }] }),
    ).rejects.toThrow('away');
  });
});
