// care/state/: backup, restore, verification, repair and pruning of a state directory.

import { existsSync, readdirSync, statSync } from 'node:fs';
import { readdir, readFile, rename, rm, rmdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { packageVersion } from '../../core/config/package-version.ts';
import { CrawlError, unknownVersion } from '../../core/domain/errors.ts';
import { makeFolder } from '../../core/plugin-host/make-folder.ts';
import type { Clock } from '../../core/ports/clock.ts';
import type { Log } from '../../core/ports/log.ts';
import type { OnWork } from '../../core/ports/work-progress.ts';
import { refuseClusterState } from '../../operations/state/cluster-mark.ts';
import { SEGMENTS_MARK } from '../../operations/state/segments-mark.ts';
import { onSnapshot } from '../../operations/state/state-copy.ts';
import { REQUISITES_FOLDER, requireCrawlDb } from '../../operations/state/state-folder.ts';
import { systemClock } from '../../operations/system/clock.ts';
import {
  type BackedUpFile,
  copyDigested,
  digestFile,
  filesBelow,
  filesFromLast,
} from '../../store/files/care/segment-care.ts';
import { LOCK, lockFolder } from '../../store/files/locks/folder-lock.ts';
import { copyRows, digestRows } from '../../store/leveldb/db-snapshot.ts';
import { removeHolder } from '../../store/leveldb/holder.ts';
import { openLevelRows, openStoredRows } from '../../store/leveldb/open-rows.ts';
import { DB_FORMAT_VERSION } from '../../store/rows/format.ts';
import type { Rows } from '../../store/rows/rows.ts';

const MANIFEST = 'backup.json';
const VERSION = 1;
/**
 * Folders of a state directory that a backup includes, besides the crawl db. Locks, sockets, health reports and the
 * quarantine belong to the machine.
 */
const FOLDERS = ['segments', 'robots', 'reports', 'watch', 'webhooks'];
/** Staging folders of an unfinished backup and of an unfinished restore. */
const BACKING_UP = '.backing-up';
const RESTORING = '.restoring';
/** Locks, and drafts of `replaceFile` and of the robots.txt store, which may disappear before they are copied. */
const isPassing = (path: string): boolean => /\.(?:lock|new|json\.\d+\.\d+)$/.test(path);

const dbSchema = z.object({ rows: z.number(), sha256: z.string() });
const manifestSchema = z.object({
  backup: z.literal('incrawl'),
  version: z.number(),
  incrawl: z.string(),
  dbFormat: z.number(),
  createdAt: z.string(),
  db: dbSchema,
  /** The crawl db of the requisites; absent: the crawl has none. */
  requisites: dbSchema.optional(),
  files: z.array(z.object({ path: z.string(), bytes: z.number(), sha256: z.string() })),
});
type Manifest = z.infer<typeof manifestSchema>;

export interface BackupSummary {
  readonly dir: string;
  readonly createdAt: string;
  readonly rows: number;
  /** Rows of the crawl db of requisites; `null`: the crawl has none. */
  readonly requisiteRows: number | null;
  readonly files: number;
  /** Bytes of the files, without the crawl db. */
  readonly bytes: number;
}

interface BackupDeps {
  readonly log: Log;
  readonly clock?: Clock;
  readonly onWork?: OnWork;
}

/**
 * Copies a state directory into a new or empty folder, with a list of its files in `backup.json`. A crawl may run
 * meanwhile: the crawl db is copied first, as of now, then the segments, which by then hold everything it refers to.
 * The crawl of requisites below it is part of the backup. A killed backup leaves a folder without `backup.json`, which
 * a restore refuses and the next backup overwrites.
 */
export async function backupState(
  state: string,
  target: string,
  { log, clock = systemClock, onWork, dryRun = false }: BackupDeps & { readonly dryRun?: boolean },
): Promise<BackupSummary> {
  const dir = resolve(state);
  const to = resolve(target);
  refuseClusterState(dir, 'a backup', 'Back up the store and the pages by their own means: docs/cluster.md');
  requireCrawlDb(dir);
  const left = existsSync(to) ? leftIn(to, BACKING_UP, [...FOLDERS, REQUISITES_FOLDER, SEGMENTS_MARK, 'db']) : [];
  if (left.length === 0) requireEmpty(to, 'a backup goes into a new folder');
  return onSnapshots(dir, async (copies) => {
    /** Digests of the rows of both crawl dbs. */
    const rowsOf = async (
      use: (rows: Rows, db: string) => Promise<Manifest['db']>,
    ): Promise<Pick<Manifest, 'db' | 'requisites'>> => {
      const digests: Manifest['db'][] = [];
      for (const { inside, db } of copies)
        digests.push(await withRows(openLevelRows, db, { log, clock }, (rows) => use(rows, join(inside, 'db'))));
      const [db, requisites] = digests as [Manifest['db'], Manifest['db']?];
      return { db, ...(requisites !== undefined && { requisites }) };
    };
    const manifestOf = (dbs: Pick<Manifest, 'db' | 'requisites'>, files: BackedUpFile[]): Manifest => ({
      backup: 'incrawl',
      version: VERSION,
      incrawl: packageVersion(),
      dbFormat: DB_FORMAT_VERSION,
      createdAt: new Date(clock.now()).toISOString(),
      ...dbs,
      files,
    });
    if (dryRun) {
      const files = [...filesToKeep(dir)].map((path) => ({ path, bytes: statSync(join(dir, path)).size, sha256: '' }));
      return summaryOf(to, manifestOf(await rowsOf((rows) => digestRows(rows, onWork)), files));
    }
    return stagedInto(
      { what: 'the backup', fresh: join(to, BACKING_UP), left },
      async (fresh) => {
        const dbs = await rowsOf((rows, path) => copyRows(rows, join(fresh, path), onWork));
        const files: BackedUpFile[] = [];
        for (const path of filesToKeep(dir)) {
          files.push(await copyDigested(dir, fresh, path));
          onWork?.({ work: 'copying files', done: files.length, total: null });
        }
        const manifest = manifestOf(dbs, files);
        await writeFile(join(fresh, MANIFEST), `${JSON.stringify(manifest, null, 1)}\n`, { flush: true });
        return summaryOf(to, manifest);
      },
      (fresh) => moveUp(fresh, to, MANIFEST),
    );
  });
}

function* filesToKeep(dir: string): Generator<string> {
  // Names the object store that holds the segments: they stay there.
  if (existsSync(join(dir, SEGMENTS_MARK))) yield SEGMENTS_MARK;
  for (const folder of FOLDERS) {
    // Only files of a segment refer to each other, so their order matters. There may be very many copies of robots.txt.
    const files = folder === 'segments' ? filesFromLast(dir, folder) : filesBelow(dir, folder);
    for (const path of files) if (!isPassing(path)) yield path;
  }
  const requisites = join(dir, REQUISITES_FOLDER);
  if (existsSync(join(requisites, 'db')))
    for (const path of filesToKeep(requisites)) yield `${REQUISITES_FOLDER}/${path}`;
}

/** A copy of a crawl db, and the folder of the state directory that it belongs to; empty: that itself. */
interface DbCopy {
  readonly inside: string;
  readonly db: string;
}

/** Calls `use` with copies as of now: of the crawl db, and of that of requisites, where there is one. */
function onSnapshots<Value>(state: string, use: (copies: readonly DbCopy[]) => Promise<Value>): Promise<Value> {
  return onSnapshot(state, (snapshot) => {
    const pages = { inside: '', db: join(snapshot, 'db') };
    const requisites = join(state, REQUISITES_FOLDER);
    if (!existsSync(join(requisites, 'db'))) return use([pages]);
    return onSnapshot(requisites, (copy) => use([pages, { inside: REQUISITES_FOLDER, db: join(copy, 'db') }]));
  });
}

async function withRows<Value>(
  openRows: typeof openStoredRows,
  dir: string,
  deps: BackupDeps,
  use: (rows: Rows) => Promise<Value>,
): Promise<Value> {
  const rows = await openRows({ dir, log: deps.log, clock: deps.clock ?? systemClock });
  try {
    return await use(rows);
  } finally {
    await removeHolder(dir);
    await rows.close();
  }
}

/**
 * Restores a backup into a state directory. Files and rows are checked against `backup.json`; a new directory appears,
 * whole, at the end. An existing empty directory (it may be a link or a mount point) keeps its owner: everything is
 * staged below it and then moved up, the crawl db last. Rejects with `usage-invalid` for a folder that is not a whole
 * backup, and for a state directory that is not empty.
 */
export async function restoreState(
  backup: string,
  state: string,
  { log, clock = systemClock, onWork, dryRun = false }: BackupDeps & { readonly dryRun?: boolean },
): Promise<BackupSummary> {
  const from = resolve(backup);
  const dir = resolve(state);
  const deps = { log, clock, ...(onWork && { onWork }) };
  const manifest = await readManifest(from);
  const isNew = !existsSync(dir);
  const left = isNew ? [] : leftIn(dir, RESTORING, [...FOLDERS, REQUISITES_FOLDER, SEGMENTS_MARK]);
  if (left.length === 0) requireEmpty(dir, 'a backup is restored into a new state directory');
  if (dryRun) return { ...(await checkBackup(from, deps)), dir };
  const fresh = isNew ? `${dir}${RESTORING}` : join(dir, RESTORING);
  return stagedInto(
    { what: 'the restored crawl', fresh, left },
    async () => {
      for (const [done, file] of manifest.files.entries()) {
        onWork?.({ work: 'copying files', done, total: manifest.files.length });
        requireEqual(await copyDigested(from, fresh, file.path), file);
      }
      await onSnapshots(from, async (copies) => {
        for (const { inside, db } of copies)
          await withRows(openStoredRows, db, { log, clock }, (rows) =>
            copyRows(rows, join(fresh, inside, 'db'), onWork),
          );
      });
      await requireSameRows(join(fresh, 'db'), manifest.db, deps);
      if (manifest.requisites !== undefined)
        await requireSameRows(join(fresh, REQUISITES_FOLDER, 'db'), manifest.requisites, deps);
      return summaryOf(dir, manifest);
    },
    () => (isNew ? rename(fresh, dir) : moveUp(fresh, dir, 'db')),
  );
}

/**
 * Fills a staging folder and moves its contents into place once it is complete. Removes leftovers of a killed run
 * first, and the staging folder of a failed one. Rejects with `db-locked` while another process fills it.
 */
async function stagedInto<Value>(
  { what, fresh, left }: { readonly what: string; readonly fresh: string; readonly left: readonly string[] },
  fill: (fresh: string) => Promise<Value>,
  putInPlace: (fresh: string) => Promise<void>,
): Promise<Value> {
  // It becomes a state directory, or holds a copy of one.
  await makeFolder(fresh, 0o700);
  const lock = lockFolder(fresh, what);
  try {
    const inside = (await readdir(fresh)).filter((name) => name !== LOCK).map((name) => join(fresh, name));
    for (const path of [...inside, ...left.filter((path) => path !== fresh)])
      await rm(path, { recursive: true, force: true });
    const filled = await fill(fresh);
    lock.requireHeld();
    lock.release();
    await putInPlace(fresh);
    return filled;
  } catch (error) {
    if (lock.release()) await rm(fresh, { recursive: true, force: true });
    throw error;
  }
}

/** Leftovers of a run that was killed; none when the folder also holds files that such a run cannot have left. */
function leftIn(dir: string, staging: string, moved: readonly string[]): string[] {
  const names = readdirSync(dir);
  const isLeft = names.includes(staging) && names.every((name) => name === staging || moved.includes(name));
  return isLeft ? names.map((name) => join(dir, name)) : [];
}

/** Moves `last` last: its presence means that everything is in place. */
async function moveUp(from: string, to: string, last: string): Promise<void> {
  const names = (await readdir(from)).sort((a, b) => Number(a === last) - Number(b === last));
  for (const name of names) await rename(join(from, name), join(to, name));
  await rmdir(from);
}

/** Compares stored rows, unconverted: a db of an older version is converted when a crawl first opens it. */
async function requireSameRows(dir: string, db: Manifest['db'], deps: BackupDeps): Promise<void> {
  const found = await withRows(openStoredRows, dir, deps, (rows) => digestRows(rows, deps.onWork));
  if (found.sha256 === db.sha256) return;
  throw new CrawlError(
    'usage-invalid',
    `the backup is damaged: the rows of its crawl db (${found.rows}) are not the ${db.rows} that were backed up`,
  );
}

async function readManifest(from: string): Promise<Manifest> {
  let text: string;
  try {
    text = await readFile(join(from, MANIFEST), 'utf8');
  } catch {
    throw new CrawlError('usage-invalid', `${from} holds no complete backup: ${MANIFEST} is missing`);
  }
  const read = manifestSchema.safeParse(parsed(text));
  if (!read.success)
    throw new CrawlError('usage-invalid', `${join(from, MANIFEST)} cannot be read: ${read.error.issues[0]?.message}`);
  const { version, dbFormat } = read.data;
  if (version > VERSION) throw unknownVersion('the backup has version', version, VERSION);
  if (dbFormat > DB_FORMAT_VERSION) {
    throw unknownVersion('the crawl db in the backup has format', dbFormat, DB_FORMAT_VERSION);
  }
  for (const { path } of read.data.files) {
    if (path.startsWith('/') || path.split('/').includes('..')) {
      throw new CrawlError('usage-invalid', `the backup names a file outside of it: ${path}`);
    }
  }
  return read.data;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function requireEmpty(dir: string, what: string): void {
  if (existsSync(dir) && readdirSync(dir).length > 0)
    throw new CrawlError('usage-invalid', `${dir} is not empty; ${what}`);
}

function requireEqual(found: BackedUpFile, wanted: BackedUpFile): void {
  if (found.sha256 !== wanted.sha256)
    throw new CrawlError('usage-invalid', `the backup is damaged: ${wanted.path} is not the file that was backed up`);
}

function summaryOf(dir: string, { createdAt, db, requisites, files }: Manifest): BackupSummary {
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  return { dir, createdAt, rows: db.rows, requisiteRows: requisites?.rows ?? null, files: files.length, bytes };
}

/**
 * Checks the files and rows of a backup against `backup.json`; changes nothing. Rejects like {@link restoreState}.
 */
export async function checkBackup(backup: string, deps: BackupDeps): Promise<BackupSummary> {
  const from = resolve(backup);
  const manifest = await readManifest(from);
  for (const [done, file] of manifest.files.entries()) {
    deps.onWork?.({ work: 'checking files', done, total: manifest.files.length });
    requireEqual(await digestFile(from, file.path), file);
  }
  await onSnapshots(from, async ([pages, requisites]) => {
    await requireSameRows((pages as DbCopy).db, manifest.db, deps);
    if (manifest.requisites === undefined) return;
    if (requisites === undefined)
      throw new CrawlError('usage-invalid', `the backup is damaged: ${REQUISITES_FOLDER}/db is missing`);
    await requireSameRows(requisites.db, manifest.requisites, deps);
  });
  return summaryOf(from, manifest);
}
