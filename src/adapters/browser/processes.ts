import { readFileSync } from 'node:fs';
import type { CdpSession } from './playwright.ts';

export interface BrowserProcess {
  /** `browser`, `renderer`, `GPU`, .. */
  readonly type: string;
  readonly pid: number;
  /** Memory of its own, bytes; 0 where the system does not say. */
  readonly bytes: number;
}

/** The processes of a browser. Memory that they share, as of the program itself, is left out. */
export async function processesOf(session: CdpSession): Promise<BrowserProcess[]> {
  const { processInfo } = (await session.send('SystemInfo.getProcessInfo')) as {
    readonly processInfo: readonly { readonly type: string; readonly id: number }[];
  };
  return processInfo.map(({ type, id }) => ({ type, pid: id, bytes: ownBytes(id) }));
}

const PAGE_BYTES = 4_096;

/** Resident less shared pages, by the second and third number of `statm` (proc(5)). */
function ownBytes(pid: number): number {
  try {
    const [, resident = 0, shared = 0] = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ').map(Number);
    return PAGE_BYTES * (resident - shared);
  } catch {
    return 0;
  }
}
