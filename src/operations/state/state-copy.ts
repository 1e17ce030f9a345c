import {
  constants,
  copyFileSync,
  cpSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Config } from '../../core/config/schema.ts';
import { CrawlError } from '../../core/domain/errors.ts';
import { LOCK, ownFolder } from '../../store/files/locks/folder-lock.ts';
import { INFO, isFinished, readMark } from '../../store/files/segments/segment-folder.ts';
import { snapshotDb } from '../../store/leveldb/db-snapshot.ts';
import { markDryCopy } from './segments-mark.ts';

/** A folder for temporary files, removed when it is closed or the process ends. */
export interface TemporaryState {
  readonly dir: string;
  close(): void;
}

/**
 * A writable copy of a state directory as of now, deleted when closed, so that a dry run executes the code of the real
 * run. Nothing of the original is opened for writing; another process may hold it.
 * @param written segments that will be written to although they have been applied
 */
export function shadowState(state: string, written: readonly string[] = []): TemporaryState {
  const original = resolve(state);
  const shadow = temporaryState('dry-run');
  try {
    if (existsSync(join(original, 'db'))) snapshotDb(join(original, 'db'), join(shadow.dir, 'db'), shareFile);
    shadowSegments(join(original, 'segments'), join(shadow.dir, 'segments'), written);
    markDryCopy(original, shadow.dir);
    if (existsSync(join(original, 'robots')))
      cpSync(join(original, 'robots'), join(shadow.dir, 'robots'), { recursive: true });
    return shadow;
  } catch (error) {
    shadow.close();
    throw error;
  }
}

/** Copies the crawl db as of now, without segments, to `DIR/db`. */
export function snapshotState(state: string): TemporaryState {
  const snapshot = temporaryState('snapshot');
  try {
    const db = join(resolve(state), 'db');
    if (existsSync(db)) snapshotDb(db, join(snapshot.dir, 'db'), shareFile);
    return snapshot;
  } catch (error) {
    snapshot.close();
    throw error;
  }
}

/**
 * Runs `use` on a copy of the crawl db as of now, in `DIR/db`, and deletes the copy. Errors name the original.
 */
export async function onSnapshot<Value>(state: string, use: (dir: string) => Promise<Value>): Promise<Value> {
  const snapshot = snapshotState(state);
  try {
    return await use(snapshot.dir);
  } catch (error) {
    throw errorAboutOriginal(state, snapshot, error);
  } finally {
    snapshot.close();
  }
}

/**
 * The error with the path of the state directory instead of that of its copy, which has been deleted by then.
 */
export function errorAboutOriginal(state: string, copy: TemporaryState, error: unknown): unknown {
  if (!(error instanceof CrawlError) || !error.message.includes(copy.dir)) return error;
  return new CrawlError(error.code, error.message.replaceAll(copy.dir, resolve(state)), { cause: error });
}

/**
 * The configuration without shared stores, which a dry run must not change. Without a shared filter, the crawl db
 * itself shows which URLs are known.
 */
export function withoutShared(config: Config): Config {
  const alone: Config = { ...config, cluster: { ...config.cluster, store: '' } };
  return config.seen.filter === 'redis' ? { ...alone, seen: { ...config.seen, filter: 'off' } } : alone;
}

/**
 * Folders in use. A signal that has no other listener removes them and then ends the process.
 */
const inUse = new Set<string>();
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

const removeAll = (): void => {
  for (const dir of inUse) rmSync(dir, { recursive: true, force: true });
};

function onSignal(signal: NodeJS.Signals): void {
  if (process.listenerCount(signal) > 1) return;
  removeAll();
  process.off(signal, onSignal);
  process.kill(process.pid, signal);
}

export function temporaryState(what: string): TemporaryState {
  if (inUse.size === 0) {
    process.on('exit', removeAll);
    for (const signal of SIGNALS) process.on(signal, onSignal);
  }
  const dir = ownFolder(tmpdir(), `incrawl-${what}`);
  inUse.add(dir);
  return {
    dir,
    close() {
      inUse.delete(dir);
      rmSync(dir, { recursive: true, force: true });
      if (inUse.size > 0) return;
      process.off('exit', removeAll);
      for (const signal of SIGNALS) process.off(signal, onSignal);
    },
  };
}

/**
 * Makes a copy of the segments of a folder that can be changed without affecting the originals. Finished segments share
 * their files; those that may still be written are copied.
 * @param written ids of segments that will be written in the copy, finished or not
 */
function shadowSegments(from: string, to: string, written: readonly string[]): void {
  if (!existsSync(from)) return;
  for (const { name: id } of readdirSync(from, { withFileTypes: true }).filter((entry) => entry.isDirectory())) {
    const folder = join(from, id);
    const isShared = !written.includes(id) && isDone(folder);
    mkdirSync(join(to, id), { recursive: true });
    // Outcomes before the responses that they point at, because responses are appended first.
    for (const name of readdirSync(folder).sort().reverse()) {
      if (name.startsWith(LOCK)) continue;
      if (isShared && name !== INFO) shareFile(join(folder, name), join(to, id, name));
      else copyFileSync(join(folder, name), join(to, id, name), constants.COPYFILE_FICLONE);
    }
  }
}

function isDone(folder: string): boolean {
  try {
    return isFinished(folder) && readMark(folder).info.state === 'updated';
  } catch {
    // Readers of the copy get an error.
    return false;
  }
}

/**
 * Gives a second name to a file that is no longer written: a hard link if the file system supports it, else a symbolic
 * link, else a copy. Removing the second name leaves the file alone. Throws `ENOENT` if the file is gone.
 * @param from absolute
 */
export function shareFile(from: string, to: string): void {
  for (const share of [linkSync, symlinkSync]) {
    try {
      share(from, to);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw error;
    }
  }
  copyFileSync(from, to, constants.COPYFILE_FICLONE);
}
