import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { CrawlError } from '../../core/domain/errors.ts';
import { outOfFiles, saysOutOfFiles } from '../../core/domain/system-limit.ts';

/**
 * The process that holds the crawl db, for the message that the next process shows. The lock itself is LevelDB's and
 * dies with its process; this file may outlive the process and is never taken for the lock.
 */
interface Holder {
  readonly pid: number;
  readonly host: string;
  /** ISO 8601. */
  readonly since: string;
  /** It will close the db in a moment, so waiting is worthwhile. */
  readonly brief?: true;
}

/** Beside the db: `db-holder.json` for `db`. */
export function holderFile(dir: string): string {
  return join(dirname(dir), `${basename(dir)}-holder.json`);
}

/** To be called by the process that has the lock. */
export async function writeHolder(dir: string, now: number, isBrief = false): Promise<void> {
  const self = { pid: process.pid, host: hostname(), since: new Date(now).toISOString() };
  const holder: Holder = isBrief ? { ...self, brief: true } : self;
  await writeFile(holderFile(dir), `${JSON.stringify(holder)}\n`);
}

/** To be called while the lock is still held: afterwards the file may belong to the next holder. */
export async function removeHolder(dir: string): Promise<void> {
  await rm(holderFile(dir), { force: true });
}

/**
 * Whether the holder will close the db in a moment. A holder without a file has only just opened it, or is closing it.
 */
export async function isHeldBriefly(dir: string): Promise<boolean> {
  const holder = await readHolder(dir);
  return holder === null || holder.brief === true || isDead(holder);
}

/** The error for a process that found the db locked. */
export async function lockedError(dir: string, cause: unknown): Promise<CrawlError> {
  const holder = await readHolder(dir);
  const who =
    holder === null || isDead(holder)
      ? 'another process'
      : `process ${holder.pid} on ${holder.host} since ${holder.since}`;
  return new CrawlError('db-locked', `the crawl db ${dir} is held by ${who}; one process at a time can open it`, {
    cause,
  });
}

async function readHolder(dir: string): Promise<Holder | null> {
  try {
    const { pid, host, since, brief } = JSON.parse(await readFile(holderFile(dir), 'utf8')) as Partial<Holder>;
    if (!Number.isInteger(pid) || typeof host !== 'string' || typeof since !== 'string') return null;
    const holder = { pid: pid as number, host, since };
    return brief === true ? { ...holder, brief } : holder;
  } catch {
    return null;
  }
}

/** Whether it was left by a process of this machine that has ended. Processes of other machines cannot be checked. */
function isDead(holder: Holder): boolean {
  if (holder.host !== hostname()) return false;
  try {
    process.kill(holder.pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

const DISK_FULL = /No space left on device|ENOSPC|Disk quota exceeded|EDQUOT/i;
/** LevelDB reports a deleted or truncated table or manifest as an I/O error, as it does a failing disk. */
const DAMAGED = /Corruption|No such file or directory|\.ldb: Invalid argument|Is a directory|Input\/output error/;

const UNWRITABLE = /Permission denied|Read-only file system|Operation not permitted|EACCES|EROFS|EPERM/i;

/**
 * Turns an error of LevelDB into a `CrawlError` of the crawl db. A programming error (`TypeError`) and a `CrawlError`
 * stay as they are.
 */
export function crawlDbError(error: unknown): Error {
  if (error instanceof CrawlError || error instanceof TypeError) return error;
  const chain = causes(error);
  const codes = chain.map(codeOf);
  const text = chain.map(({ message }) => message).join(': ');
  if (DISK_FULL.test(text)) {
    return new CrawlError('disk-full', `the disk is full; free some space and open the crawl db again (${text})`, {
      cause: error,
    });
  }
  if (saysOutOfFiles(text)) return outOfFiles(`the crawl db failed (${text})`, error);
  if (UNWRITABLE.test(text)) {
    return new CrawlError('db-readonly', `the crawl db cannot be written (${text})`, { cause: error });
  }
  if (codes.includes('LEVEL_CORRUPTION') || DAMAGED.test(text)) {
    return new CrawlError('db-corrupt', `the crawl db is damaged: ${text}`, { cause: error });
  }
  // If there is a cause, the same codes mean that opening failed.
  if (chain.length === 1 && (codes[0] === 'LEVEL_DATABASE_NOT_OPEN' || codes[0] === 'LEVEL_ITERATOR_NOT_OPEN')) {
    return new CrawlError('internal', 'the crawl db was used after it had been closed', { cause: error });
  }
  return new CrawlError('internal', `the crawl db failed: ${text || String(error)}`, { cause: error });
}

export function isLocked(error: unknown): boolean {
  return causes(error).some((each) => codeOf(each) === 'LEVEL_LOCKED');
}

/** The error and its causes, outermost first. */
function causes(error: unknown): Error[] {
  const chain: Error[] = [];
  for (let each = error; each instanceof Error; each = each.cause) chain.push(each);
  return chain;
}

function codeOf(error: Error): unknown {
  return (error as { code?: unknown }).code;
}

/** Files that change or are replaced with every write to the db. */
const WRITTEN = /^(?:CURRENT|MANIFEST-\d+|\d+\.log)$/;

/**
 * A stamp of the db's files: if two stamps are equal, the db was not written between them. Needs no lock. Empty text:
 * there is no db.
 * @param dir folder of the LevelDB files
 */
export async function activityStamp(dir: string): Promise<string> {
  let names: string[];
  try {
    names = (await readdir(dir)).filter((name) => WRITTEN.test(name)).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
  const marks = await Promise.all(
    names.map(async (name) => {
      try {
        const { size, mtimeMs } = await stat(join(dir, name));
        return `${name}:${size}:${mtimeMs}`;
      } catch {
        // Replaced since the folder was listed.
        return `${name}:`;
      }
    }),
  );
  return marks.join(' ');
}
