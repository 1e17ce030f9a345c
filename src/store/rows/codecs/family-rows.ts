import { CrawlError } from '../../../core/domain/errors.ts';
import { hostFromPrefix, hostPrefix } from '../../../core/domain/url/canonical/url-key.ts';
import { type HostShares, joinedShares } from '../../../core/domain/url/families/family-shares.ts';
import type { DomainFamilies, StoredFamily } from '../../../core/domain/url/families/stored-families.ts';
import { SKETCH_DIGITS } from '../../../page/near/page-dimensions.ts';
import { pack, type Rows, readMany, readRange, unpack } from '../rows.ts';
import { hostOfKey, ROW, rowRange } from './keys.ts';
import type { StoredHost } from './row-codecs.ts';

type CountsTuple = readonly [
  name: string,
  entered: number,
  visits: number,
  worthwhile: number,
  lastAt: number,
  trialsLeft: number,
];
/** As many sketches as prints, with zeros for none; absent if no visit has a sketch. */
type PrintsTuple = readonly [family: string, prints: Uint8Array, sketches?: Uint8Array];
type SharesTuple = readonly [
  urls: number,
  unfetched: number,
  sample: readonly [url: string, ...families: string[]] | null,
  families: readonly CountsTuple[],
  prints: readonly PrintsTuple[],
  waiting: readonly (readonly [name: string | null, quota: number, ...pages: string[]])[],
  emptied: readonly string[],
  isCut: boolean,
];

/** Hexadecimal digits of a print. */
const PRINT_DIGITS = 16;
const NO_SKETCH = '0'.repeat(SKETCH_DIGITS);

/** Digits of the number of a part in its key. */
const PART_DIGITS = 8;
/** Separates host key and number: no host key continues with this character. */
const PART = '#';

export const sharesKey = ({ host, part }: Pick<HostShares, 'host' | 'part'>): string =>
  `${ROW.shares}${hostPrefix(host)}${PART}${String(part).padStart(PART_DIGITS, '0')}`;

/** The keys of all parts of a host, or of the parts from a given one on. */
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
    prints.map(printsTuple),
    waiting.map(({ family, pages }) => [family?.name ?? null, family?.quota ?? 0, ...pages]),
    emptied,
    isCut,
  ];
  return pack(tuple);
}

/** Throws `CrawlError('db-corrupt')`, naming the host. */
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
      prints: prints.map(([family, prints, sketches]) => ({ family, prints: printsOf(prints, sketches) })),
      waiting: waiting.map(([name, quota, ...pages]) => ({ family: name === null ? null : { name, quota }, pages })),
      emptied,
      isCut,
    };
  } catch (cause) {
    const why = (cause as Error).message;
    throw new CrawlError('db-corrupt', `the counts of like URLs of ${host} cannot be read: ${why}`, { cause });
  }
}

function printsTuple({ family, prints }: HostShares['prints'][number]): PrintsTuple {
  const bytes = Buffer.from(prints.map((each) => each.slice(0, PRINT_DIGITS)).join(''), 'hex');
  if (prints.every((each) => each.length === PRINT_DIGITS)) return [family, bytes];
  return [family, bytes, Buffer.from(prints.map((each) => each.slice(PRINT_DIGITS) || NO_SKETCH).join(''), 'hex')];
}

function printsOf(prints: Uint8Array, sketches: Uint8Array = new Uint8Array()): string[] {
  const texts = groupsOf(sketches, SKETCH_DIGITS);
  return groupsOf(prints, PRINT_DIGITS).map((print, i) => {
    const sketch = texts[i] ?? NO_SKETCH;
    return sketch === NO_SKETCH ? print : print + sketch;
  });
}

/** The bytes in hexadecimal, in groups of this number of digits. */
const groupsOf = (bytes: Uint8Array, digits: number): string[] =>
  Buffer.from(bytes)
    .toString('hex')
    .match(new RegExp(`.{${digits}}`, 'g')) ?? [];

/**
 * Keys of rows that a batch makes void: later parts of a host that is written as a whole, and all parts of a host
 * without records.
 */
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

/** In the order of the hosts; `undefined` if a host has none, or a part of it cannot be read. */
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

type FamilyTuple = readonly [
  leader: string,
  size: number,
  isNoise: boolean,
  similarityToNoise: number,
  template?: string,
  visits?: number,
];

export const familiesKey = (domain: string): string => ROW.families + hostPrefix(domain);

export function encodeFamilies({ appliedAt, families }: DomainFamilies): Buffer {
  return pack([
    appliedAt,
    families.map((family): FamilyTuple => {
      const { leader, size, isNoise, similarityToNoise, visited } = family;
      const plain = [leader, size, isNoise, similarityToNoise] as const;
      return visited === undefined ? plain : [...plain, visited.template, visited.visits];
    }),
  ]);
}

/** Throws `CrawlError('db-corrupt')`, naming the domain. */
export function decodeFamilies(key: string, bytes: Uint8Array): DomainFamilies {
  const domain = hostFromPrefix(key.slice(ROW.families.length));
  try {
    const [appliedAt, tuples] = unpack(bytes) as [number, FamilyTuple[]];
    const families = tuples.map(([leader, size, isNoise, similarityToNoise, template, visits = 0]): StoredFamily => {
      const plain = { leader, size, isNoise, similarityToNoise };
      return template === undefined ? plain : { ...plain, visited: { template, visits } };
    });
    return { domain, appliedAt, families };
  } catch (cause) {
    const why = (cause as Error).message;
    throw new CrawlError('db-corrupt', `the link families of ${domain} cannot be read: ${why}`, { cause });
  }
}

/** In the order of the domains; `undefined` for one without families. */
export async function readFamilies(rows: Rows, domains: readonly string[]): Promise<(DomainFamilies | undefined)[]> {
  const keys = domains.map(familiesKey);
  const found = await readMany(rows, keys);
  return found.map((bytes, i) => (bytes === undefined ? undefined : decodeFamilies(keys[i]!, bytes)));
}

export async function* scanFamilies(rows: Rows): AsyncGenerator<DomainFamilies, void, undefined> {
  for await (const batch of readRange(rows, rowRange(ROW.families))) {
    for (const [key, bytes] of batch) yield decodeFamilies(key, bytes);
  }
}
