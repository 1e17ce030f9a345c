// store/files/locks/: locks on folders that several processes use.

import {
  closeSync,
  linkSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { hostname } from 'node:os';
import { dirname, join } from 'node:path';
import { CrawlError } from '../../../core/domain/errors.ts';
import { errnoOf, fileError } from '../durable-file.ts';

/**
 * Whether this machine has no process with the id. A process of another user counts as present. One that has ended but
 * whose parent has not read its exit status (a zombie, common in containers) counts as gone.
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

/** Part of the names below: it differs between containers that share a folder but not process ids. */
const MACHINE = hostname().replace(/[^\w.]/g, '_');

/**
 * Makes a folder for temporary files in `dir`, named after this process. Folders of the same prefix left by killed
 * processes of this machine are removed: their links would keep deleted files of a crawl db on the disk.
 */
export function ownFolder(dir: string, prefix: string): string {
  const named = `${prefix}-${MACHINE}-`;
  quietly(() => {
    for (const name of readdirSync(dir)) {
      const pid = name.startsWith(named) ? /^(\d+)-/.exec(name.slice(named.length))?.[1] : undefined;
      if (pid !== undefined && isProcessGone(Number(pid))) {
        quietly(() => rmSync(join(dir, name), { recursive: true, force: true }));
      }
    }
  });
  return mkdtempSync(join(dir, `${named}${process.pid}-`));
}

/**
 * A name beside `file`, with the id of this process, for a file that is not complete yet, so that two writers of one
 * file do not mix. Such files left in the folder by killed processes of this machine are removed, with what a database
 * put beside them (`.lock`, `-journal`).
 */
export function ownPartial(file: string): string {
  const folder = dirname(file);
  const mark = `.${MACHINE}-`;
  quietly(() => {
    for (const name of readdirSync(folder)) {
      const [before = '', after] = name.split(mark);
      const pid =
        before === '' || after === undefined ? undefined : /^(\d+)\.partial(?:\.lock|-journal)?$/.exec(after)?.[1];
      if (pid !== undefined && isProcessGone(Number(pid))) {
        quietly(() => rmSync(join(folder, name), { recursive: true, force: true }));
      }
    }
  });
  return `${file}${mark}${process.pid}.partial`;
}

/**
 * In a folder that all users share, a file may belong to another user; it stays until a process of that user removes
 * it.
 */
function quietly(clear: () => void): void {
  try {
    clear();
  } catch {}
}

export const LOCK = 'writer.lock';

/**
 * A lock without a heartbeat for this time, ms, is taken over from any holder: process ids and host names recur,
 * especially in containers.
 */
const PATIENCE_MS = 60_000;

/** Error codes of file systems without hard links. */
const WITHOUT_LINKS: ReadonlySet<string> = new Set(['EPERM', 'ENOTSUP', 'ENOSYS']);

/**
 * An exclusive lock for writing a folder. A segment needs it: fetch and parse can run as separate processes, and
 * opening for writing cuts off torn ends. So does a backup in progress, which begins by removing the remains of an
 * earlier one. The lock of a killed process is taken over at once on the same machine, and after a minute without a
 * heartbeat on another one.
 */
export interface FolderLock {
  /**
   * Throws `lease-lost` if the lock was taken over: a process that was paused for so long must not write any more.
   */
  requireHeld(): void;
  /** Returns whether the lock was held until now. */
  release(): boolean;
}

interface Holder {
  readonly pid: number;
  readonly host: string;
  /** Start of the process, ms since the epoch; distinguishes it from an earlier one with the same id. */
  readonly startedAt: number;
}

/** Locks that this process has given back, but whose files could not be read and so are still there. */
const leftBehind = new Set<string>();

const SELF: Holder = Object.freeze({ pid: process.pid, host: hostname(), startedAt: performance.timeOrigin });

/**
 * Throws `db-locked`, naming the holder.
 * @param what name of the kind of folder, for messages
 * @param patienceMs the same for all writers of the folder; the holder sends six heartbeats in this time
 */
export function lockFolder(folder: string, what: string, patienceMs = PATIENCE_MS): FolderLock {
  const name = `${what} ${folder}`;
  const file = join(folder, LOCK);
  for (let attempt = 0; !tryCreate(file); attempt++) {
    const text = textOf(file);
    if (text !== null && !isStale(file, text, patienceMs)) throw lockedError(name, nameOf(text));
    if (attempt === 3) throw lockedError(name, 'other processes in turn');
    if (text !== null) removeStale(file, text);
  }
  leftBehind.delete(file);
  const own = JSON.stringify(SELF);
  const isOwn = (): boolean => textOf(file) === own;
  const signs = setInterval(() => {
    touch(file, isOwn);
  }, patienceMs / 6);
  signs.unref();
  let isHeld = true;
  return {
    requireHeld() {
      if (isOwn()) return;
      throw new CrawlError(
        'lease-lost',
        `${name} was taken over by another process, since this one was paused for too long`,
      );
    },
    release() {
      if (!isHeld) return false;
      isHeld = false;
      clearInterval(signs);
      try {
        const wasHeld = isOwn();
        if (wasHeld) rmSync(file, { force: true });
        return wasHeld;
      } catch {
        // It may belong to another process by now. Others take it over when this process has ended, this one at
        // once.
        leftBehind.add(file);
        return false;
      }
    },
  };
}

/**
 * The lock appears with its content: a partial one, left by a kill, would keep all processes out until patience ends.
 */
function tryCreate(file: string): boolean {
  const whole = ownPartial(file);
  try {
    // If left by a killed process with the same id, it is another name of the lock, which must not be written to.
    rmSync(whole, { force: true });
    writeFileSync(whole, JSON.stringify(SELF));
    linkSync(whole, file);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    if (WITHOUT_LINKS.has(errnoOf(error))) return tryCreateInPlace(file);
    throw fileError(file, error);
  } finally {
    rmSync(whole, { force: true });
  }
}

function tryCreateInPlace(file: string): boolean {
  try {
    const fd = openSync(file, 'wx');
    try {
      writeSync(fd, JSON.stringify(SELF));
    } catch (error) {
      // An empty lock would keep all processes out, without a holder.
      rmSync(file, { force: true });
      throw error;
    } finally {
      closeSync(fd);
    }
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw fileError(file, error);
  }
}

/**
 * The content of a lock; `null`: there is no lock. An unreadable lock may belong to anyone, so the reason is thrown.
 */
function textOf(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return null;
    throw fileError(file, error);
  }
}

function holderOf(text: string): Holder | null {
  try {
    const { pid, host, startedAt } = JSON.parse(text) as Partial<Holder>;
    if (!Number.isInteger(pid) || typeof host !== 'string' || typeof startedAt !== 'number') return null;
    return { pid: pid as number, host, startedAt };
  } catch {
    return null;
  }
}

function isStale(file: string, text: string, patienceMs: number): boolean {
  const holder = holderOf(text);
  if (holder?.host === SELF.host) {
    if (holder.pid === SELF.pid) return holder.startedAt !== SELF.startedAt || leftBehind.has(file);
    if (isProcessGone(holder.pid)) return true;
  }
  const touchedAt = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  // A time ahead is no heartbeat either: the clock was set back since, and a live holder would have touched the
  // file.
  return Math.abs(Date.now() - touchedAt) > patienceMs;
}

/**
 * Another process may take over the stale lock at the same moment, so the file is read again after it is moved aside.
 */
function removeStale(file: string, text: string): void {
  const aside = `${file}.${process.pid}`;
  try {
    renameSync(file, aside);
    if (textOf(aside) !== text) linkSync(aside, file);
  } catch {
    // Another process was faster: the next attempt reads its lock.
  } finally {
    rmSync(aside, { force: true });
  }
}

function touch(file: string, isOwn: () => boolean): void {
  try {
    const now = new Date();
    if (isOwn()) utimesSync(file, now, now);
  } catch {
    // It cannot be read, or the folder was removed under its writer, whose next write then fails.
  }
}

function nameOf(text: string): string {
  const holder = holderOf(text);
  if (holder?.pid === SELF.pid && holder.host === SELF.host) return 'this very process';
  return holder === null ? 'another process' : `process ${holder.pid} on ${holder.host}`;
}

function lockedError(name: string, who: string): CrawlError {
  return new CrawlError('db-locked', `${name} is being written by ${who}; one process at a time can do so`);
}
