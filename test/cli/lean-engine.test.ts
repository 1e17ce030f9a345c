import { expect, it } from 'vitest';
import { run } from './binary.ts';

it('sets no flag that this V8 does not know: it would say so with every command', async () => {
  expect(await run(['--version'])).toMatchObject({ code: 0, stderr: '' });
});
