import type { CrawlDatum } from '../states/datum.ts';

/**
 * Metadata of a page that many links lead to: about how many (a power of four from 64 on), and the factors on its score
 * and on the worth of its visits that they give it.
 */
export const INLINKS_KEY = 'inlinks';
export const INLINK_SCORE_KEY = 'inlinkScore';
export const INLINK_WEIGHT_KEY = 'inlinkWeight';
/** Metadata: the highest level of the links of each share, four bits each. */
export const INLINK_LEVELS_KEY = 'inlinkLevels';

/** Factors that a number of links gives to a page; above 0. */
export interface InlinkFactors {
  readonly score: number;
  readonly visit: number;
}

/**
 * Hash of one end of a link: FNV-1a (Fowler, Noll, Vo), 32 bits. Levels of stored records depend on it: it never
 * changes. It is taken of every link, so it works on characters without encoding them, as MurmurHash3 does here; those
 * of a canonical URL are ASCII.
 */
export function endHash(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}

/** Lower levels are ignored: most pages reach them, and each would be written once more for it. */
const LEAST_LEVEL = 2;
const HIGHEST_LEVEL = 15;
const LEVEL_BITS = 4;
const SHARES = 4;
/** One link may have any level by chance: the shares that have to agree. */
const AGREEING = 3;

/**
 * The levels that one link adds; 0: it adds nothing. Links are shared out by two bits of a hash of both ends, and the
 * level is half of the zero bits at its end: the highest of a share of n links is about log4 n (Flajolet and Martin
 * 1985). The same link says the same whenever it is read, so a page that is parsed again, or a segment that is applied
 * again, counts nothing twice.
 */
export function levelsOfLink(source: number, target: number): number {
  let hash = Math.imul(source, 0x9e3779b1) ^ target;
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  hash ^= hash >>> 16;
  const level = Math.min(HIGHEST_LEVEL, (31 - Math.clz32(hash & -hash)) >> 1);
  return level < LEAST_LEVEL ? 0 : level << (LEVEL_BITS * (hash >>> 30));
}

const levelOf = (levels: number, share: number): number => (levels >> (LEVEL_BITS * share)) & HIGHEST_LEVEL;

/** The higher level of each share. */
export function joinedLevels(a: number, b: number): number {
  let joined = 0;
  for (let share = 0; share < SHARES; share++) {
    joined |= Math.max(levelOf(a, share), levelOf(b, share)) << (LEVEL_BITS * share);
  }
  return joined;
}

/** About how many links there are; 0: too few to be told. */
export function inlinksOf(levels: number): number {
  const sorted = Array.from({ length: SHARES }, (_, share) => levelOf(levels, share)).sort((a, b) => b - a);
  const level = sorted[AGREEING - 1] as number;
  return level === 0 ? 0 : SHARES * 4 ** level;
}

/** A page with further links, by their levels; `null`: its record says as much. */
export function withInlinks(
  datum: CrawlDatum,
  levels: number,
  factorsOf: (inlinks: number) => InlinkFactors,
): CrawlDatum | null {
  const known = numberIn(datum, INLINK_LEVELS_KEY, 0);
  const joined = joinedLevels(known, levels);
  if (joined === known) return null;
  const metadata = { ...datum.metadata, [INLINK_LEVELS_KEY]: joined };
  const inlinks = inlinksOf(joined);
  if (inlinks === numberIn(datum, INLINKS_KEY, 0)) return { ...datum, metadata };
  const { score, visit } = factorsOf(inlinks);
  return {
    ...datum,
    score: (datum.score / numberIn(datum, INLINK_SCORE_KEY, 1)) * score,
    metadata: { ...metadata, [INLINKS_KEY]: inlinks, [INLINK_SCORE_KEY]: score, [INLINK_WEIGHT_KEY]: visit },
  };
}

function numberIn({ metadata }: Pick<CrawlDatum, 'metadata'>, key: string, otherwise: number): number {
  const value = metadata[key];
  return typeof value === 'number' && value > 0 ? value : otherwise;
}
