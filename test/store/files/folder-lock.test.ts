import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { lockFolder } from '../../../src/store/files/locks/folder-lock.ts';
import { temporaryFolders } from './temporary-folder.ts';

const newFolder = temporaryFolders();

/** A lock as another process would have left it. */
function leave(folder: string, holder: unknown, ageMs = 0): string {
  const file = join(folder, 'writer.lock');
  writeFileSync(file, typeof holder === 'string' ? holder : JSON.stringify(holder));
  const at = new Date(Date.now() - ageMs);
  utimesSync(file, at, at);
  return file;
}

describe('the lock of a segment', () => {
  it('is held until released, and named by its process', () => {
    const folder = newFolder();
    const lock = lockFolder(folder, 'the segment');
    expect(() => lockFolder(folder, 'the segment')).toThrow(
      expect.objectContaining({ code: 'db-locked', message: expect.stringContaining('this very process') }),
    );
    lock.release();
    const next = lockFolder(folder, 'the segment');
    // A second release must not take the lock of another.
    lock.release();
    expect(existsSync(join(folder, 'writer.lock'))).toBe(true);
    next.release();
    expect(readdirSync(folder)).toEqual([]);
  });

  it('is taken again by a process that could not read it when it gave it back', () => {
    const folder = newFolder();
    const [file, aside] = [join(folder, 'writer.lock'), join(folder, 'aside')];
    const lock = lockFolder(folder, 'the segment');
    renameSync(file, aside);
    // Reading it fails, as it does on a bad disk.
    mkdirSync(file);
    expect(lock.release()).toBe(false);
    rmdirSync(file);
    renameSync(aside, file);
    const next = lockFolder(folder, 'the segment');
    expect(() => lockFolder(folder, 'the segment')).toThrow(expect.objectContaining({ code: 'db-locked' }));
    next.release();
    expect(readdirSync(folder)).toEqual([]);
  });

  it('of a killed process with the same id, whose other name of it is left, is taken over', () => {
    const folder = newFolder();
    const file = leave(folder, { pid: process.pid, host: hostname(), startedAt: 1 });
    linkSync(file, `${file}.${hostname().replace(/[^\w.]/g, '_')}-${process.pid}.partial`);
    lockFolder(folder, 'the segment').release();
    expect(readdirSync(folder)).toEqual([]);
  });

  it('of a living process stands', () => {
    const folder = newFolder();
    leave(folder, { pid: process.ppid, host: hostname(), startedAt: 1 });
    expect(() => lockFolder(folder, 'the segment')).toThrow(new RegExp(`process ${process.ppid} on `));
  });

  it('of another machine stands while it shows signs of life', () => {
    const folder = newFolder();
    leave(folder, { pid: 1, host: 'elsewhere.example', startedAt: 1 });
    expect(() => lockFolder(folder, 'the segment')).toThrow(/process 1 on elsewhere\.example/);
    leave(folder, '', 0);
    expect(() => lockFolder(folder, 'the segment')).toThrow(/another process/);
  });

  // Beyond the largest number that Linux gives.
  const ended = 2 ** 30;
  it.each([
    ['of a process that was killed', { pid: ended, host: hostname(), startedAt: 1 }, 0],
    ['of an earlier process of the same number', { pid: process.pid, host: hostname(), startedAt: 1 }, 0],
    ['of another machine, silent for long', { pid: 1, host: 'elsewhere.example', startedAt: 1 }, 61_000],
    ['that cannot be read, silent for long', 'torn', 61_000],
  ])('%s is taken over', (_, holder, ageMs) => {
    const folder = newFolder();
    const file = leave(folder, holder, ageMs);
    const lock = lockFolder(folder, 'the segment');
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ pid: process.pid, host: hostname() });
    expect(readdirSync(folder)).toEqual(['writer.lock']);
    lock.release();
  });

  it('that was taken over is reported to its former holder, which does not release it either', () => {
    const folder = newFolder();
    const late = lockFolder(folder, 'the segment', 60_000);
    late.requireHeld();
    const other = { pid: process.ppid, host: hostname(), startedAt: 1 };
    leave(folder, other);
    expect(() => late.requireHeld()).toThrow(expect.objectContaining({ code: 'lease-lost' }));
    late.release();
    expect(JSON.parse(readFileSync(join(folder, 'writer.lock'), 'utf8'))).toEqual(other);
  });

  it('that cannot be read is not taken for one that was taken over: the reason is given', () => {
    const folder = newFolder();
    const lock = lockFolder(folder, 'the segment');
    const file = join(folder, 'writer.lock');
    rmSync(file);
    mkdirSync(file);
    expect(() => lock.requireHeld()).toThrow(expect.objectContaining({ message: expect.stringContaining('EISDIR') }));
    expect(() => lockFolder(folder, 'the segment')).toThrow(/EISDIR/);
    expect(lock.release()).toBe(false);
    expect(existsSync(file)).toBe(true);
  });

  it('is kept for the time that its writers agree on', () => {
    const folder = newFolder();
    leave(folder, { pid: 1, host: 'elsewhere.example', startedAt: 1 }, 2_000);
    expect(() => lockFolder(folder, 'the segment', 60_000)).toThrow(/elsewhere/);
    lockFolder(folder, 'the segment', 1_000).release();
  });
});
