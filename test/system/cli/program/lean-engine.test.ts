import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { run } from '../../support/binary.ts';

it('sets no flag that this V8 does not know: it would say so with every command', async () => {
  expect(await run(['--version'])).toMatchObject({ code: 0, stderr: '' });
});

it('keeps the young generation of the main thread small with any Node, and gives workers theirs at once', () => {
  const script = fileURLToPath(new URL('../support/young-generation.mjs', import.meta.url));
  const { stdout, stderr } = spawnSync(process.execPath, [script], { encoding: 'utf8' });
  expect(stderr).toBe('');
  const { main, half } = JSON.parse(stdout) as { main: number; half: number };
  expect(main).toBeGreaterThanOrEqual(8);
  expect(main).toBeLessThanOrEqual(40);
  expect(half).toBeCloseTo(4, 0);
});
