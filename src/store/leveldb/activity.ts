// store/leveldb/: a crawl db in LevelDB: opening, lock, snapshot and repair of its files.

import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** Files that every write to the db changes or replaces. */
const WRITTEN = /^(?:CURRENT|MANIFEST-\d+|\d+\.log)$/;

/**
 * A stamp of the db's files. Equal stamps: the db was not written between them. Needs no lock. Empty text: there is no
 * db.
 * @param dir folder of the LevelDB files
 */
export async function activityStamp(dir: string): Promise<string> {
  let names: string[];
  try {
    names = (await readdir(dir)).filter((name) => WRITTEN.test(name)).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
  const marks = await Promise.all(
    names.map(async (name) => {
      try {
        const { size, mtimeMs } = await stat(join(dir, name));
        return `${name}:${size}:${mtimeMs}`;
      } catch {
        // Replaced since the folder was read.
        return `${name}:`;
      }
    }),
  );
  return marks.join(' ');
}
