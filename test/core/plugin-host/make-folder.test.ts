import { existsSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { makeFolder } from '../../../src/core/plugin-host/make-folder.ts';

const root = mkdtempSync(join(tmpdir(), 'incrawl-folder-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe('a folder', () => {
  it('is made with those above it, by several at once as well, and may be there', async () => {
    const dir = join(root, 'a', 'b', 'c');
    await Promise.all([makeFolder(dir), makeFolder(dir), makeFolder(join(root, 'a', 'b'))]);
    await makeFolder(`${dir}/`);
    await makeFolder(relative('.', join(dir, 'd')));
    expect(statSync(join(dir, 'd')).isDirectory()).toBe(true);
    symlinkSync(dir, join(root, 'link'));
    await makeFolder(join(root, 'link'));
  });

  it('is not made below a file, nor in its place', async () => {
    const file = join(root, 'file');
    writeFileSync(file, '');
    await expect(makeFolder(file)).rejects.toMatchObject({ code: 'EEXIST' });
    await expect(makeFolder(join(file, 'x', 'y'))).rejects.toMatchObject({ code: 'ENOTDIR' });
  });

  it.skipIf(!existsSync('/proc/self'))('is not tried for ever where the file system has no place for one', async () => {
    await expect(makeFolder('/proc/incrawl/x')).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
