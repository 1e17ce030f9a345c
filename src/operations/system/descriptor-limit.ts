import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** Time limit for the shell to answer, ms. */
const SHELL_LIMIT_MS = 2_000;

/**
 * Most file descriptors that this process may have, files and connections together. `null`: there is no limit, or the
 * system does not tell. Node raises the soft limit to the hard one when it starts, so this is usually the hard limit.
 */
export function descriptorLimit(): number | null {
  if (process.platform === 'win32') return null;
  return descriptorsIn(textOfLimits());
}

/** Reads proc_pid_limits(5), or the output of `ulimit -n`. */
export function descriptorsIn(text: string): number | null {
  const found = /^Max open files +(\S+)/m.exec(text)?.[1] ?? text.trim();
  return /^\d+$/.test(found) ? Number(found) : null;
}

function textOfLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    // Systems other than Linux. A child process inherits the limit.
    return askShell();
  }
}

function askShell(): string {
  try {
    return execFileSync('/bin/sh', ['-c', 'ulimit -n'], {
      encoding: 'utf8',
      timeout: SHELL_LIMIT_MS,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  } catch {
    return '';
  }
}
