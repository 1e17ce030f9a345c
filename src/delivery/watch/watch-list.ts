import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CrawlError } from '../../core/domain/errors.ts';
import { errnoOf, fileError, replaceFile } from '../../store/files/durable-file.ts';
import type { PageSeen, WatchEvent } from './page-verdict.ts';

/** A page that `incrawl watch` looks at. */
export interface WatchedPage {
  /** Canonical. */
  readonly url: string;
  /** CSS selectors of the watched parts; empty: the whole page. */
  readonly select: readonly string[];
  /** `null`: it was not visited yet. */
  readonly seen: PageSeen | null;
}

/**
 * All watched pages, and what is to be reported of them. What was seen and the events about it are replaced together:
 * a kill loses no event and makes none twice.
 */
export interface WatchList {
  readonly pages: readonly WatchedPage[];
  /** Number of the last event. */
  readonly lastSeq: number;
  /** Those that a receiver has not taken yet, at most {@link MOST_EVENTS}. */
  readonly events: readonly WatchEvent[];
  /** A random name of the list: prefix of the ids of messages. */
  readonly source: string;
  /** When old segments were last removed, ms since the epoch. */
  readonly prunedAt: number;
}

/** Number of the last event that each receiver has taken, by its key. */
export type Delivered = Readonly<Record<string, number>>;

const VERSION = 1;
const MOST_EVENTS = 500;

/** `null`: nothing is watched in this state directory. */
export const loadWatchList = (dir: string): WatchList | null => load<WatchList>(dir, 'pages.json', 'pages');

export const newWatchList = (now: number): WatchList => ({
  source: randomBytes(6).toString('hex'),
  lastSeq: 0,
  prunedAt: now,
  pages: [],
  events: [],
});

export const saveWatchList = (dir: string, list: WatchList): void => save(dir, 'pages.json', list);

export const loadDelivered = (dir: string): Delivered =>
  load<{ delivered: Delivered }>(dir, 'delivered.json', 'delivered')?.delivered ?? {};

export const saveDelivered = (dir: string, delivered: Delivered): void => save(dir, 'delivered.json', { delivered });

/** The events that a receiver has not taken yet, the newest {@link MOST_EVENTS} of them. */
export function keptEvents(events: readonly WatchEvent[], delivered: Delivered): readonly WatchEvent[] {
  const taken = Math.min(...Object.values(delivered));
  return events.filter(({ seq }) => !(seq <= taken)).slice(-MOST_EVENTS);
}

function load<Content>(dir: string, name: string, field: string): Content | null {
  const file = join(dir, 'watch', name);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return null;
    throw fileError(file, error);
  }
  const refuse = (what: string): never => {
    throw new CrawlError('usage-invalid', `${file}: ${what}; remove the folder to watch from the beginning`);
  };
  let content: ({ version?: unknown } & Record<string, unknown>) | null;
  try {
    content = JSON.parse(text);
  } catch {
    return refuse('a JSON object was expected');
  }
  if (typeof content?.version === 'number' && content.version > VERSION) {
    return refuse(`version ${content.version} is of a newer incrawl`);
  }
  return content?.[field] === undefined ? refuse(`${field} was expected`) : (content as Content);
}

function save(dir: string, name: string, content: object): void {
  mkdirSync(join(dir, 'watch'), { recursive: true });
  replaceFile(join(dir, 'watch', name), `${JSON.stringify({ version: VERSION, ...content })}\n`);
}
