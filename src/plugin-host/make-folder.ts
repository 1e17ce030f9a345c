import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Makes a folder that a user named, with those above it, unless it is there. Node's own `recursive` turns in circles
 * for ever where a file system answers that a new folder has nothing to lie in, though it has: /proc does, and so do
 * automounted places.
 */
export async function makeFolder(dir: string): Promise<void> {
  try {
    await mkdir(dir);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const above = dirname(dir);
    if (code !== 'ENOENT' || above === dir) return expectFolder(dir, error);
    await makeFolder(above);
    await mkdir(dir).catch((again: unknown) => expectFolder(dir, again));
  }
}

/**
 * Also where it came meanwhile, and where the file system cannot be written: a folder that is there need not be made.
 */
async function expectFolder(dir: string, error: unknown): Promise<void> {
  const found = await stat(dir).catch(() => null);
  if (found?.isDirectory() !== true) throw error;
}
