import {
  type Fingerprint,
  fingerprintDistance,
  MAX_EXACT_DISTANCE,
  parseFingerprint,
  TABLES,
  tableKey,
} from '../../domain/page/near/fingerprint-tables.ts';
import type { MapReduceJob } from './job.ts';

const FINGERPRINT = /^[0-9a-f]{16}$/;

/**
 * Pairs of near-duplicate pages. In: `URL<TAB>fingerprint` (16 hex digits); other lines are ignored. Between:
 * `table:part<TAB>fingerprint<TAB>URL`, four of each. Out: `URL<TAB>URL<TAB>distance` for each pair within 3 bits,
 * once, the lesser URL first. Each page with the fingerprint of an earlier one is paired with the first of them only,
 * and that one stands for them in all other pairs: a thousand equal pages make a thousand lines, not a million. With
 * whole lines sorted, as by `LC_ALL=C sort`, the first is the least URL everywhere.
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
    let bucket = new Map<string, { readonly url: string; readonly fingerprint: Fingerprint }>();
    for await (const line of lines) {
      const [own = '', hex = '', url = ''] = line.split('\t');
      if (!FINGERPRINT.test(hex)) continue;
      if (own !== key) {
        key = own;
        bucket = new Map();
      }
      const table = Number(own[0]);
      const same = bucket.get(hex);
      if (same !== undefined) {
        if (table === 0 && same.url !== url) yield pairLine(same.url, url, 0);
        continue;
      }
      const fingerprint = parseFingerprint(hex);
      for (const other of bucket.values()) {
        const distance = fingerprintDistance(fingerprint, other.fingerprint);
        if (distance > MAX_EXACT_DISTANCE || meetsEarlier(fingerprint, other.fingerprint, table)) continue;
        yield pairLine(url, other.url, distance);
      }
      bucket.set(hex, { url, fingerprint });
    }
  },
};

const pairLine = (a: string, b: string, distance: number): string =>
  a < b ? `${a}\t${b}\t${distance}` : `${b}\t${a}\t${distance}`;

/** Whether a pair shares a part of an earlier table, so that it has been written there. */
function meetsEarlier(a: Fingerprint, b: Fingerprint, table: number): boolean {
  for (let earlier = 0; earlier < table; earlier++) if (tableKey(a, earlier) === tableKey(b, earlier)) return true;
  return false;
}
