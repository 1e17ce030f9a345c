/** CPU, memory and bytes written of this process, LevelDB's threads included. */
import { readFileSync } from 'node:fs';

export interface Metered {
  readonly cpuMs: number;
  /** Bytes that reached the disk, or will; 0 where the system does not count them. */
  readonly writtenBytes: number;
  /** Of memory that is no file's: tables of LevelDB are mapped, and the system takes their pages back at need. */
  readonly peakOwnMb: number;
}

const SAMPLE_MS = 100;

/** Measures from now on to the call of the result. */
export function startMeter(): () => Metered {
  const cpu = process.cpuUsage();
  const written = writtenBytes();
  let own = ownMb();
  const timer = setInterval(() => {
    own = Math.max(own, ownMb());
  }, SAMPLE_MS);
  return () => {
    clearInterval(timer);
    const { user, system } = process.cpuUsage(cpu);
    return {
      cpuMs: (user + system) / 1_000,
      writtenBytes: writtenBytes() - written,
      peakOwnMb: Math.max(own, ownMb()),
    };
  };
}

const writtenBytes = (): number => numberIn('/proc/self/io', /^write_bytes: (\d+)/m);
const ownMb = (): number => numberIn('/proc/self/status', /^RssAnon:\s+(\d+)/m) / 1_024;

/** 0 where the system has no such file. */
function numberIn(file: string, pattern: RegExp): number {
  try {
    return Number(pattern.exec(readFileSync(file, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
