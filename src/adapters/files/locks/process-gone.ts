import { readFileSync } from 'node:fs';

/**
 * Whether this machine has no process with the id. A process of another user counts as present; one that has ended and
 * whose parent has not asked for its exit status (a zombie, common in containers) counts as gone.
 */
export function isProcessGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return isZombie(pid);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

/** By the state in proc_pid_stat(5), which follows the name in parentheses; other systems have no such file. */
function isZombie(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    return /^ [ZX] /.test(stat.slice(stat.lastIndexOf(')') + 1));
  } catch {
    return false;
  }
}
