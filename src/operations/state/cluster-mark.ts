// operations/state/: the parts of a state directory, opened as configured, and copies of them.

import { createHash, randomUUID } from 'node:crypto';
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Config } from '../../core/config/schema.ts';
import { senderOf } from '../../core/domain/crawl/discovery/forwarded-link.ts';
import { CrawlError } from '../../core/domain/errors.ts';
import type { PartitionBy, PartitionShape } from '../../core/domain/url/hash/partition.ts';
import { replaceFile } from '../../store/files/durable-file.ts';

/**
 * `cluster.json` in a state directory whose crawl db is in a shared store. The address of the store, which may contain
 * a password, is only in the configuration.
 */
export interface ClusterMark {
  /** The same in the directory and in the store, so that neither is taken for part of another crawl. */
  readonly id: string;
  /** `cluster.name`. */
  readonly name: string;
  /** What the store is, for messages. */
  readonly product: string;
  /**
   * Number of partitions at the start of a spread crawl, whose crawl dbs have names of their own; absent: there is one
   * crawl db, with the name `name`.
   */
  readonly partitions?: number;
  /** As in `PartitionShape`, as far as this machine knows; absent: none was split. */
  readonly splits?: readonly number[];
}

/** The partitions of the crawl that a mark describes; `null`: it is one crawl db. */
export function shapeOf(mark: ClusterMark | null): PartitionShape | null {
  if (mark?.partitions === undefined) return null;
  const { partitions, splits = [] } = mark;
  return { partitions: partitions + splits.length, splits };
}

const fileIn = (dir: string): string => join(dir, 'cluster.json');

/** `null`: the crawl db, if there is one, is in the directory. */
export function readClusterMark(dir: string): ClusterMark | null {
  const file = fileIn(dir);
  if (!existsSync(file)) return null;
  try {
    const mark = JSON.parse(readFileSync(file, 'utf8')) as Partial<ClusterMark>;
    const { id, name, product, partitions, splits } = mark;
    const split = Array.isArray(splits) ? { splits } : {};
    const spread = typeof partitions === 'number' ? { partitions, ...split } : {};
    if (typeof id === 'string' && typeof name === 'string' && typeof product === 'string') {
      return { id, name, product, ...spread };
    }
  } catch (cause) {
    throw new CrawlError('db-corrupt', `${file} cannot be read`, { cause });
  }
  throw new CrawlError('db-corrupt', `${file} holds no id and name of a crawl db`);
}

/** Writes the mark wholly or not at all. False: there is already a mark. */
export function writeClusterMark(dir: string, mark: ClusterMark): boolean {
  return writeOnce(fileIn(dir), `${JSON.stringify(mark)}\n`);
}

/** Notes splits that this machine has learned about. */
export function noteSplits(dir: string, mark: ClusterMark, splits: readonly number[]): void {
  if (splits.length > (mark.splits?.length ?? 0)) replaceFile(fileIn(dir), `${JSON.stringify({ ...mark, splits })}\n`);
}

/** The whole crawl of which a folder is a partition (`DIR/partitions/017`); `null`: it is not such a folder. */
export function wholeOf(folder: string): { readonly dir: string; readonly part: string; readonly id: string } | null {
  const [, dir, part] = /^(.*)[/\\](partitions[/\\]\d{3})$/.exec(resolve(folder)) ?? [];
  const mark = dir === undefined ? null : readClusterMark(dir);
  if (dir === undefined || part === undefined || mark?.partitions === undefined) return null;
  return { dir, part: part.replace('\\', '/'), id: mark.id };
}

const FOLDER = 'cluster-folder';

/**
 * A new id for a crawl db. It says where the segments are: in the directory, or at a place in an object store, to which
 * any number of directories may belong. It also says which unit the partitions hold as a whole, so that all machines
 * agree.
 */
export function newCrawlDbId(dir: string, place = '', by: PartitionBy = 'domain'): string {
  const kind = by === 'host' ? BY_HOST : '';
  if (place !== '') return `${randomUUID()}.${placeDigest(place)}${kind}`;
  const file = join(dir, FOLDER);
  if (!existsSync(file)) writeOnce(file, `${randomUUID()}\n`);
  return `${randomUUID()}.${readFileSync(file, 'utf8').trim()}${kind}`;
}

/** The third part of an id; ids of crawls by domain have two. */
const BY_HOST = '.host';

/** The unit that partitions hold as a whole, according to the id of their crawl. */
export const partitionByOf = (id: string): PartitionBy => (id.endsWith(BY_HOST) ? 'host' : 'domain');

const STORED = 's3-';
const placeDigest = (place: string): string =>
  `${STORED}${createHash('sha256').update(place).digest('hex').slice(0, 16)}`;

/**
 * Whether the crawl db with this id has its segments elsewhere than in the directory or, if a place in an object store
 * is given, at that place.
 */
export function isOfAnotherFolder(dir: string, id: string, place = ''): boolean {
  const [, folder = ''] = id.split('.');
  if (place !== '' || folder.startsWith(STORED)) return place === '' || folder !== placeDigest(place);
  const file = join(dir, FOLDER);
  return !existsSync(file) || readFileSync(file, 'utf8').trim() !== folder;
}

/** Writes a file wholly or not at all. False: the file already exists. */
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
export function refuseClusterState(
  dir: string,
  what: string,
  how = 'Move it with "incrawl db export" and "incrawl db import"',
): void {
  const mark = readClusterMark(dir);
  if (mark === null) return;
  throw new CrawlError(
    'usage-invalid',
    `the crawl db of ${dir} is "${mark.name}" in ${mark.product}; ${what} works on a crawl db in the state directory. ` +
      how,
  );
}

/** Whether writes to a state directory go to partitions: those of its crawl, or of a crawl that begins. */
export function isForPartitions(dir: string, { cluster }: Pick<Config, 'cluster'>): boolean {
  const folder = resolve(dir);
  const mark = readClusterMark(folder);
  if (mark !== null) return mark.partitions !== undefined;
  return cluster.store !== '' && cluster.partitions > 1 && !existsSync(join(folder, 'db'));
}

/** Whether a state directory is that of a whole spread crawl. */
export const isSpread = (dir: string): boolean => readClusterMark(resolve(dir))?.partitions !== undefined;

/** Rejects the directory of a spread crawl, for actions that work on one partition at a time. */
export function refuseSpread(dir: string): void {
  const mark = readClusterMark(dir);
  const shape = shapeOf(mark);
  if (mark === null || shape === null) return;
  throw new CrawlError(
    'usage-invalid',
    `the crawl "${mark.name}" is spread over ${shape.partitions} partitions, 000 to ${senderOf(shape.partitions - 1)}, ` +
      `and this command works on one at a time: --dir ${join(dir, 'partitions', '000')} -D cluster.name=${mark.name}:000; ` +
      '"incrawl work" crawls all of them, and "incrawl inject" sends them seeds',
  );
}
