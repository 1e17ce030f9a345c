// core/plugin-host/: plugins: what they may use, how they are loaded and run.

import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Makes a folder and its parents, unless it exists. Node's `mkdir` with `recursive` loops for ever where a file system
 * answers ENOENT although the parent exists, as /proc and automounts do.
 * @param mode rights of a new folder; its parents get those of the system
 */
export async function makeFolder(dir: string, mode = 0o777): Promise<void> {
  try {
    await mkdir(dir, mode);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const above = dirname(dir);
    if (code !== 'ENOENT' || above === dir) return expectFolder(dir, error);
    await makeFolder(above);
    await mkdir(dir, mode).catch((again: unknown) => expectFolder(dir, again));
  }
}

/** An existing folder is success: another process may have made it, or the file system may be read-only. */
async function expectFolder(dir: string, error: unknown): Promise<void> {
  const found = await stat(dir).catch(() => null);
  if (found?.isDirectory() !== true) throw error;
}
