import { CrawlError } from '../../../domain/errors.ts';
import { hostPrefix } from '../../../domain/url/canonical/url-key.ts';
import { type HostShares, joinedShares } from '../../../domain/url/families/host-shares.ts';
import type { Rows } from '../rows.ts';
import { hostOfKey, ROW } from './keys.ts';
import { pack, unpack } from './pack.ts';
import type { StoredHost } from './row-codecs.ts';

type CountsTuple = readonly [
  name: string,
  entered: number,
  visits: number,
  worthwhile: number,
  lastAt: number,
  trialsLeft: number,
];
type SharesTuple = readonly [
  urls: number,
  unfetched: number,
  sample: readonly [url: string, ...families: string[]] | null,
  families: readonly CountsTuple[],
  prints: readonly (readonly [family: string, prints: Uint8Array])[],
  waiting: readonly (readonly [name: string | null, quota: number, ...pages: string[]])[],
  emptied: readonly string[],
  isCut: boolean,
];

/** Hexadecimal digits of a print. */
const PRINT_DIGITS = 16;

/** Digits of the number of a part in its key. */
const PART_DIGITS = 8;
/** Between host key and number: no host key goes on with it. */
const PART = '#';

export const sharesKey = ({ host, part }: Pick<HostShares, 'host' | 'part'>): string =>
  `${ROW.shares}${hostPrefix(host)}${PART}${String(part).padStart(PART_DIGITS, '0')}`;

/** The keys of all parts of a host, or of those from a part on. */
export function sharesRange(host: string, from = 0): { readonly gte: string; readonly lt: string } {
  return { gte: sharesKey({ host, part: from }), lt: `${ROW.shares}${hostPrefix(host)}$` };
}

export function encodeShares(shares: HostShares): Buffer {
  const { urls, unfetched, sample, families, prints, waiting, emptied, isCut } = shares;
  const tuple: SharesTuple = [
    urls,
    unfetched,
    sample === null ? null : [sample.url, ...sample.families],
    families.map(({ name, entered, visits, worthwhile, lastAt, trialsLeft }): CountsTuple => {
      return [name, entered, visits, worthwhile, lastAt, trialsLeft];
    }),
    prints.map((each) => [each.family, Buffer.from(each.prints.join(''), 'hex')]),
    waiting.map(({ family, pages }) => [family?.name ?? null, family?.quota ?? 0, ...pages]),
    emptied,
    isCut,
  ];
  return pack(tuple);
}

/** Throws `CrawlError('db-corrupt')` that names the host. */
export function decodeShares(key: string, bytes: Uint8Array): HostShares {
  const host = hostOfKey(key);
  const part = Number(key.slice(-PART_DIGITS));
  try {
    const [urls, unfetched, sample, families, prints, waiting, emptied, isCut] = unpack(
      bytes,
    ) as unknown as SharesTuple;
    return {
      host,
      part,
      urls,
      unfetched,
      sample: sample === null ? null : { url: sample[0], families: sample.slice(1) },
      families: families.map(([name, entered, visits, worthwhile, lastAt, trialsLeft]) => {
        return { name, entered, visits, worthwhile, lastAt, trialsLeft };
      }),
      prints: prints.map(([family, words]) => ({ family, prints: printsOf(Buffer.from(words).toString('hex')) })),
      waiting: waiting.map(([name, quota, ...pages]) => ({ family: name === null ? null : { name, quota }, pages })),
      emptied,
      isCut,
    };
  } catch (cause) {
    const why = (cause as Error).message;
    throw new CrawlError('db-corrupt', `the counts of like URLs of ${host} cannot be read: ${why}`, { cause });
  }
}

const printsOf = (digits: string): string[] => digits.match(new RegExp(`.{${PRINT_DIGITS}}`, 'g')) ?? [];

/** Keys of what a batch makes void: changes that a whole one has in it, and all parts of a host without records. */
export async function voidShares(
  rows: Rows,
  written: readonly HostShares[],
  hosts: ReadonlyMap<string, StoredHost | null>,
): Promise<string[]> {
  const keys: string[] = [];
  for (const { host, part } of written) {
    if (part === 0) keys.push(...(await rows.keys(sharesRange(host, 1)).all()));
  }
  for (const [host, row] of hosts) {
    const isEmpty = row === null || row.tally.every((count) => count === 0);
    if (isEmpty) keys.push(...(await rows.keys(sharesRange(host)).all()));
  }
  return keys;
}

/** In the order of the hosts; `undefined` where there is none, or a part cannot be read. */
export function readShares(rows: Rows, hosts: readonly string[]): Promise<(HostShares | undefined)[]> {
  return Promise.all(
    hosts.map(async (host) => {
      const found = await rows.iterator(sharesRange(host)).all();
      try {
        const [whole, ...changes] = found.map(([key, bytes]) => decodeShares(key, bytes));
        const isComplete = whole?.part === 0 && changes.every(({ part }, i) => part === i + 1);
        return isComplete ? joinedShares([whole, ...changes]) : undefined;
      } catch {
        return undefined;
      }
    }),
  );
}
