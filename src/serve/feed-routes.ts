import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import type { Context, Hono } from 'hono';
import { packageVersion } from '../core/config/package-version.ts';
import { CrawlError } from '../core/domain/errors.ts';
import { Lru } from '../core/domain/lru.ts';
import type { ChangeView } from '../crawler/index.ts';
import type { ChangesFilter, FeedView } from '../crawler/views.ts';
import { changeKinds, hostName, wholeNumber } from '../query/input/option-values.ts';
import { isForeseen } from '../render/exit.ts';
import { atomFeed, updatedOf } from '../render/text/atom-feed.ts';
import { isLocked, type StateAccess } from './state-access.ts';

interface FeedRoutes {
  readonly dir: string;
  readonly state: Pick<StateAccess, 'ask'>;
  /** Ms since the epoch. */
  readonly now: () => number;
}

interface Answer {
  /** The ends of the change feed at the time it was made. */
  readonly ends: string;
  readonly text: string;
  readonly etag: string;
  /** Ms since the epoch. */
  readonly updatedAt: number;
}

/** Entries in an answer without `limit`, and the maximum. */
const ENTRIES = 50;
const MAX_ENTRIES = 1_000;
/** Limits of the feeds cached for later readers, by selection: their number and total characters. */
const KEPT = { entries: 64, weight: 16 * 1024 * 1024 };
/** A time is a validator only when nothing else can have happened within its second (RFC 9110, 8.8.2.2). */
const SETTLED_MS = 60_000;

/** The change feed for feed readers: `/changes.atom`, with conditional requests. */
export function addFeedRoutes(app: Hono, { dir, state, now }: FeedRoutes): void {
  const known = new Lru<Answer>(KEPT);

  const answerTo = async (query: string, filter: ChangesFilter, limit: number): Promise<Answer> =>
    state.ask(async (reader) => {
      const ends = endsOf(await reader.changeFeed());
      const kept = known.get(query);
      if (kept?.ends === ends) return kept;
      const entries: ChangeView[] = [];
      for await (const change of reader.changes({ ...filter, newest: true, limit })) entries.push(change);
      entries.reverse();
      const links = {
        self: `/changes.atom${query}`,
        explain: (url: string): string => `/url?u=${encodeURIComponent(url)}`,
      };
      const text = atomFeed({ dir: resolve(dir), filter, entries, links, version: packageVersion() });
      const etag = `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;
      const answer = { ends, text, etag, updatedAt: Date.parse(updatedOf(entries)) };
      known.set(query, answer, text.length);
      return answer;
    });

  app.get('/changes.atom', async (c) => {
    try {
      const { filter, limit } = selectionOf(c);
      const { text, etag, updatedAt } = await answerTo(new URL(c.req.url).search, filter, limit);
      const headers = {
        ETag: etag,
        // A reader keeps its copy and revalidates it; caches in between store nothing.
        'Cache-Control': 'private, no-cache',
        ...(now() - updatedAt < SETTLED_MS ? {} : { 'Last-Modified': new Date(updatedAt).toUTCString() }),
      };
      if (isKnown(c, etag, updatedAt)) return c.body(null, 304, headers);
      return c.body(text, 200, { ...headers, 'Content-Type': 'application/atom+xml; charset=utf-8' });
    } catch (error) {
      if (isLocked(error) || (isForeseen(error) && error.code === 'crawl-missing')) {
        const reason = isLocked(error) ? 'Another process holds the crawl db' : 'There is no crawl db yet';
        return c.text(`${reason}: try again later.\n`, 503, { 'Retry-After': '60' });
      }
      if (!isForeseen(error)) throw error;
      return c.text(`${error.message}\n`, error.code === 'db-corrupt' ? 500 : 400);
    }
  });
}

const endsOf = ({ first, last, notedAt }: FeedView): string => `${first} ${last} ${notedAt}`;

/** Whether the reader already has this answer; `If-None-Match` takes precedence (RFC 9110, 13.2.2). */
function isKnown(c: Context, etag: string, updatedAt: number): boolean {
  const tags = c.req.header('if-none-match');
  if (tags !== undefined) {
    return tags.split(',').some((each) => ['*', etag].includes(each.trim().replace(/^W\//, '')));
  }
  const since = Date.parse(c.req.header('if-modified-since') ?? '');
  return Number.isFinite(since) && updatedAt < since + 1_000;
}

function selectionOf(c: Context): { filter: ChangesFilter; limit: number } {
  const known = ['kind', 'host', 'minDistance', 'where', 'limit'];
  const other = Object.keys(c.req.query()).find((name) => !known.includes(name));
  if (other !== undefined) {
    throw new CrawlError('usage-invalid', `unknown parameter "${other}"; known are ${known.join(', ')}`);
  }
  const given = <Value>(name: string, read: (text: string) => Value): Value | undefined => {
    const text = c.req.query(name)?.trim() ?? '';
    if (text === '') return undefined;
    try {
      return read(text);
    } catch (error) {
      throw new CrawlError('usage-invalid', `${name}: ${(error as Error).message}`, { cause: error });
    }
  };
  const [kinds, host] = [given('kind', changeKinds), given('host', hostName)];
  const [minDistance, where] = [given('minDistance', wholeNumber(0)), given('where', String)];
  const filter = {
    ...(kinds === undefined ? {} : { kinds }),
    ...(host === undefined ? {} : { host }),
    ...(minDistance === undefined ? {} : { minDistance }),
    ...(where === undefined ? {} : { where }),
  };
  return { filter, limit: given('limit', wholeNumber(1, MAX_ENTRIES)) ?? ENTRIES };
}
