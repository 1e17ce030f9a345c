import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { lockFolder } from '../../../../src/store/files/locks/folder-lock.ts';
import { workDir } from '../../../support/work-dir.ts';

it.skipIf(process.platform !== 'linux')(
  'the lock of a killed process that its parent has not waited for is stale (skipped where there is no /proc)',
  async () => {
    // exec leaves the shell's child to a program that does not wait for children.
    const parent = spawn('sh', ['-c', 'sleep 0.3 & echo $!; exec sleep 60'], { stdio: ['ignore', 'pipe', 'ignore'] });
    const [line] = await once(parent.stdout, 'data');
    const pid = Number(String(line));
    await expect.poll(() => readFileSync(`/proc/${pid}/stat`, 'latin1'), { timeout: 30_000 }).toContain(') Z ');
    const folder = workDir();
    writeFileSync(join(folder, 'writer.lock'), JSON.stringify({ pid, host: hostname(), startedAt: 1 }));
    lockFolder(folder, 'the segment').release();
    parent.kill();
  },
);
