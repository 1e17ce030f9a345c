/**
 * `npm run torture -- [--faults] [--kills N] [--seed N]`: what this program promises, tried for longer than the tests
 * can. The parts that are named run, all of them without a name. Exit code 1 when anything was lost or wrong.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { withBench } from './bench.ts';
import { faults } from './faults/faults.ts';
import { kills } from './kills/kills.ts';

const KILLS = 1_000;
const { values } = parseArgs({
  options: {
    faults: { type: 'boolean', default: false },
    kills: { type: 'string' },
    seed: { type: 'string', default: '1' },
  },
});
const seed = wholeNumber('--seed', values.seed);
const isWhole = !values.faults && values.kills === undefined;
const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

const folder = mkdtempSync(join(tmpdir(), 'incrawl-torture-'));
try {
  await withBench(folder, async (bench) => {
    if (isWhole || values.faults) count(await faults(say, bench, { seed }));
    if (isWhole || values.kills !== undefined)
      count(await kills(say, bench, { seed, kills: wholeNumber('--kills', values.kills ?? `${KILLS}`) }));
  });
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function count({ failures }: { readonly failures: number }): void {
  if (failures > 0) process.exitCode = 1;
}

function wholeNumber(option: string, text: string): number {
  const number = Number(text);
  if (Number.isInteger(number) && number > 0) return number;
  process.stderr.write(`${option}: expected a whole number above 0, got "${text}"\n`);
  process.exit(2);
}
