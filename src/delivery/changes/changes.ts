import { existsSync, readFileSync } from 'node:fs';
import {
  type ChangeRow,
  cursorText,
  type FeedCursor,
  type FeedPart,
  parseCursor,
} from '../../core/domain/crawl/change/change-feed.ts';
import type { ChangeKind, PageChange } from '../../core/domain/crawl/change/page-change.ts';
import { CrawlError } from '../../core/domain/errors.ts';
import { matcherOf } from '../../core/domain/query/expression.ts';
import type { QueryEnvironment } from '../../core/domain/query/fields.ts';
import { CHANGE_FIELDS } from '../../core/domain/query/hosts-and-changes.ts';
import { parseExpressionOver } from '../../core/domain/query/parse.ts';
import { isoTime } from '../../core/domain/time.ts';
import { hostOf } from '../../core/domain/url/canonical/url-key.ts';
import type { CrawlDb } from '../../core/ports/crawl-db.ts';
import { replaceFile } from '../../store/files/durable-file.ts';

/** The cursor that a reader of the feed keeps in a file; `null`: there is no such file yet. */
export function loadCursor(file: string): FeedCursor | null {
  if (!existsSync(file)) return null;
  const cursor = parseCursor(readFileSync(file, 'utf8').trim());
  if (cursor !== null) return cursor;
  throw new CrawlError('usage-invalid', `${file} holds no cursor of a change feed; remove it to begin anew`);
}

/** Replaces the file as a whole. */
export const saveCursor = (file: string, cursor: FeedCursor): void => replaceFile(file, `${cursorText(cursor)}\n`);

/** All conditions must hold. */
export interface ChangesQuery {
  /** Only entries after this number. */
  readonly after?: FeedCursor;
  /** Only entries up to this number. */
  readonly through?: FeedCursor;
  /** Only entries noted at this time or later, ms since the epoch. */
  readonly notedFrom?: number;
  readonly kinds?: readonly ChangeKind[];
  readonly host?: string;
  /**
   * Leaves out modifications with a smaller distance. Those without a distance, which are of pages without words, stay.
   */
  readonly minDistance?: number;
  /** An expression over the fields of an entry; see `CHANGE_FIELDS`. */
  readonly where?: string;
  readonly limit?: number;
  /** The last ones instead of the first. */
  readonly newest?: boolean;
}

/** Which entries a consumer of the feed wants. */
export type ChangesFilter = Pick<ChangesQuery, 'kinds' | 'host' | 'minDistance' | 'where'>;

/** An entry of the change feed; times in ISO 8601. */
export interface ChangeView extends Omit<PageChange, 'at'> {
  readonly seq: number;
  readonly at: string;
  readonly notedAt: string;
  /** In a spread crawl: the partition that gave the number. */
  readonly partition?: string;
}

export interface FeedView {
  /** The oldest number kept; `null` if nothing is kept. */
  readonly first: number | null;
  /** The newest number ever given; 0 before the first. */
  readonly last: number;
  readonly notedAt: string | null;
  /** The ends of each part of the crawl; if there are several, `first` and `last` count the entries of all. */
  readonly each: readonly (FeedPart & { readonly first: number; readonly last: number })[];
}

/** The cursor of a reader that has read everything. */
export const endOf = ({ each }: Pick<FeedView, 'each'>): readonly number[] => each.map(({ last }) => last);

export async function feedView(db: CrawlDb): Promise<FeedView> {
  const { first, last, notedAt, each = [{ first, last }] } = await db.feedEnds();
  return { first: first > last ? null : first, last, notedAt: last === 0 ? null : isoTime(notedAt), each };
}

/** Throws `usage-invalid` for an expression that cannot be read. */
export async function* changeViews(
  db: CrawlDb,
  query: ChangesQuery,
  env: QueryEnvironment,
): AsyncGenerator<ChangeView> {
  const { newest = false, limit = Number.POSITIVE_INFINITY, after, through, notedFrom } = query;
  const range = {
    ...(after === undefined ? {} : { after }),
    ...(through === undefined ? {} : { through }),
    ...(notedFrom === undefined ? {} : { notedFrom }),
    reverse: newest,
  };
  const isWanted = selectionOf(query, env);
  const last: ChangeView[] = [];
  let left = limit;
  for await (const row of db.changes(range)) {
    if (!isWanted(row)) continue;
    if (left-- <= 0) break;
    if (newest) last.push(changeView(row));
    else yield changeView(row);
  }
  yield* last.reverse();
}

function selectionOf(
  { kinds, host, minDistance = 0, where }: ChangesFilter,
  env: QueryEnvironment,
): (row: ChangeRow) => boolean {
  const matches = where === undefined ? null : matcherOf(parseExpressionOver(CHANGE_FIELDS, where, env.now), env);
  return (row) => {
    const { kind, url, distance } = row;
    if (kinds !== undefined && !kinds.includes(kind)) return false;
    if (kind === 'modified' && distance !== null && distance < minDistance) return false;
    return (host === undefined || hostOf(url) === host) && (matches === null || matches(row));
  };
}

function changeView({ seq, kind, url, at, notedAt, ...facts }: ChangeRow): ChangeView {
  return { seq, kind, url, at: isoTime(at), notedAt: isoTime(notedAt), ...facts };
}
