import { LcsPattern, nearestPattern } from './lcs.ts';
import { templateOf } from './noise-families.ts';
import { FAMILY_OPTIONS, pathAndQuery } from './url-families.ts';

/** A family of URLs as it is kept, to be compared with links that are found later. */
export interface StoredFamily {
  /** Path and query of its first URL, cut as in `FamilyOptions.maxChars`: what other URLs are compared with. */
  readonly leader: string;
  readonly size: number;
  readonly isNoise: boolean;
  /**
   * Similarity of its URLs to the nearest noise samples, 0 to 1; where it has a template, the share of its empty pages.
   */
  readonly similarityToNoise: number;
  /** Set for a family that is noise by what its visited pages brought; absent: it consists of URLs like its leader. */
  readonly visited?: VisitedTemplate;
}

export interface VisitedTemplate {
  /** As {@link templateOf}: what its URLs have in common. */
  readonly template: string;
  /** Pages of it that were judged. */
  readonly visits: number;
}

/** The families of a registrable domain, its noise and what could be mistaken for it. */
export interface DomainFamilies {
  readonly domain: string;
  /** When they were applied, ms since the epoch. */
  readonly appliedAt: number;
  readonly families: readonly StoredFamily[];
}

/** Smaller families are not kept: a few links that were marked together say little about others. */
const LEAST_SIZE = 5;
/** Families kept of a domain, the largest first; content families without noise families near them are not. */
const MOST_NOISE = 256;
const MOST_CONTENT = 256;
/**
 * A content family whose leader is less like that of every noise family is seldom the nearest one of a URL that is like
 * noise.
 */
const RIVAL_SIMILARITY = 0.5;

/** What is kept of the families of a domain; empty without noise. */
export function familiesToKeep(families: readonly StoredFamily[]): StoredFamily[] {
  const bySize = [...families].sort((a, b) => b.size - a.size);
  const noise = bySize.filter(({ isNoise, size }) => isNoise && size >= LEAST_SIZE).slice(0, MOST_NOISE);
  if (noise.length === 0) return [];
  const patterns = noise.flatMap(({ leader, visited }) => (visited === undefined ? [new LcsPattern(leader)] : []));
  const rivals = bySize
    .filter(({ isNoise, leader }) => !isNoise && nearestPattern(leader, patterns, RIVAL_SIMILARITY) !== null)
    .slice(0, MOST_CONTENT);
  return [...noise, ...rivals];
}

export interface FamilyMatch {
  readonly family: StoredFamily;
  /** Similarity of the URL to the first one of the family; `null`: it has the template of the family. */
  readonly similarity: number | null;
}

/** The families of one domain, made ready for many URLs. */
export class FamilyMatcher {
  readonly #noise: readonly StoredFamily[];
  readonly #noiseLeaders: readonly LcsPattern[];
  readonly #contentLeaders: readonly LcsPattern[];
  readonly #templates: ReadonlyMap<string, StoredFamily>;

  constructor(families: readonly StoredFamily[]) {
    this.#noise = families.filter(({ isNoise, visited }) => isNoise && visited === undefined);
    this.#noiseLeaders = this.#noise.map(({ leader }) => new LcsPattern(leader));
    this.#contentLeaders = families.filter(({ isNoise }) => !isNoise).map(({ leader }) => new LcsPattern(leader));
    this.#templates = new Map(
      families.flatMap((family) => (family.visited === undefined ? [] : [[family.visited.template, family]])),
    );
  }

  /** The noise family that the URL would join; `null`: it would join a content family, or none. */
  match(url: string): FamilyMatch | null {
    const family = this.#templates.size === 0 ? undefined : this.#templates.get(templateOf(url) ?? '');
    if (family !== undefined) return { family, similarity: null };
    const text = pathAndQuery(url).slice(0, FAMILY_OPTIONS.maxChars);
    const nearest = nearestPattern(text, this.#noiseLeaders, FAMILY_OPTIONS.threshold);
    if (nearest === null) return null;
    const { at, similarity } = nearest;
    // In doubt it is content.
    if (nearestPattern(text, this.#contentLeaders, similarity) !== null) return null;
    return { family: this.#noise[at]!, similarity };
  }
}
