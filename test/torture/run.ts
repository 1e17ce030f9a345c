/**
 * `npm run torture -- [--simulate] [--hours H] [--faults] [--fuzz] [--kills N] [--seed N]`: what this program
 * promises, tried for longer than the tests can; `--hours` is for simulated crawls and for fuzzing, each. The parts that are named run, all of them without a name. Exit code 1 when anything
 * was lost or wrong.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { withBench } from './bench.ts';
import { faults } from './faults/faults.ts';
import { fuzz } from './fuzz/fuzz.ts';
import { kills } from './kills/kills.ts';
import { simulate } from './simulation/simulate.ts';

const KILLS = 1_000;
const HOUR_MS = 3_600_000;
/** Of simulated crawls, where no time is asked for. */
const HOURS = 0.25;
const { values } = parseArgs({
  options: {
    faults: { type: 'boolean', default: false },
    fuzz: { type: 'boolean', default: false },
    hours: { type: 'string' },
    kills: { type: 'string' },
    simulate: { type: 'boolean', default: false },
    seed: { type: 'string', default: '1' },
  },
});
const seed = wholeNumber('--seed', values.seed);
const milliseconds = HOUR_MS * number('--hours', values.hours ?? `${HOURS}`);
const isWhole = !values.faults && !values.fuzz && !values.simulate && values.kills === undefined;
/** Given alone, a seed is replayed. */
const isReplay = values.simulate && values.hours === undefined;
const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

if (isWhole || values.simulate) count(await simulate(say, { seed, milliseconds: isReplay ? 0 : milliseconds }));
if (isWhole || values.fuzz) count(await fuzz(say, { seed, milliseconds }));
const folder = mkdtempSync(join(tmpdir(), 'incrawl-torture-'));
try {
  if (isWhole || values.faults || values.kills !== undefined)
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

function number(option: string, text: string, isRight = (value: number): boolean => value > 0): number {
  const value = Number(text);
  if (isRight(value)) return value;
  process.stderr.write(`${option}: expected a number above 0, got "${text}"\n`);
  process.exit(2);
}

function wholeNumber(option: string, text: string): number {
  return number(option, text, (value) => Number.isInteger(value) && value > 0);
}
