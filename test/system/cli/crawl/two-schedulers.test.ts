import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import type { Health } from '../../../../src/remote/schedule/health.ts';
import { workDir } from '../../../support/work-dir.ts';
import { start } from '../../support/binary.ts';

it('a schedule that is started twice at the same moment goes on in one process', async () => {
  const dir = workDir();
  const both = [0, 1].map(() => start(['schedule', '--every', '1h', '--dir', dir, '--allow', '127.0.0.1']));
  const second = await Promise.race(both.map(async (each) => ({ each, ...(await each.finished) })));
  expect(second.code).toBe(5);
  const first = both.find((each) => each !== second.each)!;
  // A stop within its first run would end it with another code, and that is over only when it waits for the next one.
  const health = (): Health => JSON.parse(readFileSync(join(dir, 'health.json'), 'utf8'));
  const waits = { pid: first.child.pid, lastRun: expect.anything(), nextRunAt: expect.any(String) };
  await vi.waitFor(() => expect(health()).toMatchObject(waits), { timeout: 120_000, interval: 20 });
  first.child.kill('SIGTERM');
  expect((await first.finished).code).toBe(0);
});
