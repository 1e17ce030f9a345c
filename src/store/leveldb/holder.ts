import { readFile, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { CrawlError } from '../../core/domain/errors.ts';

/**
 * The process that holds the crawl db, for the message of the next one. The lock itself is LevelDB's and dies with its
 * process; this file may outlive it and is never taken for the lock.
 */
interface Holder {
  readonly pid: number;
  readonly host: string;
  /** ISO 8601. */
  readonly since: string;
  /** It will close the db in a moment: worth waiting for. */
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

/** To be called while the lock is still held: afterwards the file may be the next holder's. */
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

/** Left by a process of this machine that has ended. Processes of other machines are not known. */
function isDead(holder: Holder): boolean {
  if (holder.host !== hostname()) return false;
  try {
    process.kill(holder.pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
