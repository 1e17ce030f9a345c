// operations/cluster/: a crawl that several workers share.
import { randomUUID } from 'node:crypto';
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CrawlError } from '../../domain/errors.ts';

/**
 * `cluster.json` in a state directory whose crawl db is in a shared store. The address of the store, which may hold a
 * password, stands in the configuration only.
 */
export interface ClusterMark {
  /** The same in the directory and in the store, so that neither is taken for that of another crawl. */
  readonly id: string;
  /** `cluster.name`. */
  readonly name: string;
  /** What the store is, for messages. */
  readonly product: string;
  /** Partitions of a spread crawl, whose crawl dbs have names of their own; absent: the crawl db has this name. */
  readonly partitions?: number;
}

const fileIn = (dir: string): string => join(dir, 'cluster.json');

/** `null`: the crawl db, if there is one, lies in the directory. */
export function readClusterMark(dir: string): ClusterMark | null {
  const file = fileIn(dir);
  if (!existsSync(file)) return null;
  try {
    // Earlier versions knew only Redis, and did not say so.
    const { id, name, product = 'Redis', partitions } = JSON.parse(readFileSync(file, 'utf8')) as Partial<ClusterMark>;
    const spread = typeof partitions === 'number' ? { partitions } : {};
    if (typeof id === 'string' && typeof name === 'string') return { id, name, product, ...spread };
  } catch (cause) {
    throw new CrawlError('db-corrupt', `${file} cannot be read`, { cause });
  }
  throw new CrawlError('db-corrupt', `${file} holds no id and name of a crawl db`);
}

/** Writes the mark whole or not at all. False: there is a mark already. */
export function writeClusterMark(dir: string, mark: ClusterMark): boolean {
  return writeOnce(fileIn(dir), `${JSON.stringify(mark)}\n`);
}

const FOLDER = 'cluster-folder';

/** A new id for a crawl db that will belong to the directory. */
export function newCrawlDbId(dir: string): string {
  const file = join(dir, FOLDER);
  if (!existsSync(file)) writeOnce(file, `${randomUUID()}\n`);
  return `${randomUUID()}.${readFileSync(file, 'utf8').trim()}`;
}

/** Whether the crawl db of this id was made for another directory; false for ids of earlier versions, without one. */
export function isOfAnotherFolder(dir: string, id: string): boolean {
  const [, folder] = id.split('.');
  if (folder === undefined) return false;
  const file = join(dir, FOLDER);
  return !existsSync(file) || readFileSync(file, 'utf8').trim() !== folder;
}

/** Writes a file whole or not at all. False: the file exists already. */
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

/** Rejects state directories whose crawl db is in a shared store, for commands that work on its files. */
export function refuseClusterState(dir: string, what: string): void {
  const mark = readClusterMark(dir);
  if (mark === null) return;
  throw new CrawlError(
    'usage-invalid',
    `the crawl db of ${dir} is "${mark.name}" in ${mark.product}; ${what} works on a crawl db in the state directory. ` +
      'Move it with "incrawl export-db" and "incrawl import-db"',
  );
}

/** Rejects the directory of a spread crawl, for what is done with one partition at a time. */
export function refuseSpread(dir: string): void {
  const mark = readClusterMark(dir);
  if (mark?.partitions === undefined) return;
  throw new CrawlError(
    'usage-invalid',
    `the crawl "${mark.name}" is spread over ${mark.partitions} partitions, of which this command works on one: ` +
      `--dir ${join(dir, 'partitions', '000')} -D cluster.name=${mark.name}:000. Seeds are given to "incrawl work"`,
  );
}
