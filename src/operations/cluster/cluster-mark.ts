// operations/cluster/: a crawl that several workers share.
import { randomUUID } from 'node:crypto';
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CrawlError } from '../../domain/errors.ts';

/**
 * What a state directory says of its crawl db when that lies in Redis. Where Redis is, the configuration says:
 * addresses may hold passwords.
 */
export interface ClusterMark {
  /** The same in the directory and in Redis: neither is taken for another crawl's. */
  readonly id: string;
  /** `cluster.name`. */
  readonly name: string;
}

const fileIn = (dir: string): string => join(dir, 'cluster.json');

/** `null`: the crawl db lies in the directory, if there is one. */
export function readClusterMark(dir: string): ClusterMark | null {
  const file = fileIn(dir);
  if (!existsSync(file)) return null;
  try {
    const { id, name } = JSON.parse(readFileSync(file, 'utf8')) as Partial<ClusterMark>;
    if (typeof id === 'string' && typeof name === 'string') return { id, name };
  } catch (cause) {
    throw new CrawlError('db-corrupt', `${file} cannot be read`, { cause });
  }
  throw new CrawlError('db-corrupt', `${file} does not say which crawl db the directory belongs to`);
}

/** Writes the mark whole or not at all. False: there is one already. */
export function writeClusterMark(dir: string, mark: ClusterMark): boolean {
  return writeOnce(fileIn(dir), `${JSON.stringify(mark)}\n`);
}

const FOLDER = 'cluster-folder';

/** The id of a crawl db that is to belong to the directory; each is another one. */
export function newCrawlDbId(dir: string): string {
  const file = join(dir, FOLDER);
  if (!existsSync(file)) writeOnce(file, `${randomUUID()}\n`);
  return `${randomUUID()}.${readFileSync(file, 'utf8').trim()}`;
}

/** Whether the crawl db of this id began in another directory. Ids of earlier versions do not tell. */
export function isOfAnotherFolder(dir: string, id: string): boolean {
  const [, folder] = id.split('.');
  if (folder === undefined) return false;
  const file = join(dir, FOLDER);
  return !existsSync(file) || readFileSync(file, 'utf8').trim() !== folder;
}

/** Whole or not at all. False: there is such a file already. */
function writeOnce(file: string, text: string): boolean {
  const draft = `${file}.${randomUUID()}`;
  writeFileSync(draft, text);
  try {
    linkSync(draft, file);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(draft, { force: true });
  }
}

/** For commands that work on the files of a crawl db. */
export function refuseClusterState(dir: string, what: string): void {
  const mark = readClusterMark(dir);
  if (mark === null) return;
  throw new CrawlError(
    'usage-invalid',
    `the crawl db of ${dir} is "${mark.name}" in Redis; ${what} works on a crawl db in the state directory. "incrawl export-db" and "import-db" move one from here to there`,
  );
}
