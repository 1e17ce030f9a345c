import { CrawlError } from '../../domain/errors.ts';
import { isOutOfFiles, outOfFiles } from '../../domain/system-limit.ts';

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

/** A file that is damaged from this byte on. */
export function damagedAt(file: string, offset: number, what: string, cause?: unknown): CrawlError {
  return new CrawlError('segment-corrupt', `${file} is damaged at byte ${offset}: ${what}`, { cause });
}
