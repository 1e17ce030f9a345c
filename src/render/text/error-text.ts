import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { isForeseen } from '../exit.ts';
import { safeLines, shortLines } from '../safe-text.ts';

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
function systemErrorText(error: unknown): string | null {
  if (!(error instanceof Error) || !('syscall' in error)) return null;
  const { code = '', path } = error as NodeJS.ErrnoException;
  const reason = REASONS[code];
  if (reason === undefined || path === undefined) return null;
  const folder = dirname(path);
  return code === 'ENOENT' && !existsSync(folder)
    ? `there is no folder ${folder}; create it first`
    : `${path}: ${reason}`;
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/**
 * The message for an error that ends a command, as whole lines; `--verbose` among the arguments adds the stack.
 * @param command how this program was started, for what the message asks the user to run
 */
export function errorText(error: unknown, argv: readonly string[], command = 'incrawl'): string {
  const isVerbose = argv.includes('--verbose') || argv.includes('-v');
  const said = systemErrorText(error) ?? messageOf(error);
  const message = said.replaceAll('incrawl packages install', `${command} packages install`);
  const [first, ...others] = shortLines(safeLines(message)).split('\n');
  const lines = [others.length === 0 ? `incrawl: ${first}` : 'incrawl:'];
  if (others.length > 0) lines.push(...[first, ...others].map((line) => `  ${line}`));
  if (isDamage(error, message) && !message.includes('incrawl state repair')) {
    lines.push(
      '"incrawl state verify" lists the damage; "incrawl state repair" repairs it and keeps unreadable data in a quarantine.',
    );
  }
  if (isVerbose && error instanceof Error) lines.push(safeLines(error.stack ?? ''));
  else if (!isForeseen(error)) lines.push('This is a bug of incrawl; --verbose shows the stack.');
  return `${lines.join('\n')}\n`;
}

/** Whether a repair helps. A file of a segment may be unusable for other reasons, such as its owner. */
function isDamage(error: unknown, message: string): boolean {
  if (!isForeseen(error)) return false;
  return error.code === 'db-corrupt' || (error.code === 'segment-corrupt' && message.includes(' is damaged at byte '));
}
