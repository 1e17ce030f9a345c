// store/rows/forwarding/: outbox and inbox of a partition.

import {
  type ForwardedLink,
  type InboxItem,
  type InboxRow,
  isPartition,
  type Order,
  type OutboxRow,
  parcelsOf,
  senderOf,
} from '../../../core/domain/crawl/discovery/forwarded-link.ts';
import { CrawlError } from '../../../core/domain/errors.ts';
import { hostRange, prefixRange, urlFromKey, urlKey } from '../../../core/domain/url/canonical/url-key.ts';
import type { RowWrite } from '../../../core/ports/ordered-rows.ts';
import type {
  Forwarding,
  ForwardingBatch,
  ForwardingMarks,
  ReceivedRow,
} from '../../../core/ports/partitions/forwarding.ts';
import { ROW, type RowKind, rowRange } from '../codecs/keys.ts';
import { pack, type RowSink, type Rows, readMany, readRange, unpack } from '../rows.ts';

/** How the rows of each kind are read; for `verify` and `repair`. */
export const FORWARDING_ROWS: readonly (readonly [RowKind, (key: string, bytes: Buffer) => unknown])[] = [
  [ROW.inbox, decodeInbox],
  [ROW.received, decodeNumber],
  [ROW.outbox, decodeOutbox],
  [ROW.lastSent, decodeNumber],
  [ROW.waiting, decodeWaiting],
];

/** The last number that the outbox has given; 0: none. */
export async function lastSent(rows: Rows): Promise<number> {
  const [bytes] = await readMany(rows, [ROW.lastSent]);
  return bytes === undefined ? 0 : decodeNumber(ROW.lastSent, bytes);
}

/** Greater than any number that an outbox reaches in practice, and far below the greatest that its keys can hold. */
const BEYOND_ALL = 2 ** 40;

/**
 * Sets the last number if it is lost while links are on their way: receivers would take a number given twice for one
 * that they have already applied.
 */
export async function renewLastSent(rows: Rows): Promise<void> {
  const [hasLast] = await rows.hasMany([ROW.lastSent]);
  if (hasLast === true) return;
  for (const kind of [ROW.outbox, ROW.received]) {
    const { from, to } = rowRange(kind);
    if ((await rows.keys({ gte: from, lt: to, limit: 1 }).all()).length === 0) continue;
    return rows.put(ROW.lastSent, encodeNumber(BEYOND_ALL));
  }
}

/** Stages the rows of a batch; returns the last number of the outbox after it. */
export function stageForwarding(sink: RowSink, last: number, batch: ForwardingBatch): number {
  let number = last;
  for (const parcel of parcelsOf(batch.forward ?? [])) {
    number++;
    sink.put(outboxKey(parcel.to, number), encodeOutbox(parcel));
  }
  for (const each of batch.handedOver ?? []) sink.del(outboxKey(each.to, each.number));
  const through = new Map<string, number>();
  for (const row of batch.received ?? []) {
    sink.del(inboxKey(row.from, row.number));
    through.set(row.from, Math.max(through.get(row.from) ?? 0, row.number));
  }
  for (const [from, mark] of through) if (isPartition(from)) sink.put(receivedKey(from), encodeNumber(mark));
  for (const link of batch.wait ?? []) sink.put(waitingKey(link.url), encodeWaiting(link));
  for (const url of batch.waited ?? []) sink.del(waitingKey(url));
  const { outbox = [], inbox = [], marks } = batch.restore ?? {};
  for (const row of outbox) sink.put(outboxKey(row.to, row.number), encodeOutbox(row));
  for (const { from, number: at, item } of inbox) sink.put(inboxKey(from, at), encodeItem(item));
  for (const mark of marks?.received ?? []) sink.put(receivedKey(mark.from), encodeNumber(mark.through));
  number = Math.max(number, marks?.lastSent ?? 0);
  if (number > last) sink.put(ROW.lastSent, encodeNumber(number));
  return number;
}

/** The rows that `InboxOfOther.append` writes. */
export function inboxWrites(
  from: string,
  rows: readonly { readonly number: number; readonly item: InboxItem }[],
): RowWrite[] {
  return rows.map(({ number, item }) => ({ type: 'put', key: inboxKey(from, number), value: encodeItem(item) }));
}

/** Outbox and inbox of a crawl db on these rows. */
export function forwardingOn(rows: Rows): Forwarding {
  return {
    outbox: (query = {}) => readOutbox(rows, query),
    inbox: (limit) => readInbox(rows, limit),
    waiting: (urls) => readWaiting(rows, urls),
    scanWaiting: (host) => scanWaiting(rows, host),
    marks: () => readMarks(rows),
  };
}

async function* readOutbox(
  rows: Rows,
  { to, limit }: { readonly to?: number; readonly limit?: number },
): AsyncGenerator<OutboxRow, void, undefined> {
  const range = to === undefined ? rowRange(ROW.outbox) : prefixRange(outboxPrefix(to));
  for await (const batch of readRange(rows, range, limit)) {
    for (const [key, bytes] of batch) yield decodeOutbox(key, bytes);
  }
}

async function* readInbox(rows: Rows, limit?: number): AsyncGenerator<ReceivedRow, void, undefined> {
  const marks = new Map<string, number>();
  for await (const batch of readRange(rows, rowRange(ROW.inbox), limit)) {
    const found = batch.map(([key, bytes]) => decodeInbox(key, bytes));
    const senders = [...new Set(found.map(({ from }) => from))].filter((from) => !marks.has(from));
    for (const [i, bytes] of (await readMany(rows, senders.map(receivedKey))).entries()) {
      const sender = senders[i] as string;
      marks.set(sender, bytes === undefined ? Number.NEGATIVE_INFINITY : decodeNumber(receivedKey(sender), bytes));
    }
    for (const row of found) yield { ...row, isKnown: row.number <= (marks.get(row.from) as number) };
  }
}

async function readWaiting(rows: Rows, urls: readonly string[]): Promise<(ForwardedLink | undefined)[]> {
  const keys = urls.map(waitingKey);
  const found = await readMany(rows, keys);
  return found.map((bytes, i) => (bytes === undefined ? undefined : decodeWaiting(keys[i] as string, bytes)));
}

async function* scanWaiting(rows: Rows, host?: string): AsyncGenerator<ForwardedLink, void, undefined> {
  const range = rowRange(ROW.waiting, host === undefined ? undefined : hostRange(host));
  for await (const batch of readRange(rows, range)) {
    for (const [key, bytes] of batch) yield decodeWaiting(key, bytes);
  }
}

async function readMarks(rows: Rows): Promise<ForwardingMarks> {
  const received: { from: string; through: number }[] = [];
  for await (const batch of readRange(rows, rowRange(ROW.received))) {
    for (const [key, bytes] of batch) received.push({ from: key.slice(1), through: decodeNumber(key, bytes) });
  }
  return { lastSent: await lastSent(rows), received };
}

/** Hexadecimal digits of a number in a key: 48 bits. */
const NUMBER_DIGITS = 12;
const PARTITION_DIGITS = 3;
/** Separates the name of a sender from the number; sorts before all characters of names. */
const END_OF_NAME = ' ';

const numberKey = (number: number): string => number.toString(16).padStart(NUMBER_DIGITS, '0');
const numberOf = (digits: string): number => Number.parseInt(digits, 16);

const outboxPrefix = (to: number): string => ROW.outbox + senderOf(to);
const outboxKey = (to: number, number: number): string => outboxPrefix(to) + numberKey(number);
const inboxKey = (from: string, number: number): string => ROW.inbox + from + END_OF_NAME + numberKey(number);
const receivedKey = (from: string): string => ROW.received + from;
const waitingKey = (url: string): string => ROW.waiting + urlKey(url);

type LinkTuple = readonly [
  from: string,
  depth: number,
  at: number,
  score: number,
  plainScore: number,
  noise: string | null,
  redirects: number,
  layers: number | null,
];

const tupleOf = ({ from, depth, at, score, plainScore, noise, redirects, layers }: ForwardedLink): LinkTuple => {
  return [from, depth, at, score, plainScore, noise, redirects, layers];
};

const linkOf = (url: string, tuple: LinkTuple): ForwardedLink => {
  const [from, depth, at, score, plainScore, noise, redirects, layers] = tuple;
  return { url, from, depth, at, score, plainScore, noise, redirects, layers };
};

type UrlTuple = readonly [url: string, ...LinkTuple];

const urlTupleOf = (link: ForwardedLink): UrlTuple => [link.url, ...tupleOf(link)];
const linksOf = (tuples: readonly unknown[]): ForwardedLink[] =>
  (tuples as readonly UrlTuple[]).map(([url, ...tuple]) => linkOf(String(url), tuple));

const LINKS = 1;
const SEEDS = 2;
const SEED_HOSTS = 3;
const ORDER = 4;

function encodeItem(item: InboxItem): Buffer {
  if ('links' in item) return pack([LINKS, ...item.links.map(urlTupleOf)]);
  if ('order' in item) return pack([ORDER, JSON.stringify(item.order)]);
  return 'seeds' in item ? pack([SEEDS, ...item.seeds]) : pack([SEED_HOSTS, ...item.seedHosts]);
}

function itemOf([kind, ...rest]: readonly unknown[]): InboxItem {
  if (kind === LINKS) return { links: linksOf(rest) };
  if (kind === SEEDS) return { seeds: rest.map(String) };
  if (kind === ORDER) return { order: JSON.parse(String(rest[0])) as Order };
  if (kind === SEED_HOSTS) return { seedHosts: rest.map(String) };
  throw new TypeError(`the item is of the unknown kind ${kind}`);
}

/** Throws `CrawlError('db-corrupt')`, like the decoders below. */
function decodeInbox(key: string, bytes: Uint8Array): InboxRow {
  return decoded('inbox', key, () => {
    const end = key.indexOf(END_OF_NAME);
    return { from: key.slice(1, end), number: numberOf(key.slice(end + 1)), item: itemOf(unpack(bytes)) };
  });
}

export const encodeOutbox = ({ links }: Pick<OutboxRow, 'links'>): Buffer => pack(links.map(urlTupleOf));

function decodeOutbox(key: string, bytes: Uint8Array): OutboxRow {
  return decoded('outbox', key, () => {
    return {
      to: Number(key.slice(1, 1 + PARTITION_DIGITS)),
      number: numberOf(key.slice(1 + PARTITION_DIGITS)),
      links: linksOf(unpack(bytes)),
    };
  });
}

const encodeWaiting = (link: ForwardedLink): Buffer => pack(tupleOf(link));

function decodeWaiting(key: string, bytes: Uint8Array): ForwardedLink {
  return decoded('links that wait', key, () => linkOf(urlFromKey(key.slice(1)), unpack(bytes) as unknown as LinkTuple));
}

/** A number as the value of a row. */
const encodeNumber = (number: number): Buffer => Buffer.from(String(number));

function decodeNumber(key: string, bytes: Uint8Array): number {
  return decoded('numbers of links', key, () => {
    const number = Number(Buffer.from(bytes).toString());
    if (!Number.isSafeInteger(number) || number < 0) throw new TypeError('a whole number was expected');
    return number;
  });
}

function decoded<Row>(what: string, key: string, read: () => Row): Row {
  try {
    return read();
  } catch (cause) {
    const why = (cause as Error).message;
    throw new CrawlError('db-corrupt', `the row ${key} of the ${what} cannot be read: ${why}`, { cause });
  }
}
