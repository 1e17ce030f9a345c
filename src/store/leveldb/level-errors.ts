import { CrawlError } from '../../core/domain/errors.ts';
import { outOfFiles, saysOutOfFiles } from '../../core/domain/system-limit.ts';

const DISK_FULL = /No space left on device|ENOSPC|Disk quota exceeded|EDQUOT/i;
/** LevelDB reports a table or manifest that was deleted or truncated as an I/O error, as it does a failing disk. */
const DAMAGED = /Corruption|No such file or directory|\.ldb: Invalid argument|Is a directory|Input\/output error/;

const UNWRITABLE = /Permission denied|Read-only file system|Operation not permitted|EACCES|EROFS|EPERM/i;

/**
 * An error of LevelDB as a `CrawlError` of the crawl db. A programmer's mistake (`TypeError`) and a `CrawlError` stay
 * as they are.
 */
export function crawlDbError(error: unknown): Error {
  if (error instanceof CrawlError || error instanceof TypeError) return error;
  const chain = causes(error);
  const codes = chain.map(codeOf);
  const text = chain.map(({ message }) => message).join(': ');
  if (DISK_FULL.test(text)) {
    return new CrawlError('disk-full', `the disk is full; free some space and open the crawl db again (${text})`, {
      cause: error,
    });
  }
  if (saysOutOfFiles(text)) return outOfFiles(`the crawl db failed (${text})`, error);
  if (UNWRITABLE.test(text)) {
    return new CrawlError('db-readonly', `the crawl db cannot be written (${text})`, { cause: error });
  }
  if (codes.includes('LEVEL_CORRUPTION') || DAMAGED.test(text)) {
    return new CrawlError('db-corrupt', `the crawl db is damaged: ${text}`, { cause: error });
  }
  // With a cause, the same codes mean that opening failed.
  if (chain.length === 1 && (codes[0] === 'LEVEL_DATABASE_NOT_OPEN' || codes[0] === 'LEVEL_ITERATOR_NOT_OPEN')) {
    return new CrawlError('internal', 'the crawl db was used after it had been closed', { cause: error });
  }
  return new CrawlError('internal', `the crawl db failed: ${text || String(error)}`, { cause: error });
}

export function isLocked(error: unknown): boolean {
  return causes(error).some((each) => codeOf(each) === 'LEVEL_LOCKED');
}

/** The error and its causes, outermost first. */
function causes(error: unknown): Error[] {
  const chain: Error[] = [];
  for (let each = error; each instanceof Error; each = each.cause) chain.push(each);
  return chain;
}

function codeOf(error: Error): unknown {
  return (error as { code?: unknown }).code;
}
