import { type Fingerprint, FingerprintTables, type Neighbour } from './fingerprint-tables.ts';

export interface GroupingOptions {
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
