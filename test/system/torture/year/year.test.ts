import { expect, it } from 'vitest';
import { year } from './year.ts';

// `npm run torture -- --year` plays all of it, with recorded sites.
it.skipIf(process.platform !== 'linux')(
  'weeks of a schedule with prune, backup, restore, kills and a clock that is set end without a fault',
  async () => {
    const lines: string[] = [];
    const say = (line: string): void => void lines.push(line);
    const { faults, restarts } = await year(say, { days: 48, hosts: 6, data: '', restartDays: 6, seed: 20261128 });
    expect(
      faults.filter((fault) => !fault.startsWith('it grows')),
      lines.join('\n'),
    ).toEqual([]);
    expect(restarts).toBeGreaterThan(0);
  },
  600_000,
);
