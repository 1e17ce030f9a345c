import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const mount = (...args: readonly string[]): boolean => spawnSync('mount', args).status === 0;
export const unmount = (dir: string): void => void spawnSync('umount', ['-l', dir]);

/** Mounts a file system of this size, bytes or with a letter (`8m`), on a folder. */
export const mountDisk = (dir: string, size: number | string): boolean =>
  process.platform === 'linux' && mount('-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', dir);

/** Root may not mount either in most containers. */
function canMount(): boolean {
  if (process.platform !== 'linux' || process.geteuid?.() !== 0) return false;
  const dir = mkdtempSync(join(tmpdir(), 'incrawl-mount-'));
  try {
    const isMounted = mountDisk(dir, '4k');
    if (isMounted) unmount(dir);
    return isMounted;
  } finally {
    rmdirSync(dir);
  }
}

export const MOUNTS = canMount();
/** For the name of a test that needs it. */
export const MOUNT = MOUNTS ? '' : ' (skipped: only root of Linux can mount a file system)';
