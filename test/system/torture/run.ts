/**
 * `npm run torture -- [--simulate] [--fuzz] [--faults] [--kills] [--hostile] [--soak] [--spread] [--year]`: what this
 * program promises, tried for longer than the tests can. The parts that are named run, all of them without a name. Exit
 * code 1 when anything was lost or wrong.
 *
 * - `--hours H`: for simulated crawls, and for fuzzing; `--simulate --seed N` alone replays one crawl.
 * - `--count N`: processes to kill, 1,000 by default; of the calls that fail so many, drawn, in place of all; crawls by
 *   several workers under blows, 50 by default.
 * - `--minutes M`, `--hosts N`, `--svg FILE`: of the soak.
 * - `--days N`, `--hosts N`, `--data FOLDER` (recorded sites), `--restart-days N`, `--svg FILE`: of the year.
 * - `--seed N`: of everything.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { withBench } from './bench.ts';
import { faults } from './faults/faults.ts';
import { fuzz } from './fuzz/fuzz.ts';
import { hostile } from './hostile/hostile.ts';
import { kills } from './kills/kills.ts';
import { simulate } from './simulation/simulate.ts';
import { soak } from './soak/soak.ts';
import { NO_SPREAD, spread, withSpread } from './spread/spread.ts';
import { year } from './year/year.ts';

const HOUR_MS = 3_600_000;
const PARTS = ['simulate', 'fuzz', 'faults', 'kills', 'hostile', 'soak', 'spread', 'year'] as const;
const flag = { type: 'boolean', default: false } as const;
const { values } = parseArgs({
  options: {
    simulate: flag,
    fuzz: flag,
    faults: flag,
    kills: flag,
    hostile: flag,
    soak: flag,
    spread: flag,
    year: flag,
    days: { type: 'string', default: '365' },
    data: { type: 'string', default: '../shared/histories' },
    'restart-days': { type: 'string' },
    hours: { type: 'string', default: '0.25' },
    count: { type: 'string' },
    minutes: { type: 'string', default: '60' },
    hosts: { type: 'string' },
    svg: { type: 'string' },
    seed: { type: 'string' },
  },
});
const seed = wholeNumber('--seed', values.seed ?? '1');
const milliseconds = HOUR_MS * above0('--hours', values.hours);
const count = values.count === undefined ? undefined : wholeNumber('--count', values.count);
const KILLS = 1_000;
const CRAWLS = 50;
const soaking = {
  minutes: above0('--minutes', values.minutes),
  hosts: wholeNumber('--hosts', values.hosts ?? '2000'),
  svg: values.svg,
  seed,
};
const ofYear = {
  days: wholeNumber('--days', values.days),
  hosts: wholeNumber('--hosts', values.hosts ?? '200'),
  data: values.data,
  restartDays: values['restart-days'] === undefined ? 0 : wholeNumber('--restart-days', values['restart-days']),
  svg: values.svg,
  seed,
};
const named = PARTS.filter((part) => values[part]);
const isReplay = named.join() === 'simulate' && values.seed !== undefined && !process.argv.includes('--hours');
const say = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

const folder = mkdtempSync(join(tmpdir(), 'incrawl-torture-'));
try {
  for (const part of named.length > 0 ? named : PARTS) {
    const { failures } = await run(part);
    if (failures > 0) process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function run(part: (typeof PARTS)[number]): Promise<{ readonly failures: number }> {
  switch (part) {
    case 'simulate':
      return simulate(say, { seed, milliseconds: isReplay ? 0 : milliseconds });
    case 'fuzz':
      return fuzz(say, { seed, milliseconds });
    case 'faults':
      return withBench(folder, (bench) =>
        faults(say, bench, { seed, ...(count === undefined ? {} : { faults: count }) }),
      );
    case 'kills':
      return withBench(folder, (bench) => kills(say, bench, { seed, kills: count ?? KILLS }));
    case 'hostile':
      return hostile(say, { seed });
    case 'soak':
      return soak(say, soaking);
    case 'spread':
      if (NO_SPREAD !== null) throw new Error(`spread crawls cannot be tried: ${NO_SPREAD}`);
      return withSpread(folder, (bench) => spread(say, bench, { seed, count: count ?? CRAWLS }));
    case 'year':
      return year(say, ofYear);
  }
}

function above0(option: string, text: string): number {
  return numberOf(option, text, 'a number above 0', (value) => value > 0);
}

function wholeNumber(option: string, text: string): number {
  return numberOf(option, text, 'a whole number above 0', (value) => Number.isInteger(value) && value > 0);
}

function numberOf(option: string, text: string, expected: string, isRight: (value: number) => boolean): number {
  const value = Number(text);
  if (isRight(value)) return value;
  process.stderr.write(`${option}: expected ${expected}, got "${text}"\n`);
  process.exit(2);
}
