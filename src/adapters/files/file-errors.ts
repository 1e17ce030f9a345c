import { CrawlError } from '../../domain/errors.ts';

/** Runs a file operation; a full disk becomes `disk-full`, anything else `segment-corrupt` with the file named. */
export function onFile<Result>(file: string, operation: () => Result): Result {
  try {
    return operation();
  } catch (error) {
    throw fileError(file, error);
  }
}

export function fileError(file: string, error: unknown): CrawlError {
  if (error instanceof CrawlError) return error;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const text = error instanceof Error ? error.message : String(error);
  if (code === 'ENOSPC' || code === 'EDQUOT')
    return new CrawlError('disk-full', `no space left for ${file}`, { cause: error });
  return new CrawlError('segment-corrupt', `cannot use ${file}: ${text}`, { cause: error });
}
