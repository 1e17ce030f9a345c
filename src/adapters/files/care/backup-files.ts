// adapters/files/care/: verification, repair and copies of segments, and the files of a backup.
import { createHash } from 'node:crypto';
import { constants, copyFileSync, createReadStream, mkdirSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { onFile } from '../file-errors.ts';

export interface BackedUpFile {
  /** Relative, with `/`. */
  readonly path: string;
  readonly bytes: number;
  /** 64 hex digits. */
  readonly sha256: string;
}

/** The files below a folder, relative, in order; none when there is no such folder. */
export function filesBelow(folder: string, prefix = ''): string[] {
  let entries: import('node:fs').Dirent[];
  try {
    entries = readdirSync(join(folder, prefix), { withFileTypes: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
  return entries
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = prefix === '' ? entry.name : `${prefix}/${entry.name}`;
      return entry.isDirectory() ? filesBelow(folder, path) : entry.isFile() ? [path] : [];
    });
}

/**
 * The same in reverse order. Below the first level each is looked up on demand: of a segment that is being written, the
 * mark and the outcomes are copied before the responses that they point at, which may be newer than the listing.
 */
export function* filesFromLast(folder: string, prefix: string): Generator<string> {
  const groups = new Set(filesBelow(folder, prefix).map((path) => path.split('/').slice(0, 2).join('/')));
  for (const group of [...groups].reverse()) {
    if (statSync(join(folder, group)).isFile()) yield group;
    else yield* lookedFor(() => filesBelow(folder, group));
  }
}

function* lookedFor(list: () => string[]): Generator<string> {
  let last: string | undefined;
  for (;;) {
    last = list().findLast((path) => last === undefined || path < last);
    if (last === undefined) return;
    yield last;
  }
}

/** Copies a file and digests the copy. */
export async function copyDigested(from: string, to: string, path: string): Promise<BackedUpFile> {
  const target = join(to, path);
  onFile(target, () => {
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(join(from, path), target, constants.COPYFILE_FICLONE);
  });
  return digestFile(to, path);
}

export async function digestFile(folder: string, path: string): Promise<BackedUpFile> {
  const file = join(folder, path);
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  return { path, bytes: onFile(file, () => statSync(file).size), sha256: hash.digest('hex') };
}
