import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Builds what has changed: tests run what is built, not what was. */
export default function build(): void {
  const script = fileURLToPath(new URL('../../scripts/ready.mjs', import.meta.url));
  const { status } = spawnSync(process.execPath, [script], { stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new Error('the build failed');
}
