import { constants, copyFileSync, linkSync, symlinkSync } from 'node:fs';

/**
 * Makes a second name for a file that is no longer written: a hard link where the file system can, else a symbolic
 * link, else a copy. Removing it leaves the file alone. Throws `ENOENT` when the file is gone.
 * @param from absolute
 */
export function shareFile(from: string, to: string): void {
  for (const share of [linkSync, symlinkSync]) {
    try {
      share(from, to);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw error;
    }
  }
  copyFileSync(from, to, constants.COPYFILE_FICLONE);
}
