import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { isProcessGone } from './process-gone.ts';

/** Containers that share a folder, and have numbers of processes of their own, differ in this. */
const MACHINE = hostname().replace(/[^\w.]/g, '_');

/**
 * A new folder for temporary files in `dir`, which its name tells to be of this process. What processes of this machine
 * have left there under the same prefix when they were killed goes: its links would keep files of a crawl db on the
 * disk that the db has long done without.
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
 * A name beside `file`, which tells that this process writes there what is not whole yet: two that write one file do
 * not mix. What processes of this machine have left in the folder under such names when they were killed goes.
 */
export function ownPartial(file: string): string {
  const folder = dirname(file);
  const mark = `.${MACHINE}-`;
  quietly(() => {
    for (const name of readdirSync(folder)) {
      const [before = '', after] = name.split(mark);
      const pid = before === '' || after === undefined ? undefined : /^(\d+)\.partial$/.exec(after)?.[1];
      if (pid !== undefined && isProcessGone(Number(pid))) quietly(() => rmSync(join(folder, name), { force: true }));
    }
  });
  return `${file}${mark}${process.pid}.partial`;
}

/** In a folder that all users share, something may be another's; it stays until its owner comes. */
function quietly(clear: () => void): void {
  try {
    clear();
  } catch {}
}
