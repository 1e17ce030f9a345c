import { isAlikeInLength, type SignedText } from '../../core/domain/crawl/states/duplicate.ts';
import { lastScopeMask } from '../../page/near/bucket-tables.ts';
import {
  type Fingerprint,
  FingerprintTables,
  fingerprintDistance,
  MAX_EXACT_DISTANCE,
  parseFingerprint,
  TABLES,
  tableKey,
} from '../../page/near/fingerprint-tables.ts';
import type { MapReduceJob } from './job.ts';

/**
 * Pairs of near-duplicate pages. In: the lines of a signature export; others are ignored. Between:
 * `table:part<TAB>fingerprint<TAB>scope<TAB>characters<TAB>URL`, four of each. Out: `URL<TAB>URL<TAB>distance` for each
 * pair of a scope within 3 bits and of about the same length, once, the lesser URL first. Of the pages with one
 * fingerprint and length, the one with the least URL is paired with each of the others, and stands for them in all
 * other pairs: a thousand equal pages make a thousand lines, not a million. A piece that is read twice adds nothing.
 */
export const nearPairs: MapReduceJob = {
  description: 'pairs of pages whose fingerprints differ by at most 3 bits',
  async *map(lines) {
    const read = signedLines();
    for await (const line of lines) {
      const page = read(line);
      if (page === null) continue;
      const { url, fingerprint, scope, chars } = page;
      const value = `${hex(fingerprint.high)}${hex(fingerprint.low)}\t${hex(scope)}\t${chars}\t${url}`;
      for (let table = 0; table < TABLES; table++) {
        yield `${table}:${tableKey(fingerprint, table).toString(16).padStart(4, '0')}\t${value}`;
      }
    }
  },
  async *reduce(lines) {
    /** The first of each fingerprint and length under the current key. */
    let bucket: MappedPage[] = [];
    let before = '';
    for await (const line of lines) {
      const page = line === before ? null : readMapped(line);
      before = line;
      if (page === null) continue;
      const last = bucket.at(-1);
      if (last?.key !== page.key) bucket = [page];
      else if (last.text === page.text) {
        if (page.table === 0 && last.url !== page.url) yield pairLine(last.url, page.url, 0);
      } else {
        yield* pairsOf(page, bucket);
        bucket.push(page);
      }
    }
  },
};

const hex = (word: number): string => word.toString(16).padStart(8, '0');

interface MappedPage {
  readonly key: string;
  readonly table: number;
  readonly fingerprint: Fingerprint;
  readonly scope: string;
  readonly chars: number;
  readonly url: string;
  /** Equal for pages that are near to the same pages. */
  readonly text: string;
}

const MAPPED = /^([0-3]):[0-9a-f]{4}$/;
const MASKED = /^[0-9a-f]{16}$/;

function readMapped(line: string): MappedPage | null {
  const [key = '', masked = '', scope = '', chars = '', url] = line.split('\t');
  const table = MAPPED.exec(key)?.[1];
  if (table === undefined || url === undefined || !MASKED.test(masked)) return null;
  const text = `${masked}\t${scope}\t${chars}`;
  return { key, table: Number(table), fingerprint: parseFingerprint(masked), scope, chars: Number(chars), url, text };
}

function* pairsOf(page: MappedPage, bucket: readonly MappedPage[]): Generator<string> {
  for (const other of bucket) {
    const distance = fingerprintDistance(page.fingerprint, other.fingerprint);
    if (distance > MAX_EXACT_DISTANCE || page.scope !== other.scope || page.url === other.url) continue;
    if (!isAlikeInLength(page.chars, other.chars) || meetsEarlier(page, other)) continue;
    yield pairLine(page.url, other.url, distance);
  }
}

const pairLine = (a: string, b: string, distance: number): string =>
  a < b ? `${a}\t${b}\t${distance}` : `${b}\t${a}\t${distance}`;

/** Whether a pair shares a part in an earlier table, where it has already been written. */
function meetsEarlier({ fingerprint, table }: MappedPage, other: MappedPage): boolean {
  for (let earlier = 0; earlier < table; earlier++) {
    if (tableKey(fingerprint, earlier) === tableKey(other.fingerprint, earlier)) return true;
  }
  return false;
}

const FINGERPRINT = /^[0-9a-f]{16}$/;
const NUMBER = /^\d{1,9}$/;

/** A page of a signature export. */
interface SignedLine {
  readonly url: string;
  /** Under the mask of the scope. */
  readonly fingerprint: Fingerprint;
  /** Id of the scope: pages of different scopes are not compared, nor are signatures of different names. */
  readonly scope: number;
  /** Length of the text, characters; 0: unknown, which is similar only to 0. */
  readonly chars: number;
}

/** `URL<TAB>signature<TAB>characters<TAB>scope<TAB>name of the signature`. */
export function signedLine(url: string, scope: string, { signature, textChars, signatureName }: SignedText): string {
  return `${url}\t${signature}\t${textChars}\t${scope}\t${signatureName}`;
}

/**
 * A reader of such lines; the last three fields may be missing. It returns `null` for any other line, such as that of a
 * page without a signature.
 */
function signedLines(): (line: string) => SignedLine | null {
  const maskOf = lastScopeMask();
  return (line) => {
    const [url = '', hex = '', chars = '0', scope = '', name = ''] = line.split('\t');
    if (url === '' || !FINGERPRINT.test(hex) || !NUMBER.test(chars)) return null;
    const { high, low } = parseFingerprint(hex);
    const mask = maskOf(`${scope}\n${name}`);
    const fingerprint = { high: (high ^ mask.high) >>> 0, low: (low ^ mask.low) >>> 0 };
    return { url, fingerprint, scope: mask.id >>> 0, chars: Number(chars) };
  };
}

/**
 * The published batch protocol (CN101645082A, C1 to C5): a query set Q, a new batch that fits in memory, against a
 * library F of any size. Every mapper reads Q whole into four tables and looks up its piece of F. In: the lines of a
 * signature export, Q among them, so that Q is compared with itself too. Between and out: `page of Q<TAB>near
 * page<TAB>distance`, each pair once. Of the pages of Q with one fingerprint and length, the one with the least URL
 * stands for all. The mapper judges distances, since four tables give 4|F||Q|/65536 candidates. A piece that is read
 * twice adds nothing.
 */
export const incomingPairs: MapReduceJob = {
  description: 'pages near those of a new batch',
  needsQuery: true,
  async *map(lines, query) {
    if (query === undefined) throw new TypeError('the mapper needs a query set');
    const library = await readQuery(query);
    const read = signedLines();
    for await (const line of lines) {
      const page = read(line);
      if (page !== null) yield* library.near(page);
    }
  },
  async *reduce(lines) {
    let last: string | null = null;
    for await (const line of lines) {
      if (line !== last && line.split('\t').length === FIELDS) yield line;
      last = line;
    }
  },
};

const FIELDS = 3;

interface QuerySet {
  /** Lines of the pages of Q that a page is near to. */
  near(page: SignedLine): Generator<string>;
}

async function readQuery(lines: AsyncIterable<string>): Promise<QuerySet> {
  const read = signedLines();
  /** The page with the least URL of each fingerprint, scope and length. */
  const leaders = new Map<string, SignedLine>();
  for await (const line of lines) {
    const page = read(line);
    if (page === null) continue;
    const leader = leaders.get(textOf(page));
    if (leader === undefined || page.url < leader.url) leaders.set(textOf(page), page);
  }
  const pages = [...leaders.values()];
  const tables = new FingerprintTables();
  for (const [id, { fingerprint }] of pages.entries()) tables.add(fingerprint, id);
  return {
    *near(page) {
      const isLeader = leaders.get(textOf(page))?.url === page.url;
      const isAlike = (id: number): boolean =>
        pages[id]!.scope === page.scope && isAlikeInLength(pages[id]!.chars, page.chars);
      for (const { id, distance } of tables.near(page.fingerprint, MAX_EXACT_DISTANCE, isAlike)) {
        const { url } = pages[id]!;
        // Two leaders meet twice, as each is looked up.
        if (isLeader ? url < page.url : url !== page.url) yield `${url}\t${page.url}\t${distance}`;
      }
    },
  };
}

const textOf = ({ fingerprint: { high, low }, scope, chars }: SignedLine): string => `${high} ${low} ${scope} ${chars}`;
