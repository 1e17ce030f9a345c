import { spawn } from 'node:child_process';
import { closeSync, existsSync, openSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { workDir } from '../../../support/work-dir.ts';
import { BINARY, run } from '../../support/binary.ts';

describe.concurrent('output of the program', () => {
  it.skipIf(process.platform === 'win32').each([['--help'], ['--version'], ['help'], ['config']])(
    '%s into a file that cannot grow ends with an error that says so, once',
    async (command) => {
      const cwd = workDir();
      const child = spawn('sh', ['-c', `ulimit -f 0; exec "$0" "$1" ${command} > out`, process.execPath, BINARY], {
        cwd,
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      let stderr = '';
      child.stderr.on('data', (text) => {
        stderr += text;
      });
      const code = await new Promise((resolve) => child.on('close', resolve));
      expect(code).toBe(1);
      expect(stderr).toMatch(/^incrawl: EFBIG: [^\n]*\n$/);
    },
  );

  it.skipIf(!existsSync('/dev/full'))('says when stdout cannot be written (needs /dev/full): exit code 3', async () => {
    const full = openSync('/dev/full', 'w');
    const child = spawn(process.execPath, [BINARY, 'config'], { stdio: ['ignore', full, 'pipe'], cwd: workDir() });
    let stderr = '';
    child.stderr?.on('data', (text) => {
      stderr += String(text);
    });
    const code = await new Promise((resolve) => child.on('close', resolve));
    closeSync(full);
    expect({ code, stderr }).toEqual({ code: 3, stderr: expect.stringMatching(/^incrawl: ENOSPC/) });
  });

  it('ends quietly when the reader of stdout has closed the pipe', async () => {
    const child = spawn(process.execPath, [BINARY, 'config'], { stdio: ['ignore', 'pipe', 'pipe'], cwd: workDir() });
    child.stdout.destroy();
    let stderr = '';
    child.stderr.on('data', (text) => {
      stderr += String(text);
    });
    const code = await new Promise((resolve) => child.on('close', resolve));
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });

  it('ends with the exit code of wrong usage', async () => {
    expect(await run(['crwl'], { cwd: workDir() })).toEqual({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining("incrawl: unknown command 'crwl'"),
    });
  });
});
