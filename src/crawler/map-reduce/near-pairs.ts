import {
  type Fingerprint,
  fingerprintDistance,
  MAX_EXACT_DISTANCE,
  parseFingerprint,
  TABLES,
  tableKey,
} from '../../domain/page/fingerprint-tables.ts';
import type { MapReduceJob } from './jobs.ts';

const FINGERPRINT = /^[0-9a-f]{16}$/;

/**
 * Pairs of near-duplicate pages. In: `URL<TAB>fingerprint` (16 hex digits); other lines are passed over. Between: `table:part<TAB>fingerprint<TAB>URL`, four
 * of each. Out: `URL<TAB>URL<TAB>distance` for each pair within 3 bits, once, the lesser URL first.
 */
export const nearPairs: MapReduceJob = {
  description: 'pairs of pages whose fingerprints differ by at most 3 bits',
  async *map(lines) {
    for await (const line of lines) {
      const [url = '', hex = ''] = line.split('\t');
      if (url === '' || !FINGERPRINT.test(hex)) continue;
      const fingerprint = parseFingerprint(hex);
      for (let table = 0; table < TABLES; table++) {
        yield `${table}:${tableKey(fingerprint, table).toString(16).padStart(4, '0')}\t${hex}\t${url}`;
      }
    }
  },
  async *reduce(lines) {
    let key = '';
    let bucket: { readonly url: string; readonly fingerprint: Fingerprint }[] = [];
    for await (const line of lines) {
      const [own = '', hex = '', url = ''] = line.split('\t');
      if (!FINGERPRINT.test(hex)) continue;
      if (own !== key) {
        key = own;
        bucket = [];
      }
      const fingerprint = parseFingerprint(hex);
      const table = Number(own[0]);
      for (const other of bucket) {
        const distance = fingerprintDistance(fingerprint, other.fingerprint);
        if (distance > MAX_EXACT_DISTANCE || url === other.url) continue;
        if (meetsEarlier(fingerprint, other.fingerprint, table)) continue;
        const [a, b] = url < other.url ? [url, other.url] : [other.url, url];
        yield `${a}\t${b}\t${distance}`;
      }
      bucket.push({ url, fingerprint });
    }
  },
};

/** A pair that shares a part of an earlier table has been told there. */
function meetsEarlier(a: Fingerprint, b: Fingerprint, table: number): boolean {
  for (let earlier = 0; earlier < table; earlier++) if (tableKey(a, earlier) === tableKey(b, earlier)) return true;
  return false;
}
