import { spawnSync } from 'node:child_process';
import { closeSync, cpSync, lchownSync, mkdirSync, openSync, rmSync, symlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type LocalSite, startSite } from '../../../cli/support/local-site.ts';
import { afterThisTest } from '../../../support/ends.ts';
import { workDir } from '../../../support/work-dir.ts';
import { run, start } from '../../support/binary.ts';
import { MOUNT, MOUNTS, mount, unmount } from '../../support/mounts.ts';

const isRoot = process.geteuid?.() === 0;
const ROOT = isRoot ? '' : ' (skipped: only root can make what belongs to another user)';

/** A folder of its own file system. */
function mounted(...options: readonly string[]): string {
  const dir = workDir();
  expect(mount(...options, dir)).toBe(true);
  afterThisTest(() => unmount(dir));
  return dir;
}

let site: LocalSite;
let state: string;

beforeAll(async () => {
  site = await startSite({ pages: 30 });
  state = join(workDir(), 'state');
  const set = ['-D', 'http.allowAddresses=127.0.0.1', '-D', 'fetch.delay=0s', '-D', 'schedule.interval=30d'];
  const { code, stderr } = await run(['crawl', `${site.origin}/`, '--dir', state, ...set]);
  expect(code, stderr).toBe(0);
});
afterAll(() => site.close());

const READERS = (): readonly (readonly string[])[] => [
  ['readdb', '--stats'],
  ['readdb', '--url', `${site.origin}/page/1`],
  ['explain', `${site.origin}/page/1`],
  ['changes', '--since', '0'],
  ['skipped'],
  ['state', 'verify'],
];

function fill(dir: string): void {
  const file = openSync(join(dir, 'filler'), 'w');
  try {
    for (let bytes = 1 << 20; bytes >= 1; bytes >>= 1) {
      try {
        while (writeSync(file, Buffer.alloc(bytes, 1)) === bytes);
      } catch {}
    }
  } finally {
    closeSync(file);
  }
}

describe('a state directory that cannot be written', () => {
  it.skipIf(!MOUNTS)(`on a full disk it is read all the same${MOUNT}`, async () => {
    const disk = mounted('-t', 'tmpfs', '-o', 'size=8m', 'tmpfs');
    const dir = join(disk, 'state');
    cpSync(state, dir, { recursive: true });
    fill(disk);
    for (const args of READERS()) {
      const { code, stderr } = await run([...args, '--dir', dir]);
      expect([args[0], code, stderr]).toEqual([args[0], 0, '']);
    }
    const tmp = join(disk, 'tmp');
    mkdirSync(tmp);
    const { code, stderr } = await run(['explain', `${site.origin}/page/1`, '--dir', dir], { env: { TMPDIR: tmp } });
    expect(code).toBe(3);
    expect(stderr).toContain(`TMPDIR names another folder (${tmp} has no space either)`);
    // Nothing was harmed by the attempts.
    rmSync(join(disk, 'filler'));
    expect(await run(['state', 'verify', '--dir', dir])).toMatchObject({ code: 0 });
  });

  it.skipIf(!MOUNTS)(`on a read-only mount it is read and served${MOUNT}`, async () => {
    const dir = mounted('--bind', state);
    expect(mount('-o', 'remount,ro,bind', dir)).toBe(true);
    for (const args of READERS()) {
      const { code, stderr } = await run([...args, '--dir', dir]);
      expect([args[0], code, stderr]).toEqual([args[0], 0, '']);
    }
    const { child, finished } = start(['serve', '--dir', dir, '--port', '0']);
    const url = await new Promise<string>((resolve, reject) => {
      let text = '';
      for (const stream of [child.stdout, child.stderr]) {
        stream?.on('data', (part: string) => {
          text += part;
          const found = /http:\/\/127\.0\.0\.1:\d+\//.exec(text)?.[0];
          if (found !== undefined) resolve(found);
        });
      }
      void finished.then(({ stderr }) => reject(new Error(stderr)));
    });
    const page = await fetch(`${url}url?u=${encodeURIComponent(`${site.origin}/page/1`)}`);
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('Page 1')]);
    child.kill('SIGTERM');
    expect((await finished).code).toBe(0);
  });
});

describe('who may read and lead a state directory', () => {
  it.skipIf(!isRoot)(`links of its owner are followed, those of others are not${ROOT}`, async () => {
    const place = workDir();
    const dir = join(place, 'state');
    mkdirSync(dir);
    mkdirSync(join(place, 'elsewhere'));
    const seed = { input: 'http://a.example/\n' };
    symlinkSync(join(place, 'elsewhere'), join(dir, 'segments'));
    symlinkSync(dir, join(place, 'link'));
    expect(await run(['inject', '--dir', join(place, 'link'), '-'], seed)).toMatchObject({ code: 0 });
    lchownSync(join(dir, 'segments'), 12_345, 12_345);
    for (const args of [
      ['inject', '-'],
      ['state', 'repair'],
    ]) {
      const { code, stderr } = await run([...args, '--dir', dir], seed);
      expect(code).toBe(2);
      expect(stderr).toContain(`${join(dir, 'segments')} is a symbolic link of another user (uid 12345)`);
    }
  });

  it.skipIf(!isRoot)(`one that another user has made in a folder like /tmp is refused${ROOT}`, async () => {
    const shared = workDir();
    expect(spawnSync('chmod', ['1777', shared]).status).toBe(0);
    const dir = join(shared, 'state');
    mkdirSync(dir, { mode: 0o777 });
    lchownSync(dir, 12_345, 12_345);
    const { code, stderr } = await run(['inject', '--dir', dir, '-'], { input: 'http://a.example/\n' });
    expect([code, stderr]).toEqual([2, expect.stringContaining('was made by another user (uid 12345)')]);
  });
});
