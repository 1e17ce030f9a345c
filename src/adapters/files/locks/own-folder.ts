import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { isProcessGone } from './process-gone.ts';

/** Part of the names below: containers that share a folder, but not process ids, differ in it. */
const MACHINE = hostname().replace(/[^\w.]/g, '_');

/**
 * Makes a folder for temporary files in `dir`, named by this process. Folders of the same prefix that killed processes
 * of this machine have left are removed: their links would keep deleted files of a crawl db on the disk.
 */
export function ownFolder(dir: string, prefix: string): string {
  const named = `${prefix}-${MACHINE}-`;
  quietly(() => {
    for (const name of readdirSync(dir)) {
      const pid = name.startsWith(named) ? /^(\d+)-/.exec(name.slice(named.length))?.[1] : undefined;
      if (pid !== undefined && isProcessGone(Number(pid))) {
        quietly(() => rmSync(join(dir, name), { recursive: true, force: true }));
      }
    }
  });
  return mkdtempSync(join(dir, `${named}${process.pid}-`));
}

/**
 * A name beside `file`, with the id of this process, for a file that is not complete yet: two writers of one file do
 * not mix. Such files that killed processes of this machine have left in the folder are removed, with what a database
 * put beside them (`.lock`, `-journal`).
 */
export function ownPartial(file: string): string {
  const folder = dirname(file);
  const mark = `.${MACHINE}-`;
  quietly(() => {
    for (const name of readdirSync(folder)) {
      const [before = '', after] = name.split(mark);
      const pid =
        before === '' || after === undefined ? undefined : /^(\d+)\.partial(?:\.lock|-journal)?$/.exec(after)?.[1];
      if (pid !== undefined && isProcessGone(Number(pid))) {
        quietly(() => rmSync(join(folder, name), { recursive: true, force: true }));
      }
    }
  });
  return `${file}${mark}${process.pid}.partial`;
}

/** In a folder that all users share, files may be of another user; they stay until that user comes. */
function quietly(clear: () => void): void {
  try {
    clear();
  } catch {}
}
