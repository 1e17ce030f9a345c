// operations/state/: the parts of a state directory, opened as configured, and copies of them.
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { CrawlError } from '../../domain/errors.ts';

/** Parts of a state directory: a crawl db of its own, the description of one that workers share, and the rest. */
const DB_PARTS = ['db', 'cluster.json'] as const;
const PARTS = [...DB_PARTS, 'segments', 'reports'] as const;

const holds = (dir: string, parts: readonly string[]): boolean => parts.some((part) => existsSync(join(dir, part)));

/** Whether a state directory holds a crawl db: one of its own, or the description of one that workers share. */
export const hasCrawlDb = (dir: string): boolean => holds(dir, DB_PARTS);

/**
 * Rejects a state directory without a crawl db with `crawl-missing`: a mistyped path or a disk that is not mounted must
 * not pass for an empty crawl.
 */
export function requireCrawlDb(dir: string): void {
  if (!hasCrawlDb(dir)) throw missingCrawl(dir);
}

/** As {@link requireCrawlDb}, for readers of stored rounds, which need no crawl db. */
export function requireCrawl(dir: string): void {
  if (!holds(dir, PARTS)) throw missingCrawl(dir);
}

const missingCrawl = (dir: string): CrawlError =>
  new CrawlError(
    'crawl-missing',
    `${resolve(dir)} holds no crawl (is its disk mounted?): --dir names another state directory, ` +
      '"incrawl crawl URL" and "incrawl inject" begin a crawl',
  );
