import { randomUUID } from 'node:crypto';
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CrawlError } from '../../domain/errors.ts';

/** What a state directory says of its crawl db when that lies in Redis. Where Redis is, the configuration says: addresses may hold passwords. */
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
  const draft = `${fileIn(dir)}.${randomUUID()}`;
  writeFileSync(draft, `${JSON.stringify(mark)}\n`);
  try {
    linkSync(draft, fileIn(dir));
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
