// remote/schedule/: the status of a scheduler: its file, its socket, its waits.

import { rename, stat, writeFile } from 'node:fs/promises';
import { CrawlError } from '../../core/domain/errors.ts';
import type { FailureKind } from '../../crawler/views.ts';
import type { Log } from '../../render/log.ts';
import { count, counted } from '../../render/quantities.ts';
import { fieldLines } from '../../render/table.ts';
import { failureLines } from '../../render/text/seeds-text.ts';

/** State of a scheduler, for monitors and for `schedule --status`. Times in ISO 8601. */
export interface Health {
  readonly pid: number;
  readonly state: 'waiting' | 'running' | 'stopped';
  /** Time of writing. While a run makes progress, the file is rewritten every {@link BEAT_MS}. */
  readonly at: string;
  readonly startedAt: string;
  readonly timetable: string;
  readonly runs: number;
  readonly failedRuns: number;
  /** Starts that were due during an unfinished run, or whose time had passed. */
  readonly skippedStarts: number;
  readonly nextRunAt: string | null;
  /** Progress of the current run; `null` between runs. */
  readonly run: RunningRun | null;
  readonly lastRun: RunReport | null;
}

export interface RunningRun {
  readonly at: string;
  readonly round: number;
  /** URLs of the round, and the number done. */
  readonly urls: number;
  readonly done: number;
}

const BEAT_MS = 30_000;

export interface RunReport {
  readonly at: string;
  readonly ms: number;
  /** Whether it ended in order, not all visits failed, and no login page was met. */
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
  /** Why visits failed or were refused, most frequent reason first. */
  readonly failures: readonly FailureKind[];
}

export interface HealthFile {
  /** The last reported state; `null` before the first. */
  readonly last: Health | null;
  /**
   * Writes the file. Rejects with `CrawlError('usage-invalid')` if the first write fails. A later failure is logged,
   * and the next report writes again.
   */
  report(health: Health): Promise<void>;
  /** The same, but writes only if the file is older than {@link BEAT_MS}. */
  progress(health: Health): void;
}

/**
 * The file is replaced as a whole, so that a monitor never reads half of it. A full disk or a missing folder does not
 * end a schedule that has begun.
 */
export function openHealthFile(file: string, log: Log): HealthFile {
  let last: Health | null = null;
  let writtenAt = Number.NEGATIVE_INFINITY;
  let hasWritten = false;
  let turn: Promise<void> = Promise.resolve();
  const write = async (health: Health): Promise<void> => {
    const partial = `${file}.${health.pid}.partial`;
    try {
      // Renaming would replace a device or a pipe by a file.
      const found = await stat(file).catch(() => null);
      if (found !== null && !found.isFile()) throw new Error('expected a regular file');
      await writeFile(partial, `${JSON.stringify(health, null, 2)}\n`);
      await rename(partial, file);
      hasWritten = true;
    } catch (error) {
      const message = `cannot write the health file ${file}: ${(error as Error).message}`;
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
    report: enqueue,
    progress(health) {
      last = health;
      if (Math.abs(Date.parse(health.at) - writtenAt) >= BEAT_MS) void enqueue(health);
    },
  };
}

/** The state of a scheduler for people. */
export function statusText(health: Health): string {
  const { lastRun, run } = health;
  return `${fieldLines([
    ['process', String(health.pid)],
    ['state', health.state],
    ['timetable', health.timetable],
    ['since', health.startedAt],
    ['runs', `${health.runs}, of which ${health.failedRuns} failed; ${counted(health.skippedStarts, 'start')} skipped`],
    ...(run === null
      ? []
      : [
          [
            'this run',
            `since ${run.at}: round ${run.round}, ${count(run.done)} of ${counted(run.urls, 'URL')}`,
          ] as const,
        ]),
    ['next run', health.nextRunAt ?? '-'],
    ['last run', lastRun === null ? '-' : reportLine(lastRun)],
    ...failureLines(lastRun?.failures ?? []).map((line) => ['', line] as const),
  ])}\n`;
}

/** A run in one line. */
export function reportLine(report: RunReport): string {
  if (report.error !== null) return `${report.at} failed: ${report.error}`;
  const { requests, new: fresh, modified, unchanged, gone, failed } = report;
  return (
    `${report.at}: ${requests} requests, ${fresh} new, ${modified} modified, ` +
    `${unchanged} unchanged, ${gone} gone, ${failed} failed (${report.stoppedBy})`
  );
}
