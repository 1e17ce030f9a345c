import { createWriteStream, readdirSync, realpathSync, statSync, type WriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { packageVersion } from '../../core/config/package-version.ts';
import type { CrawlIdentity, ExportTarget } from '../../core/plugin-host/api/exporter-api.ts';
import { ownPartial } from '../../store/files/locks/folder-lock.ts';
import { sortedLines } from '../../store/files/sorting/external-sort.ts';

export interface OpenTarget extends ExportTarget {
  /** Bytes written, to a file or to standard output. */
  readonly bytes: number;
  /** Makes the file appear, if there is one. */
  finish(): Promise<void>;
  /** Removes the partial file. */
  abandon(): Promise<void>;
}

export interface TargetOptions {
  readonly place: string | null;
  readonly isIncremental: boolean;
  readonly crawl: CrawlIdentity;
  /** Standard output. */
  readonly write: (chunk: string | Uint8Array) => Promise<void>;
  /** Folder for temporary files. */
  readonly tempDir: string;
}

/**
 * The target of an export. A file is written under a temporary name first, so that no reader sees a partial one. A
 * device or a pipe is written to directly.
 */
export function openTarget({ place, isIncremental, crawl, write, tempDir }: TargetOptions): OpenTarget {
  let file: WriteStream | null = null;
  let failure: Error | null = null;
  let bytes = 0;
  const { file: whole, isReplaced } = place === null ? { file: '', isReplaced: false } : destination(place);
  const partial = isReplaced ? ownPartial(whole) : whole;
  const opened = (): WriteStream => {
    file ??= createWriteStream(partial).on('error', (error) => {
      failure ??= error;
    });
    return file;
  };
  return {
    place,
    isIncremental,
    software: `incrawl/${packageVersion()}`,
    crawl,
    get bytes() {
      return bytes;
    },
    async write(chunk) {
      bytes += Buffer.byteLength(chunk);
      if (place === null) return write(chunk);
      // A stream that has failed emits neither 'drain' nor a second 'error'.
      if (failure !== null) throw failure;
      const stream = opened();
      if (!stream.write(chunk)) await new Promise<void>((resolve) => drained(stream, resolve));
      if (failure !== null) throw failure;
    },
    partial: ownPartial,
    sorted: (lines) => sortedLines(lines, { dir: join(tempDir, 'tmp') }),
    async finish() {
      if (place === null || file === null) return;
      const stream = file;
      await new Promise<void>((resolve) => stream.end(resolve).once('error', () => resolve()));
      if (failure !== null) throw failure;
      if (isReplaced) await rename(partial, whole);
    },
    async abandon() {
      if (file === null) return;
      const stream = file;
      if (!stream.closed) await new Promise<void>((resolve) => stream.once('close', resolve).destroy());
      if (isReplaced) await rm(partial, { force: true });
    },
  };
}

/** The file behind a link, and whether it may be replaced: /dev/null or a named pipe must not be. */
function destination(place: string): { readonly file: string; readonly isReplaced: boolean } {
  const found = statSync(place, { throwIfNoEntry: false });
  if (found === undefined) return { file: place, isReplaced: true };
  const isReplaced = found.isFile() || found.isDirectory();
  return { file: isReplaced ? realpathSync(place) : place, isReplaced };
}

/** Whether a finished export would replace anything: a file that is not empty, or a folder unless it is added to. */
export function hasContent(place: string, isAddedTo: boolean): boolean {
  const found = statSync(place, { throwIfNoEntry: false });
  if (found?.isDirectory()) return !isAddedTo && readdirSync(place).some((name) => !name.endsWith('.partial'));
  return found?.isFile() === true && found.size > 0;
}

function drained(stream: WriteStream, resolve: () => void): void {
  const settle = (): void => {
    stream.off('drain', settle).off('close', settle);
    resolve();
  };
  // A stream also closes after an error.
  stream.on('drain', settle).on('close', settle);
  if (stream.closed) settle();
}
