import { linkSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';

const LOG_FILE = /^\d+\.log$/;
const KEPT = /^\d+\.log\.kept-\d+$/;
/** What LevelDB notes where it goes on without a write-ahead log, or a part of one, that the system did not give it. */
const PASSED_OVER = /Ignoring error (?!Corruption).*|dropping \d+ bytes; (?!Corruption).*/;

/**
 * Second names for the write-ahead logs of a db that is about to be opened. LevelDB passes over a log that cannot be
 * opened or read (too few descriptors, a failing disk), tells only its own file `LOG`, and removes the log once it is
 * open: what was acknowledged and not yet in a table would be lost. Torn ends of logs are passed over rightly.
 */
export interface KeptLogs {
  /** What LevelDB has passed over at the opening that has just ended, or null. */
  passedOver(): string | null;
  /**
   * Gives the logs to the next opening. To be called while the db is still locked, before anything is written: LevelDB
   * takes the entry of a newer file for the newer one.
   */
  putBack(): void;
  /** Of a db that is open now: also names that processes left which ended at this point. */
  remove(): void;
  /** Of a db that could not be opened: LevelDB has removed nothing. */
  discard(): void;
}

export function keepLogs(dir: string): KeptLogs {
  const kept: string[] = [];
  for (const name of namesIn(dir)
    .filter((each) => LOG_FILE.test(each))
    .sort(byNumber)) {
    const link = `${name}.kept-${process.pid}`;
    try {
      rmSync(join(dir, link), { force: true });
      if (statSync(join(dir, name), { throwIfNoEntry: false })?.size === 0) continue;
      linkSync(join(dir, name), join(dir, link));
      kept.push(link);
    } catch {
      // The holder of the db has removed it, or the file system has no second names: then the error is all there is.
    }
  }
  return {
    passedOver() {
      return PASSED_OVER.exec(readText(join(dir, 'LOG')))?.[0] ?? null;
    },
    putBack() {
      // All of them, in their order: what is in two files is the same, and newer entries have to be in newer files.
      let number = Math.max(...readdirSync(dir).map(numberIn));
      for (const link of kept) {
        number += 1;
        renameSync(join(dir, link), join(dir, `${String(number).padStart(6, '0')}.log`));
      }
    },
    remove() {
      for (const name of namesIn(dir)) if (KEPT.test(name)) rmSync(join(dir, name), { force: true });
    },
    discard() {
      for (const link of kept) rmSync(join(dir, link), { force: true });
    },
  };
}

/** Of a folder that is not there: none. */
function namesIn(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

function numberIn(name: string): number {
  return Number(/^(?:MANIFEST-)?(\d+)/.exec(name)?.[1] ?? 0);
}

function byNumber(a: string, b: string): number {
  return numberIn(a) - numberIn(b);
}
