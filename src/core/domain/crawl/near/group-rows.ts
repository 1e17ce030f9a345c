// core/domain/crawl/near/: groups of near duplicates: which pages are grouped, and the rows of a group.

import {
  type BucketTables,
  collectNear,
  enter,
  type FingerprintColumns,
  layOut,
  makeTables,
  visitNear,
} from '../../../../page/near/bucket-tables.ts';
import {
  type Fingerprint,
  FingerprintTables,
  type Neighbour,
  setBits,
} from '../../../../page/near/fingerprint-tables.ts';
import { murmur3 } from '../../../../page/near/hashes.ts';
import { SKETCH_WORDS, wordsOverlap } from '../../../../page/near/page-dimensions.ts';
import { isAlikeInLength, isCopiedText, isStartPage, mayRepeatStart } from '../../crawl/states/duplicate.ts';
import { hostOf } from '../../url/canonical/url-key.ts';

interface GroupingOptions {
  /** Largest distance to a representative, bits. */
  readonly distance: number;
  /** Whether a page may repeat a representative that is near it, by their numbers; default: any. */
  readonly mayRepeat?: (page: number, leader: number) => boolean;
  /**
   * Pages that may be representatives; the others are not compared among each other (the published protocol: a new
   * batch against the old library). Default: all.
   */
  readonly leads?: (page: number) => boolean;
}

/**
 * Assigns each page the representative that it repeats. Pages come in the order of preference: one without a near
 * representative becomes one. Pages are compared with representatives alone, since chains of small differences would
 * join unrelated pages.
 * @param fingerprintOf of a page, by its number
 * @returns by page: representative and distance, for those that repeat one
 */
export function nearGroups(
  order: Iterable<number>,
  fingerprintOf: (page: number) => Fingerprint,
  { distance, mayRepeat, leads }: GroupingOptions,
): Map<number, Neighbour> {
  const representatives = new FingerprintTables();
  // Tables prefer the smallest id: representatives are numbered in the order of preference, not by page.
  const leaders: number[] = [];
  const repeats = new Map<number, Neighbour>();
  for (const page of order) {
    const fingerprint = fingerprintOf(page);
    const wanted = mayRepeat === undefined ? undefined : (leader: number) => mayRepeat(page, leaders[leader]!);
    const nearest = representatives.nearest(fingerprint, distance, wanted);
    if (nearest !== null) repeats.set(page, { id: leaders[nearest.id]!, distance: nearest.distance });
    else if (leads === undefined || leads(page)) representatives.add(fingerprint, leaders.push(page) - 1);
  }
  return repeats;
}

/** Pages in the order of preference, in columns. */
export interface RowBlock extends FingerprintColumns {
  readonly size: number;
  /** Ids of scopes; the fingerprints are masked by scope. */
  readonly scope: Int32Array;
  /** Lengths of the texts, characters. */
  readonly chars: Int32Array;
  /** By {@link siteOf}. */
  readonly site: Int32Array;
  /** Sketches of the texts, {@link SKETCH_WORDS} words a row. */
  readonly sketches: Int32Array;
}

const IS_START = 1;
const IS_HUB = 2;

/** Hash of the host, combined with the kind of page: pages of different kinds are not duplicates of each other. */
export const siteOf = (url: string, isHub: boolean): number =>
  (murmur3(hostOf(url)) & ~(IS_START | IS_HUB)) | (isStartPage(url) ? IS_START : 0) | (isHub ? IS_HUB : 0);

/** When a row repeats a representative. */
export interface RowRule {
  /** Bits. */
  readonly distance: number;
  readonly minOverlap: number;
}

/** The nearest representative of a row: distance and number packed in one number, the nearer the less. */
type Nearest = number;
export const NOTHING_NEAR: Nearest = 0xffff_ffff;
/** Most representatives. */
export const MOST_LEADERS = 2 ** 30 - 1;

const nearestOf = (distance: number, leader: number): Nearest => distance * 2 ** 30 + leader;
export const leaderOf = (nearest: Nearest): number => nearest % 2 ** 30;
export const distanceOf = (nearest: Nearest): number => Math.floor(nearest / 2 ** 30);

/**
 * Compares representatives of earlier blocks with the rows of a block.
 * @param tables all rows of the block
 * @param leaders representatives, numbered from `first`
 * @param onNear called with a row and a near representative, perhaps several times for one
 */
export function matchLeaders(
  block: RowBlock,
  tables: BucketTables,
  leaders: RowBlock,
  first: number,
  rule: RowRule,
  onNear: (row: number, nearest: Nearest) => void,
): void {
  const theirs = makeTables(leaders.size);
  layOut(theirs, leaders, leaders.size);
  for (let leader = 0; leader < leaders.size; leader++) enter(theirs, leaders, leader);
  visitNear(theirs, tables, (leader, row) => {
    const own = distanceBetween(block, row, leaders, leader, rule);
    if (own <= rule.distance) onNear(row, nearestOf(own, first + leader));
  });
}

/**
 * Assigns each row of a block the representative that it repeats. Rows are compared with representatives alone:
 * otherwise chains of small differences would join unrelated pages, and a million equal pages would be compared with
 * each other.
 * @param tables scratch tables with the capacity of the block
 * @param nearest by row: the nearest representative of earlier blocks on entry, of all blocks on return
 * @param leads whether a row may become a representative
 * @param leaders number of earlier representatives
 * @returns the rows that became representatives, numbered from `leaders`
 */
export function groupRows(
  block: RowBlock,
  tables: BucketTables,
  nearest: Uint32Array,
  { leaders, leads, ...rule }: RowRule & { readonly leaders: number; leads(row: number): boolean },
): number[] {
  layOut(tables, block, block.size);
  const numbers = new Uint32Array(block.size);
  const fresh: number[] = [];
  const found: number[] = [];
  for (let row = 0; row < block.size; row++) {
    let best = nearest[row]!;
    collectNear(tables, block.high[row]!, block.low[row]!, found);
    for (const other of found) {
      const own = distanceBetween(block, row, block, other, rule);
      if (own <= rule.distance) best = Math.min(best, nearestOf(own, numbers[other]!));
    }
    found.length = 0;
    nearest[row] = best;
    if (best !== NOTHING_NEAR || !leads(row)) continue;
    enter(tables, block, row);
    numbers[row] = leaders + fresh.length;
    fresh.push(row);
  }
  return fresh;
}

/** Above any real distance: rows of different scopes, or of different texts. */
const APART = 65;

/** Distance of row `i` to the representative in row `j`. */
function distanceBetween(a: RowBlock, i: number, b: RowBlock, j: number, rule: RowRule): number {
  if (a.scope[i] !== b.scope[j] || !isAlikeInLength(a.chars[i]!, b.chars[j]!)) return APART;
  const distance = setBits(a.high[i]! ^ b.high[j]!) + setBits(a.low[i]! ^ b.low[j]!);
  return distance <= rule.distance && isCopy(a, i, b, j, rule) ? distance : APART;
}

function isCopy(a: RowBlock, i: number, b: RowBlock, j: number, { minOverlap }: RowRule): boolean {
  if (minOverlap === 0) return true;
  const [own, other] = [a.site[i]!, b.site[j]!];
  const isSameHost = own >>> 2 === other >>> 2;
  if ((own & IS_HUB) !== 0 || !mayRepeatStart((own & IS_START) !== 0, (other & IS_START) !== 0, isSameHost))
    return false;
  return isCopiedText(wordsOverlap(a.sketches, SKETCH_WORDS * i, b.sketches, SKETCH_WORDS * j), isSameHost, minOverlap);
}
