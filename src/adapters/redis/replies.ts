import { CrawlError } from '../../domain/errors.ts';

/** A page of rows as of a snapshot, and what of its range has changed since. */
export interface PageReply {
  readonly isLost: boolean;
  readonly isKept: boolean;
  readonly keys: readonly Buffer[];
  readonly values: readonly (Buffer | null)[];
  /** Keys that have changed since the snapshot, and their old state. */
  readonly own: readonly Buffer[];
  readonly was: readonly Buffer[];
}

/** Throws unless there is a value, or none, for each of so many keys. */
export function valuesIn(reply: unknown, count: number): (Buffer | undefined)[] {
  if (!Array.isArray(reply) || reply.length !== count) throw unexpected(reply, `a value for each of ${count} keys`);
  return reply.map((value: unknown) => {
    if (value === null) return undefined;
    if (!Buffer.isBuffer(value)) throw unexpected(value, 'the value of a row');
    return value;
  });
}

/** Throws unless it is a string of one `0` or `1` per key. */
export function flagsIn(reply: unknown, count: number): boolean[] {
  const flags = Buffer.isBuffer(reply) ? reply.toString('latin1') : '';
  if (flags.length !== count || /[^01]/.test(flags)) throw unexpected(reply, `0 or 1 for each of ${count} keys`);
  return Array.from(flags, (flag) => flag === '1');
}

/** `1`: done, `0`: refused. */
export function isDone(reply: unknown): boolean {
  if (reply !== 0 && reply !== 1) throw unexpected(reply, '0 or 1');
  return reply === 1;
}

/** The token of a lease that was taken, or the holder of it. */
export function leaseIn(reply: unknown): { readonly token: string } | { readonly holder: string } {
  const [token, holder] = (Array.isArray(reply) ? reply : []) as unknown[];
  if (Buffer.isBuffer(token) && token.length > 0) return { token: token.toString() };
  if (token === null && Buffer.isBuffer(holder)) return { holder: holder.toString() };
  throw unexpected(reply, 'a token, or the holder of a lease');
}

/** Seconds and microseconds, as ms since the epoch. */
export function timeIn(reply: unknown): number {
  const [seconds, microseconds] = Array.isArray(reply) ? reply.map(Number) : [];
  const time = Math.floor(1_000 * Number(seconds) + Number(microseconds) / 1_000);
  if (!Number.isFinite(time)) throw unexpected(reply, 'a time');
  return time;
}

/** What a page was asked for; keys in the syntax of ZRANGEBYLEX. */
export interface AskedPage {
  readonly first: string;
  readonly last: string;
  /** Largest number of keys of either kind. */
  readonly count: number;
  readonly withValues: boolean;
}

/** Throws also when a key lies outside of what was asked for: who reads page after page would never come to an end. */
export function pageIn(reply: unknown, { first, last, count, withValues }: AskedPage): PageReply {
  const [state, keys, values, own, was] = (Array.isArray(reply) ? reply : []) as unknown[];
  const isPage =
    (state === -1 || state === 0 || state === 1) &&
    [keys, own, was].every(isBuffers) &&
    Array.isArray(values) &&
    values.every((value) => value === null || Buffer.isBuffer(value)) &&
    sizeOf(keys) <= count &&
    sizeOf(own) <= count &&
    sizeOf(values) === (withValues ? sizeOf(keys) : 0) &&
    sizeOf(was) === sizeOf(own);
  if (!isPage) throw unexpected(reply, `a page of up to ${count} rows`);
  const page = { isLost: state === -1, isKept: state === 1, keys, values, own, was } as PageReply;
  const isAfter = beyond(first, 1);
  const isBefore = beyond(last, -1);
  for (const key of [...page.keys, ...page.own]) {
    if (!isAfter(key) || !isBefore(key)) throw unexpected(key, `a key from ${first} to ${last}`);
  }
  return page;
}

/** Whether a key lies on the right side of a bound: after it (1) or before it (-1). */
function beyond(bound: string, side: 1 | -1): (key: Buffer) => boolean {
  if (bound === '-' || bound === '+') return () => true;
  const place = Buffer.from(bound.slice(1));
  const least = bound.startsWith('(') ? 1 : 0;
  return (key) => side * Buffer.compare(key, place) >= least;
}

const isBuffers = (list: unknown): boolean => Array.isArray(list) && list.every((each) => Buffer.isBuffer(each));
const sizeOf = (list: unknown): number => (list as readonly Buffer[]).length;

const SHOWN = 80;

/** What answers is no Redis, or something on the way changes its answers. */
function unexpected(reply: unknown, expected: string): CrawlError {
  const shown = (Buffer.isBuffer(reply) ? reply.toString() : (JSON.stringify(reply) ?? 'nothing')).slice(0, SHOWN);
  return new CrawlError(
    'redis-unreachable',
    `what answers is no Redis, or a proxy changes its answers: expected ${expected}, got ${shown}`,
  );
}
