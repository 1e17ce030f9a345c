import { isAlikeInLength } from '../../core/domain/crawl/states/duplicate.ts';
import {
  type Fingerprint,
  fingerprintDistance,
  MAX_EXACT_DISTANCE,
  parseFingerprint,
  TABLES,
  tableKey,
} from '../../page/near/fingerprint-tables.ts';
import type { MapReduceJob } from './job.ts';
import { signedLines } from './signed-line.ts';

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
  /** Equal for pages that are near the same pages. */
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

/** Whether a pair shares a part of an earlier table, so that it has been written there. */
function meetsEarlier({ fingerprint, table }: MappedPage, other: MappedPage): boolean {
  for (let earlier = 0; earlier < table; earlier++) {
    if (tableKey(fingerprint, earlier) === tableKey(other.fingerprint, earlier)) return true;
  }
  return false;
}
