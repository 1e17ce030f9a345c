import { existsSync } from 'node:fs';
import { dirname } from 'node:path';

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ENOTDIR: 'a part of this path is not a folder',
  EISDIR: 'it is a folder; a file was expected',
  EROFS: 'the file system is read-only',
  EMFILE: 'too many open files; raise the limit ("ulimit -n")',
  ENFILE: 'too many open files on this machine',
};

/** A failed system call on a file as a sentence; `null` for any other error. */
export function systemErrorText(error: unknown): string | null {
  if (!(error instanceof Error) || !('syscall' in error)) return null;
  const { code = '', path } = error as NodeJS.ErrnoException;
  const reason = REASONS[code];
  if (reason === undefined || path === undefined) return null;
  const folder = dirname(path);
  return code === 'ENOENT' && !existsSync(folder)
    ? `there is no folder ${folder}; create it first`
    : `${path}: ${reason}`;
}
