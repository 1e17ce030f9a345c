import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { randomOf } from '../random.ts';
import { NO_OBJECTS } from './failing-objects.ts';
import { NO_SPREAD, withSpread } from './spread.ts';
import { HAS_FAKETIME } from './workers.ts';

const SEED = 20261123;
const folder = mkdtempSync(join(tmpdir(), 'incrawl-spread-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const random = randomOf(SEED);
const skipped = NO_SPREAD === null ? '' : ` (skipped: ${NO_SPREAD})`;
const withoutClock = HAS_FAKETIME ? '' : ' (without a clock ahead: libfaketime is not installed)';
const withoutObjects = NO_OBJECTS === null ? '' : ` (without an object store: ${NO_OBJECTS})`;
const without = withoutClock + withoutObjects;

describe.skipIf(NO_SPREAD !== null)(`a spread crawl under blows, seed ${SEED}${skipped}${without}`, () => {
  // `npm run torture -- --spread` tries as many as one likes, and pauses workers beyond their lease, too: a request
  // that a worker has begun as it is paused reaches the host in the turn of its successor, about once in 43 pauses.
  it('ends as the embedded crawl: a store that dies, workers killed, a clock ahead, failing objects', async () => {
    const wrong = await withSpread(folder, async (bench) => {
      const { urls } = bench.site;
      const [early, late] = [Math.floor(urls / 5), Math.floor(urls / 2)];
      const store = { kind: 'store', at: early } as const;
      const kill = { kind: 'kill', at: late } as const;
      return [
        await bench.crawl({ blows: [store, kill], isAhead: false, inObjects: false, random }),
        await bench.crawl({ blows: [kill], isAhead: HAS_FAKETIME, inObjects: NO_OBJECTS === null, random }),
      ];
    });
    expect(wrong).toEqual(['', '']);
  }, 900_000);
});
