import { realpathSync } from 'node:fs';
import { basename, delimiter, dirname, isAbsolute, relative, sep } from 'node:path';

/** A word as typed in a POSIX shell. */
export const shellWord = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

/**
 * What a user types to start this program again in the same folder, for a POSIX shell: `incrawl` if it is on the PATH,
 * `npx incrawl` in a project that depends on it, otherwise `node` with the file.
 * @param script the file that Node was started with, links not followed
 * @param path the PATH
 */
export function ownCommand(script: string, cwd: string, path: string): string {
  const folder = dirname(script);
  if (basename(script) === 'incrawl') {
    // npx and the scripts of npm put this folder on the PATH while they run.
    const isOfProject = folder.endsWith(`${sep}node_modules${sep}.bin`);
    if (isOfProject && isWithin(cwd, dirname(dirname(folder)))) return 'npx incrawl';
    if (!isOfProject && path.split(delimiter).includes(folder)) return 'incrawl';
  }
  const file = realFile(script);
  const short = isWithin(file, cwd) ? relative(cwd, file) : file;
  return `node ${shellWord(short)}`;
}

function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === '' || !(way.startsWith('..') || isAbsolute(way));
}

function realFile(script: string): string {
  try {
    return realpathSync(script);
  } catch {
    return script;
  }
}
