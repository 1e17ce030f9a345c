import { constants, copyFileSync, linkSync, symlinkSync } from 'node:fs';

/**
 * A second name for a file that nobody writes to again, for as long as a shadow lasts: a link where the file system
 * can, else a pointer, else a copy. Removing it leaves the file alone. Throws `ENOENT` when the file is gone.
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
