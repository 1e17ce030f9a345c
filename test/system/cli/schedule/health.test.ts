import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type Health, openHealthFile } from '../../../../src/remote/schedule/health.ts';
import { workDir } from '../../../support/work-dir.ts';

const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
const at = new Date(0).toISOString();
const counts = { runs: 0, failedRuns: 0, skippedStarts: 0 };
const health: Health = {
  ...{ pid: 7, state: 'running', at, startedAt: at, timetable: 'every 1m', ...counts },
  ...{ nextRunAt: null, run: null, lastRun: null },
};

it('the health file never replaces a pipe or a device', async () => {
  const pipe = join(workDir(), 'pipe');
  execFileSync('mkfifo', [pipe]);
  await expect(openHealthFile(pipe, log).report(health)).rejects.toMatchObject({
    code: 'usage-invalid',
  });
  expect(statSync(pipe).isFIFO()).toBe(true);
});
