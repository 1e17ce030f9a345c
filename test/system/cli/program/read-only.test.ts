import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { workDir } from '../../../support/work-dir.ts';
import { BINARY } from '../../support/binary.ts';

/** Root may write everywhere, and so runs the program as another user. */
const UNPRIVILEGED = 65_534;
const isRoot = process.getuid?.() === 0;

function run(...args: readonly string[]) {
  const user = isRoot ? { uid: UNPRIVILEGED, gid: UNPRIVILEGED } : {};
  const { status, stdout, stderr } = spawnSync(process.execPath, [BINARY, ...args], { encoding: 'utf8', ...user });
  return { code: status, stdout, stderr };
}

const canRun = run('--version').code === 0;
const title = 'answers where it may read but not write, and says so where it would write';

it.skipIf(!canRun)(canRun ? title : `${title} (another user cannot run the program here)`, () => {
  const place = workDir();
  if (isRoot) chownSync(place, UNPRIVILEGED, UNPRIVILEGED);
  const dir = join(place, 'crawldb');
  expect(run('inject', 'http://example.org/', '--dir', dir)).toMatchObject({ code: 0 });
  const [db, lock] = [join(dir, 'db'), join(dir, 'db', 'LOCK')];
  for (const [path, mode] of [
    [lock, 0o444],
    [db, 0o555],
    [dir, 0o555],
  ] as const)
    chmodSync(path, mode);
  const before = readdirSync(dir, { recursive: true });
  for (const question of [['readdb', '--stats'], ['explain', 'http://example.org/'], ['forecast', 'plan'], ['export']])
    expect(run(...question, '--dir', dir)).toMatchObject({ code: 0, stderr: '' });
  expect(readdirSync(dir, { recursive: true })).toEqual(before);
  const { code, stderr } = run('inject', 'http://example.org/x', '--dir', dir);
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: expect.stringMatching(/^incrawl: the crawl db cannot be written \(.*\)\n$/),
  });
  for (const path of [dir, db]) chmodSync(path, 0o755);
});
