import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';

export interface MountedDisk {
  readonly dir: string;
  /** False where this user may not mount: the folder is one like others. */
  readonly isMounted: boolean;
  unmount(): void;
}

/** A folder whose file system is its own, and so large, bytes. */
export function mountedDisk(dir: string, bytes: number): MountedDisk {
  mkdirSync(dir);
  const isMounted =
    process.platform === 'linux' &&
    spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', dir]).status === 0;
  return {
    dir,
    isMounted,
    unmount: () => {
      if (isMounted) spawnSync('umount', ['-l', dir]);
    },
  };
}
