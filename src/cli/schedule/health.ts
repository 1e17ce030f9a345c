import { rename, writeFile } from 'node:fs/promises';

/** What the scheduler is doing, for monitors and for `schedule --status`. Times in ISO 8601. */
export interface Health {
  readonly pid: number;
  readonly state: 'waiting' | 'running' | 'stopped';
  readonly startedAt: string;
  readonly timetable: string;
  readonly runs: number;
  readonly failedRuns: number;
  /** Starts that fell into a run that was still going. */
  readonly skippedStarts: number;
  readonly nextRunAt: string | null;
  readonly lastRun: RunReport | null;
}

export interface RunReport {
  readonly at: string;
  readonly ms: number;
  readonly ok: boolean;
  readonly stoppedBy: string | null;
  readonly error: string | null;
  readonly rounds: number;
  readonly requests: number;
  readonly new: number;
  readonly modified: number;
  readonly unchanged: number;
  readonly gone: number;
  readonly failed: number;
  readonly bodyBytes: number;
}

/** Replaced as a whole, so that a monitor never reads half of it. */
export async function writeHealth(file: string, health: Health): Promise<void> {
  const partial = `${file}.${health.pid}.partial`;
  await writeFile(partial, `${JSON.stringify(health, null, 2)}\n`);
  await rename(partial, file);
}
