import { access, constants, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { SeedSource } from '../../crawler.ts';
import { trimUrl } from '../../domain/url/canonical/canonical-url.ts';
import type { Session } from '../session.ts';
import { linesOf, linesOfFile } from './line-reader.ts';

/**
 * Seeds as named on the command line: `-` is stdin, `scheme://...` a URL, all else a file, or a folder whose `.txt`
 * files are read in the order of their names. Ends the command with a usage error, before any work, where a file cannot
 * be read.
 */
export async function seedSources(session: Session, words: readonly string[]): Promise<readonly SeedSource[]> {
  const sources: SeedSource[] = [];
  const urls = words.filter(isUrl);
  if (urls.length > 0) sources.push({ name: 'command line', lines: urls });
  for (const word of new Set(words.filter((each) => !isUrl(each)))) {
    if (word === '-') {
      sources.push({ name: 'stdin', lines: linesOf(session.surroundings.stdin()) });
      continue;
    }
    const kind = await kindOf(word);
    if (kind === 'absent') return session.refuse(`no such seed file: ${word}${hint(word)}`);
    const files = kind === 'file' ? [word] : await textFiles(word);
    if (files.length === 0) return session.refuse(`no *.txt seed files in the folder ${word}`);
    for (const file of files) {
      if (!(await isReadable(file))) return session.refuse(`the seed file ${file} cannot be read: permission denied`);
      sources.push({ name: file, lines: linesOfFile(file) });
    }
  }
  return sources;
}

const isUrl = (word: string): boolean => /^[a-z][a-z0-9+.\t\n\r-]*:\/\//i.test(trimUrl(word));

const hint = (word: string): string =>
  /^[\w-]+(\.[\w-]+)+([:/]|$)/.test(word) ? ` (a URL begins with its scheme: https://${word})` : '';

async function kindOf(path: string): Promise<'file' | 'folder' | 'absent'> {
  try {
    return (await stat(path)).isDirectory() ? 'folder' : 'file';
  } catch {
    return 'absent';
  }
}

async function isReadable(path: string): Promise<boolean> {
  try {
    await access(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

async function textFiles(folder: string): Promise<string[]> {
  const names = await readdir(folder);
  return names
    .filter((name) => name.endsWith('.txt'))
    .sort()
    .map((name) => join(folder, name));
}
