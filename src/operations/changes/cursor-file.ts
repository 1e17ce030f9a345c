import { existsSync, readFileSync } from 'node:fs';
import { replaceFile } from '../../adapters/files/durable-file.ts';
import { cursorText, type FeedCursor, parseCursor } from '../../domain/crawl/change/feed-cursor.ts';
import { CrawlError } from '../../domain/errors.ts';

/** The cursor that a reader of the feed keeps in a file; `null`: there is no such file yet. */
export function loadCursor(file: string): FeedCursor | null {
  if (!existsSync(file)) return null;
  const cursor = parseCursor(readFileSync(file, 'utf8').trim());
  if (cursor !== null) return cursor;
  throw new CrawlError('usage-invalid', `${file} holds no cursor of a change feed; remove it to begin anew`);
}

/** Replaces the file as a whole. */
export const saveCursor = (file: string, cursor: FeedCursor): void => replaceFile(file, `${cursorText(cursor)}\n`);
