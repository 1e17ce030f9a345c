import { type KeyRange, prefixRange, urlKey } from '../../../core/domain/url/canonical/url-key.ts';
import { DIGEST_WORDS, digestUrl } from '../../../core/domain/url/hash/url-digest.ts';
import type { Fingerprint } from '../../../page/near/fingerprint-tables.ts';
import { murmur3 } from '../../../page/near/murmur3.ts';
import { ROW } from '../codecs/keys.ts';

/**
 * Rows of the tables of signatures, below one letter:
 *
 * | key | row |
 * |---|---|
 * | `nd` + digest of the representative + URL key | a duplicate of it; empty |
 * | `nf` | layout and plan of the tables, written when they are whole |
 * | `nl` + number | log: the signatures and URLs of one batch (signature-log.ts) |
 * | `nm` | runs, and merges under way (signature-runs.ts) |
 * | `nr` + run + table + block | block of a run: signatures by 16 of their bits, or URLs by their digests |
 */
export const NEAR_FACT_KEY = `${ROW.near}f`;
export const RUNS_KEY = `${ROW.near}m`;
const LOG = `${ROW.near}l`;
const RUN = `${ROW.near}r`;
const DUPLICATE = `${ROW.near}d`;

/** Layout of these rows. Those of another layout are rebuilt from the records. */
export const NEAR_LAYOUT = 1;

/** First half of the digest of a URL. */
export function digestOf(url: string): Fingerprint {
  const words = new Uint32Array(DIGEST_WORDS);
  digestUrl(url, words, 0);
  return { high: words[0]!, low: words[1]! };
}

const hex = (word: number, digits: number): string => word.toString(16).padStart(digits, '0');

/** Pages of different scopes, or with signatures of different kinds, never meet. */
export const scopeHash = (scope: string, signatureName: string): number => murmur3(`${scope}\n${signatureName}`);

export const LOG_ROWS: KeyRange = prefixRange(LOG);
export const logKey = (number: number): string => LOG + hex(number, 12);
export const numberOfLogKey = (key: string): number => Number.parseInt(key.slice(LOG.length), 16);
export const blockKey = (run: number, table: number, block: number): string =>
  `${RUN}${hex(run, 8)}${table}${hex(block, 6)}`;
/** Blocks of a table of a run. */
export const blockRange = (run: number, table: number): KeyRange => prefixRange(`${RUN}${hex(run, 8)}${table}`);

export const DUPLICATES: KeyRange = prefixRange(DUPLICATE);
export const duplicateKey = (target: string, url: string): string => duplicatesPrefix(target) + urlKey(url);
export function duplicatesPrefix(target: string): string {
  const { high, low } = digestOf(target);
  return DUPLICATE + hex(high, 8) + hex(low, 8);
}
/** URL key of a duplicate. */
export const urlKeyOfDuplicate = (key: string): string => key.slice(DUPLICATE.length + 16);
