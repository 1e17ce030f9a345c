import type { KeyRange } from '../../../core/domain/url/canonical/url-key.ts';
import {
  hostFromPrefix,
  hostPrefix,
  prefixRange,
  urlFromKey,
  urlKey,
} from '../../../core/domain/url/canonical/url-key.ts';

/**
 * One key space for all rows: a letter gives the kind of a row, and text keys sort by their UTF-8.
 *
 * | key | row |
 * |---|---|
 * | `b` + letter | filter of seen URLs (seen-rows.ts) |
 * | `c` | counters of the whole db |
 * | `d` + time + URL key | due index: one row per page to come back to that is not leased |
 * | `e` + falling score + time + URL key | due index of new URLs |
 * | `f` | ends of the change feed |
 * | `f` + number | change feed: one entry |
 * | `g` + host key | families of like URLs of a host (family-rows.ts) |
 * | `h` + host key | host: counters and facts |
 * | `i` + sender + number | inbox: links from other partitions (forwarding) |
 * | `j` + sender | last number of the inbox that was applied |
 * | `k` + URL key | stored outlinks |
 * | `l` + URL key | lease |
 * | `m` + name | small facts, the format version among them |
 * | `n` + letter | tables of signatures (signature-entries.ts) |
 * | `o` + partition + number | outbox: links for other partitions |
 * | `p` | last number of the outbox |
 * | `q` + URL key | link from another partition that waits for the share of its family |
 * | `r` + host key + group + time + rest of the URL key | due index of the pages of a host by group (index-rows.ts) |
 * | `s` + id | segment |
 * | `t` + cell | count of records (tallies.ts) |
 * | `u` + URL key | record |
 * | `v` + host key + falling rate + rest of the URL key | index of pages that change (index-rows.ts) |
 * | `w` + domain key | families of the URLs of a domain (family-rows.ts) |
 * | `x` + letter + URL key | index of rare states and of failing pages (index-rows.ts) |
 */
export const ROW = {
  seen: 'b',
  due: 'd',
  dueNew: 'e',
  change: 'f',
  shares: 'g',
  host: 'h',
  inbox: 'i',
  received: 'j',
  links: 'k',
  lease: 'l',
  meta: 'm',
  near: 'n',
  outbox: 'o',
  lastSent: 'p',
  waiting: 'q',
  dueOfGroup: 'r',
  segment: 's',
  spread: 't',
  record: 'u',
  changing: 'v',
  families: 'w',
  mark: 'x',
} as const;
export type RowKind = (typeof ROW)[keyof typeof ROW];

export const COUNTERS_KEY = 'c';

/** Name of the fact with the format version of the db. */
export const FORMAT_VERSION_FACT = 'formatVersion';

/** Hexadecimal digits of a time in a key: 48 bits of milliseconds last to the year 10,889. */
const TIME_DIGITS = 12;
const TIME_MAX = 2 ** 48 - 1;

/** Sortable text of a time. Fractions of a millisecond are rounded up, so that no entry is due before its time. */
export const timeKey = lastKept((at: number) =>
  Math.min(Math.max(Math.ceil(at), 0), TIME_MAX)
    .toString(16)
    .padStart(TIME_DIGITS, '0'),
);

/** Remembers the last result: most URLs of one batch share their time and their score. */
function lastKept(compute: (value: number) => string): (value: number) => string {
  let last = 0;
  let text = compute(last);
  return (value) => {
    if (value !== last) [last, text] = [value, compute(value)];
    return text;
  };
}

/** Place of a URL in the due index. */
export interface DuePlace {
  readonly dueAt: number;
  readonly isNew: boolean;
  /** Determines the order of new URLs. */
  readonly score: number;
}

export function dueKey({ dueAt, isNew, score }: DuePlace, key: string): string {
  return isNew ? `${ROW.dueNew}${fallingKey(score)}${timeKey(dueAt)}${key}` : `${ROW.due}${timeKey(dueAt)}${key}`;
}

const SCORE_DIGITS = 12;
const float = new DataView(new ArrayBuffer(8));

/** Sortable text of a score, the highest first: the bits of a positive float sort like the float. */
const fallingKey = lastKept((score: number) => {
  float.setFloat64(0, Math.max(0, score));
  const bits = float.getUint32(0) * 2 ** 16 + (float.getUint32(4) >>> 16);
  return (2 ** 48 - 1 - bits).toString(16).padStart(SCORE_DIGITS, '0');
});

export function parseDueKey(text: string): { url: string; dueAt: number } {
  const end = endOfDueTime(text);
  return { dueAt: Number.parseInt(text.slice(end - TIME_DIGITS, end), 16), url: urlFromKey(text.slice(end)) };
}

/** The URL key that a due key ends with. */
export function urlKeyOfDue(text: string): string {
  return text.slice(endOfDueTime(text));
}

function endOfDueTime(text: string): number {
  return 1 + (text.startsWith(ROW.dueNew) ? SCORE_DIGITS : 0) + TIME_DIGITS;
}

/** All due rows of known pages with a time of at most `until`. */
export function dueRange(until: number): KeyRange {
  const last = Math.floor(until);
  return { from: ROW.due, to: last >= TIME_MAX ? prefixRange(ROW.due).to : `${ROW.due}${timeKey(last + 1)}` };
}

/** All due rows of new URLs, or those with a lower score. */
export function dueNewRange(belowScore?: number): KeyRange {
  const { from, to } = prefixRange(ROW.dueNew);
  return belowScore === undefined ? { from, to } : { from: prefixRange(ROW.dueNew + fallingKey(belowScore)).to, to };
}

const GROUP_DIGITS = 2;
const groupKey = (group: number): string => group.toString(16).padStart(GROUP_DIGITS, '0');

/** Row of a page in the due index of its group. */
export function dueOfGroupKey(key: string, group: number, dueAt: number): string {
  const origin = hostPrefix(hostFromPrefix(key));
  return `${ROW.dueOfGroup}${origin}${groupKey(group)}${timeKey(dueAt)}${key.slice(origin.length)}`;
}

/** The rows of a group whose time is after `after`. */
export function dueOfGroupRange(host: string, group: number, after: number): KeyRange {
  const prefix = `${ROW.dueOfGroup}${hostPrefix(host)}${groupKey(group)}`;
  return { from: `${prefix}${timeKey(Math.floor(after) + 1)}`, to: prefixRange(prefix).to };
}

export function parseDueOfGroupKey(row: string): { readonly urlKey: string; readonly dueAt: number } {
  const rest = row.slice(ROW.dueOfGroup.length);
  const origin = hostPrefix(hostFromPrefix(rest));
  const time = origin.length + GROUP_DIGITS;
  const end = time + TIME_DIGITS;
  return { urlKey: origin + rest.slice(end), dueAt: Number.parseInt(rest.slice(time, end), 16) };
}

export function recordKey(url: string): string {
  return ROW.record + urlKey(url);
}

export function leaseKey(url: string): string {
  return ROW.lease + urlKey(url);
}

export function linksKey(url: string): string {
  return ROW.links + urlKey(url);
}

export function hostKey(host: string): string {
  return ROW.host + hostPrefix(host);
}

/** The host of a row whose key ends with a host key. */
export function hostOfKey(key: string): string {
  return hostFromPrefix(key.slice(ROW.host.length));
}

/** The URL of a record, lease or links row. */
export function urlOfRow(key: string): string {
  return urlFromKey(key.slice(1));
}

/** All rows of a kind, or those whose URL keys lie in a range. */
export function rowRange(kind: RowKind, range?: KeyRange): KeyRange {
  return range === undefined ? prefixRange(kind) : { from: kind + range.from, to: kind + range.to };
}
