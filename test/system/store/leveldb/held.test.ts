import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { hostname } from 'node:os';
import { expect, it } from 'vitest';
import { holderFile } from '../../../../src/store/leveldb/holder.ts';
import { openAt, temporaryDir } from '../../../store/leveldb/temporary-db.ts';

const coded = (code: string, text: string) =>
  expect.objectContaining({ name: 'CrawlError', code, message: expect.stringContaining(text) });

it('of a process without a holder file is a lock all the same', async () => {
  const dir = await temporaryDir();
  await (await openAt(dir)).close();
  const level = createRequire(import.meta.url).resolve('level');
  const script = `const { Level } = require(${JSON.stringify(level)});
    new Level(${JSON.stringify(dir)}).open().then(() => console.log('open'));
    process.stdin.resume();`;
  const child = spawn(process.execPath, ['-e', script], { stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    await once(child.stdout, 'data');
    await expect(openAt(dir)).rejects.toEqual(coded('db-locked', 'is held by another process'));
    await writeFile(
      holderFile(dir),
      JSON.stringify({ pid: child.pid, host: hostname(), since: '2025-01-02T03:04:05Z' }),
    );
    await expect(openAt(dir)).rejects.toEqual(coded('db-locked', `process ${child.pid} on`));
  } finally {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
  // The file of the dead process is still there, its lock is not.
  const db = await openAt(dir);
  expect(JSON.parse(await readFile(holderFile(dir), 'utf8'))).toMatchObject({ pid: process.pid });
  await db.close();
});
