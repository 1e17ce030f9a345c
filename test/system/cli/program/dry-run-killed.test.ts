import { readdirSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { workDir } from '../../../support/work-dir.ts';
import { run, start } from '../../support/binary.ts';

it('a dry run that is killed leaves nothing behind', async () => {
  const dir = workDir();
  await run(['inject', 'http://example.org/', '--dir', dir]);
  const env = { TMPDIR: workDir() };
  const left = (): string[] => readdirSync(env.TMPDIR);
  const { child } = start(['db', 'import', '--merge', '--dry-run', '--dir', dir], { env, input: null });
  const ended = new Promise<string | null>((resolve) => child.on('exit', (_, signal) => resolve(signal)));
  while (left().length === 0) await delay(20);
  child.kill('SIGTERM');
  expect(await ended).toBe('SIGTERM');
  expect(left()).toEqual([]);
});
