import { constants, copyFileSync, linkSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { onFile } from '../file-errors.ts';

/**
 * Copies a folder recursively, before a repair of it.
 * @param isFixed files that are no longer written, by name: they are linked, which costs no space, where possible
 * @param wants files to copy, by name; default: all
 */
export function copyFolder(
  from: string,
  to: string,
  isFixed: (name: string) => boolean,
  wants: (name: string) => boolean = () => true,
): void {
  onFile(to, () => mkdirSync(to, { recursive: true }));
  for (const entry of onFile(from, () => readdirSync(from, { withFileTypes: true }))) {
    const source = join(from, entry.name);
    const target = join(to, entry.name);
    if (entry.isDirectory()) copyFolder(source, target, isFixed, wants);
    else if (entry.isFile() && wants(entry.name)) onFile(target, () => copyOrLink(source, target, isFixed(entry.name)));
  }
}

function copyOrLink(source: string, target: string, mayLink: boolean): void {
  if (mayLink) {
    try {
      linkSync(source, target);
      return;
    } catch {
      // Another file system, or one without links.
    }
  }
  copyFileSync(source, target, constants.COPYFILE_FICLONE);
}
