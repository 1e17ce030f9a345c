import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { noBench, withBench } from './bench.ts';
import { faults } from './faults/faults.ts';
import { kills } from './kills/kills.ts';
import { unkeptPiece } from './pieces/piece.ts';

const SEED = 20261123;
const folder = mkdtempSync(join(tmpdir(), 'incrawl-torture-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const reason = noBench(folder);

// `npm run torture` tries as many as one likes.
describe.skipIf(reason !== null)(
  `commands that are disturbed, seed ${SEED}${reason === null ? '' : ` (skipped: ${reason})`}`,
  () => {
    it('killed in calls that write they leave sound states, and come to the same end when run again', async () => {
      const lines: string[] = [];
      const { kills: killed, failures } = await withBench(folder, (bench) =>
        kills((line) => lines.push(line), bench, unkeptPiece(SEED), 30),
      );
      expect({ failures, lines: failures === 0 ? [] : lines }).toEqual({ failures: 0, lines: [] });
      // A command may pass fewer calls than it did undisturbed.
      expect(killed).toBeGreaterThan(20);
    }, 600_000);

    it('calls to the system that fail cost an error or nothing, and no state', async () => {
      const lines: string[] = [];
      const { faults: failed, failures } = await withBench(folder, (bench) =>
        faults((line) => lines.push(line), bench, unkeptPiece(1), { count: 24, drawnBy: SEED }),
      );
      expect({ failures, lines: failures === 0 ? [] : lines }).toEqual({ failures: 0, lines: [] });
      expect(failed).toBeGreaterThan(15);
    }, 600_000);
  },
);
