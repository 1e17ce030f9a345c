import { closeSync, fsync, fsyncSync, openSync, renameSync, writeFileSync, writeSync, writevSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { CrawlError } from '../../core/domain/errors.ts';
import { isOutOfFiles, outOfFiles } from '../../core/domain/system-limit.ts';

/**
 * Runs a file operation; a full disk becomes `disk-full`, a lack of descriptors `system-limit`, anything else
 * `segment-corrupt` with the file named.
 */
export function onFile<Result>(file: string, operation: () => Result): Result {
  try {
    return operation();
  } catch (error) {
    throw fileError(file, error);
  }
}

export function fileError(file: string, error: unknown): unknown {
  if (error instanceof CrawlError || error instanceof TypeError) return error;
  const code = errnoOf(error);
  const text = error instanceof Error ? error.message : String(error);
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new CrawlError('disk-full', `no space left for ${file}`, { cause: error });
  if (isOutOfFiles(error)) return outOfFiles(`cannot open ${file}`, error);
  return new CrawlError('segment-corrupt', `cannot use ${file}: ${text}`, { cause: error });
}

/** The code of a system error, such as `ENOENT`; empty for other errors. */
export function errnoOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

/** The error for a file that is damaged from this byte on. */
export function damagedAt(file: string, offset: number, what: string, cause?: unknown): CrawlError {
  return new CrawlError('segment-corrupt', `${file} is damaged at byte ${offset}: ${what}`, { cause });
}

/** Writes the whole block: after a signal or on a nearly full disk, a single `write` may be short without an error. */
export function writeWhole(fd: number, block: Uint8Array, position: number): void {
  for (let done = 0; done < block.length; ) done += writeSync(fd, block, done, block.length - done, position + done);
}

/** Average size of buffers, bytes, below which copying them together is cheaper than writing them one by one. */
const GATHERED_BYTES = 2_048;

/** Writes the buffers one after the other; `bytes` is their total size. */
export function writeBuffers(fd: number, buffers: readonly Uint8Array[], bytes: number, position: number): void {
  const written = bytes < GATHERED_BYTES * buffers.length ? 0 : writevSync(fd, buffers, position);
  if (written < bytes) writeWhole(fd, Buffer.concat(buffers, bytes).subarray(written), position + written);
}

/**
 * Replaces a file atomically: after a crash it has either the old text or the new one.
 * @param mode permissions of the file
 */
export function replaceFile(file: string, text: string, mode = 0o666): void {
  onFile(file, () => {
    writeFileSync(`${file}.new`, text, { flush: true, mode });
    renameSync(`${file}.new`, file);
    syncFolder(dirname(file));
  });
}

/** Makes the names in a folder durable. Systems that cannot open folders (Windows) do this by themselves. */
export function syncFolder(folder: string): void {
  let fd: number;
  try {
    fd = openSync(folder, 'r');
  } catch {
    return;
  }
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** For a file that is opened: its caller cannot wait. */
export function syncFileNow(file: string): void {
  onFile(file, () => {
    const fd = openSync(file, 'r+');
    try {
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  });
}

/** Syncs a file without blocking the event loop. */
export async function syncFile(file: string): Promise<void> {
  const fd = onFile(file, () => openSync(file, 'r+'));
  try {
    await promisify(fsync)(fd);
  } catch (error) {
    throw fileError(file, error);
  } finally {
    closeSync(fd);
  }
}
