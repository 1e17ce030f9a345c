// store/rows/forwarding/: outbox and inbox of a partition.

import {
  type ForwardedLink,
  type InboxItem,
  type InboxRow,
  type Order,
  type OutboxRow,
  senderOf,
} from '../../../core/domain/crawl/discovery/forwarded-link.ts';
import { CrawlError } from '../../../core/domain/errors.ts';
import { urlFromKey, urlKey } from '../../../core/domain/url/canonical/url-key.ts';
import { ROW } from '../codecs/keys.ts';
import { pack, unpack } from '../codecs/pack.ts';

/** Hexadecimal digits of a number in a key: 48 bits. */
const NUMBER_DIGITS = 12;
const PARTITION_DIGITS = 3;
/** Between the name of a sender and the number; sorts before all characters of names. */
const END_OF_NAME = ' ';

const numberKey = (number: number): string => number.toString(16).padStart(NUMBER_DIGITS, '0');
const numberOf = (digits: string): number => Number.parseInt(digits, 16);

export const outboxPrefix = (to: number): string => ROW.outbox + senderOf(to);
export const outboxKey = (to: number, number: number): string => outboxPrefix(to) + numberKey(number);
export const inboxKey = (from: string, number: number): string => ROW.inbox + from + END_OF_NAME + numberKey(number);
export const receivedKey = (from: string): string => ROW.received + from;
export const waitingKey = (url: string): string => ROW.waiting + urlKey(url);

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

export function encodeItem(item: InboxItem): Buffer {
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

/** Throws `CrawlError('db-corrupt')` for this and the following rows. */
export function decodeInbox(key: string, bytes: Uint8Array): InboxRow {
  return decoded('inbox', key, () => {
    const end = key.indexOf(END_OF_NAME);
    return { from: key.slice(1, end), number: numberOf(key.slice(end + 1)), item: itemOf(unpack(bytes)) };
  });
}

export const encodeOutbox = ({ links }: Pick<OutboxRow, 'links'>): Buffer => pack(links.map(urlTupleOf));

export function decodeOutbox(key: string, bytes: Uint8Array): OutboxRow {
  return decoded('outbox', key, () => {
    return {
      to: Number(key.slice(1, 1 + PARTITION_DIGITS)),
      number: numberOf(key.slice(1 + PARTITION_DIGITS)),
      links: linksOf(unpack(bytes)),
    };
  });
}

export const encodeWaiting = (link: ForwardedLink): Buffer => pack(tupleOf(link));

export function decodeWaiting(key: string, bytes: Uint8Array): ForwardedLink {
  return decoded('links that wait', key, () => linkOf(urlFromKey(key.slice(1)), unpack(bytes) as unknown as LinkTuple));
}

/** A number as the value of a row. */
export const encodeNumber = (number: number): Buffer => Buffer.from(String(number));

export function decodeNumber(key: string, bytes: Uint8Array): number {
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
