// test/system/torture/pieces/: runs that do not fit a sitting, in pieces that add up.

import { closeSync, existsSync, openSync, readFileSync, renameSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import {
  type Added,
  type LongPart,
  type LongRuns,
  longRunsText,
  NO_RUNS,
  parseLongRuns,
  withAdded,
} from '../../../../bench/harness/long-runs.ts';
import type { Occasion } from '../../../../bench/harness/occasion.ts';

/** Sums of long runs in a file, which one process at a time adds to. */
export interface Ledger {
  /** What the file says now. */
  read(): LongRuns;
  /** Adds to what the file says now, in one step. */
  add(part: LongPart, added: Added, at: Occasion): void;
  close(): void;
}

/**
 * Opens the ledger for this process alone. Throws an `Error` where another process that lives has it open, and where
 * the file is none of these.
 */
export function openLedger(file: string): Ledger {
  const lock = `${file}.lock`;
  const read = (): LongRuns => (existsSync(file) ? parseLongRuns(readFileSync(file, 'utf8'), file) : NO_RUNS);
  takeLock(lock, file);
  try {
    read();
  } catch (error) {
    rmSync(lock, { force: true });
    throw error;
  }
  return {
    read,
    add(part, added, at) {
      const next = `${file}.${process.pid}.new`;
      writeFileSync(next, longRunsText(withAdded(read(), part, added, at)));
      renameSync(next, file);
    },
    close: () => rmSync(lock, { force: true }),
  };
}

/** The lock of a process that was killed is taken over. */
function takeLock(lock: string, file: string): void {
  for (;;) {
    try {
      const opened = openSync(lock, 'wx');
      writeSync(opened, String(process.pid));
      closeSync(opened);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const holder = Number(existsSync(lock) ? readFileSync(lock, 'utf8') : '');
    if (isAlive(holder))
      throw new Error(`${file}: process ${holder} adds to it; wait for its end, or end it: it keeps what it has done`);
    rmSync(lock, { force: true });
  }
}

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid <= 0) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
