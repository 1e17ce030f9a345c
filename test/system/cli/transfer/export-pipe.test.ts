import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startSite } from '../../../cli/support/local-site.ts';
import { workDir } from '../../../support/work-dir.ts';
import { run } from '../../support/binary.ts';

it.runIf(process.platform !== 'win32')('a pipe or a device is written to, not replaced by a file', async () => {
  const cwd = workDir();
  const site = await startSite({ pages: 4 });
  onTestFinished(() => site.close());
  await run(['crawl', `${site.origin}/`, '--allow', '127.0.0.1', '--delay', '0'], { cwd });
  const fifo = join(cwd, 'pages.fifo');
  execFileSync('mkfifo', [fifo]);
  const [read, { code, stderr }] = await Promise.all([
    readFile(fifo, 'utf8'),
    run(['export', '-o', 'pages.fifo'], { cwd }),
  ]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('pages') });
  expect(read.trimEnd().split('\n').length).toBeGreaterThan(3);
  expect(lstatSync(fifo).isFIFO()).toBe(true);
  expect(existsSync(`${fifo}.partial`)).toBe(false);
  expect(readdirSync(cwd).filter((name) => name.includes('partial'))).toEqual([]);
});
