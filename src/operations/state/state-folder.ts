import { existsSync, lstatSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { CrawlError } from '../../core/domain/errors.ts';
import { makeFolder } from '../../core/plugin-host/make-folder.ts';

/** Parts of a state directory: a crawl db of its own, the description of a shared one, and the rest. */
const DB_PARTS = ['db', 'cluster.json'] as const;
/** Folder with the crawl of requisites, which is a state directory itself. */
export const REQUISITES_FOLDER = 'requisites';
const PARTS = [...DB_PARTS, 'segments', 'reports'] as const;

const holds = (dir: string, parts: readonly string[]): boolean => parts.some((part) => existsSync(join(dir, part)));

/** Whether a state directory holds a crawl db: one of its own, or the description of one that workers share. */
export const hasCrawlDb = (dir: string): boolean => holds(dir, DB_PARTS);

/**
 * Rejects a state directory without a crawl db with `crawl-missing`: a mistyped path or an unmounted disk must not pass
 * for an empty crawl.
 */
export function requireCrawlDb(dir: string): void {
  if (!hasCrawlDb(dir)) throw missingCrawl(dir);
}

/** As {@link requireCrawlDb}, for readers of stored rounds, which need no crawl db. */
export function requireCrawl(dir: string): void {
  if (!holds(dir, PARTS)) throw missingCrawl(dir);
}

const missingCrawl = (dir: string): CrawlError =>
  new CrawlError(
    'crawl-missing',
    `${resolve(dir)} holds no crawl (is its disk mounted?): --dir names another state directory, ` +
      '"incrawl crawl URL" and "incrawl inject" begin a crawl',
  );

/**
 * Only its owner may use a new state directory: it holds pages of an intranet, and whoever writes to it controls the
 * crawl.
 */
const OWNER_ALONE = 0o700;
/** A folder in which everyone may create files, such as /tmp: the sticky bit, and write permission for all. */
const SHARED_BY_ALL = 0o1002;

/**
 * Makes a state directory, unless it exists; an existing one keeps its permissions. Rejects as {@link requireOwnState}.
 */
export async function makeStateFolder(dir: string): Promise<void> {
  await makeFolder(dir, OWNER_ALONE);
  requireOwnState(dir);
}

/**
 * Refuses a state directory that another user may have prepared to make this process write elsewhere: one that lies in
 * a folder like /tmp and belongs to someone else, or one that contains a symbolic link of someone else. Links of this
 * user or of root are allowed, so that `segments` can be on another disk. The directory itself may be a link: anyone
 * who can create one beside it can also replace it. Linux has this rule for /tmp (`fs.protected_symlinks`), but not for
 * folders below it, and other systems do not have it. Throws `usage-invalid`.
 */
export function requireOwnState(dir: string): void {
  const self = process.geteuid?.();
  if (self === undefined) return;
  const isTrusted = (uid: number): boolean => uid === self || uid === 0;
  const folder = statSync(dir);
  if (!isTrusted(folder.uid) && isSharedByAll(dirname(realpathSync(dir)))) {
    throw unsafe(`${dir} was made by another user (uid ${folder.uid}) in a folder where everyone may create files`);
  }
  for (const { name } of readdirSync(dir, { withFileTypes: true }).filter((entry) => entry.isSymbolicLink())) {
    const link = join(dir, name);
    const owner = lstatSync(link, { throwIfNoEntry: false })?.uid ?? self;
    if (!isTrusted(owner)) throw unsafe(`${link} is a symbolic link of another user (uid ${owner})`, link);
  }
}

const isSharedByAll = (dir: string): boolean => (statSync(dir).mode & SHARED_BY_ALL) === SHARED_BY_ALL;

function unsafe(what: string, link?: string): CrawlError {
  const how =
    link === undefined
      ? 'use a directory of your own (--dir)'
      : `if it is meant, make it yours ("chown -h $(id -u) ${link}"), else use a directory of your own (--dir)`;
  return new CrawlError('usage-invalid', `${what}, and incrawl would write where that user wants: ${how}`);
}
