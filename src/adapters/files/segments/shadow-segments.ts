import { constants, copyFileSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { LOCK } from '../locks/folder-lock.ts';
import { shareFile } from '../share-file.ts';
import { INFO, isFinished, readMark } from './segment-folder.ts';

/**
 * The segments of a folder once more, so that what is done to them does not touch the originals. Those that are done
 * with share their files; those that may still be written to are copied.
 * @param written ids of segments that will be written to, done with or not
 */
export function shadowSegments(from: string, to: string, written: readonly string[]): void {
  if (!existsSync(from)) return;
  for (const { name: id } of readdirSync(from, { withFileTypes: true }).filter((entry) => entry.isDirectory())) {
    const folder = join(from, id);
    const isShared = !written.includes(id) && isDone(folder);
    mkdirSync(join(to, id), { recursive: true });
    // Outcomes before the responses they tell of: what is appended meanwhile comes in that order.
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
    // Whoever reads it in the shadow is told.
    return false;
  }
}
