import { constants, copyFileSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { LOCK } from '../locks/folder-lock.ts';
import { shareFile } from '../share-file.ts';
import { INFO, isFinished, readMark } from './segment-folder.ts';

/**
 * Makes a copy of the segments of a folder that can be changed without the originals. Finished segments share their
 * files; those that may still be written are copied.
 * @param written ids of segments that will be written in the copy, finished or not
 */
export function shadowSegments(from: string, to: string, written: readonly string[]): void {
  if (!existsSync(from)) return;
  for (const { name: id } of readdirSync(from, { withFileTypes: true }).filter((entry) => entry.isDirectory())) {
    const folder = join(from, id);
    const isShared = !written.includes(id) && isDone(folder);
    mkdirSync(join(to, id), { recursive: true });
    // Outcomes before the responses that they point at: they are appended in that order.
    for (const name of readdirSync(folder).sort().reverse()) {
      if (name.startsWith(LOCK)) continue;
      if (isShared && name !== INFO) shareFile(join(folder, name), join(to, id, name));
      else copyFileSync(join(folder, name), join(to, id, name), constants.COPYFILE_FICLONE);
    }
  }
}

function isDone(folder: string): boolean {
  try {
    return isFinished(folder) && readMark(folder).info.state === 'updated';
  } catch {
    // Readers of the copy get an error.
    return false;
  }
}
