import { rename, stat, writeFile } from 'node:fs/promises';
import { CrawlError } from '../../domain/errors.ts';
import type { Log } from '../log.ts';

/** What the scheduler is doing, for monitors and for `schedule --status`. Times in ISO 8601. */
export interface Health {
  readonly pid: number;
  readonly state: 'waiting' | 'running' | 'stopped';
  /** When this was told. While a run makes progress the file is written again every {@link BEAT_MS}. */
  readonly at: string;
  readonly startedAt: string;
  readonly timetable: string;
  readonly runs: number;
  readonly failedRuns: number;
  /** Starts that fell into a run that was still going. */
  readonly skippedStarts: number;
  readonly nextRunAt: string | null;
  /** The run that is going, as far as it has come; `null` between runs. */
  readonly run: RunningRun | null;
  readonly lastRun: RunReport | null;
}

export interface RunningRun {
  readonly at: string;
  readonly round: number;
  /** URLs of the round, and those done. */
  readonly urls: number;
  readonly done: number;
}

const BEAT_MS = 30_000;

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

export interface HealthFile {
  /** The last that was told; `null` before the first. */
  readonly last: Health | null;
  /**
   * Rejects with `CrawlError('usage-invalid')` when the first cannot be written; later ones are tried again with the
   * next.
   */
  tell(health: Health): Promise<void>;
  /** Written only when the file is old. */
  progress(health: Health): void;
}

/**
 * Replaced as a whole, so that a monitor never reads half of it. A full disk or a folder that has gone does not end a
 * schedule that has begun.
 */
export function openHealthFile(file: string, log: Log): HealthFile {
  let last: Health | null = null;
  let writtenAt = Number.NEGATIVE_INFINITY;
  let hasWritten = false;
  let turn: Promise<void> = Promise.resolve();
  const write = async (health: Health): Promise<void> => {
    const partial = `${file}.${health.pid}.partial`;
    try {
      // A device or a pipe must stay what it is.
      const found = await stat(file).catch(() => null);
      if (found !== null && !found.isFile()) throw new Error('it is no regular file');
      await writeFile(partial, `${JSON.stringify(health, null, 2)}\n`);
      await rename(partial, file);
      hasWritten = true;
    } catch (error) {
      const message = `the health file ${file} cannot be written: ${(error as Error).message}`;
      if (!hasWritten) throw new CrawlError('usage-invalid', message, { cause: error });
      log.warn(message);
    }
  };
  const enqueue = (health: Health): Promise<void> => {
    last = health;
    writtenAt = Date.parse(health.at);
    turn = turn.then(() => write(health));
    return turn;
  };
  return {
    get last() {
      return last;
    },
    tell: enqueue,
    progress(health) {
      last = health;
      if (Math.abs(Date.parse(health.at) - writtenAt) >= BEAT_MS) void enqueue(health);
    },
  };
}
