import { readdirSync, readFileSync } from 'node:fs';

/** Clock ticks a second, as Linux counts the CPU of processes. */
const TICKS = 100;

/** State, parent and further fields of /proc/PID/stat. */
export const statOf = (pid: number): string[] =>
  readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];

/** CPU of a process, of its children, and of those that have ended, us. */
export function cpuOf(parent: number): number {
  let ticks = 0;
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    let fields: string[];
    try {
      fields = statOf(Number(name));
    } catch {
      continue;
    }
    const [, above, ...rest] = fields.map(Number);
    const isOwn = Number(name) === parent;
    if (!isOwn && above !== parent) continue;
    // utime and stime are fields 14 and 15, those of children that were waited for 16 and 17.
    const [user = 0, system = 0, childUser = 0, childSystem = 0] = rest.slice(9, 13);
    ticks += user + system + (isOwn ? childUser + childSystem : 0);
  }
  return (1e6 * ticks) / TICKS;
}
