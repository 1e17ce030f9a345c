import { LcsPattern, nearestPattern } from './lcs.ts';

export interface FamilyOptions {
  /** Least similarity of a URL to the first member of its family. */
  readonly threshold: number;
  /** Characters of a URL that are compared. */
  readonly maxChars: number;
  /** Most families; further URLs without one are counted, not clustered: bounds time and memory. */
  readonly maxFamilies: number;
  /** Stored members of a family. */
  readonly maxMembers: number;
}

export const FAMILY_OPTIONS: FamilyOptions = Object.freeze({
  threshold: 0.8,
  maxChars: 256,
  maxFamilies: 2_000,
  maxMembers: 64,
});

export interface UrlFamily {
  readonly leader: string;
  readonly size: number;
  /** The first ones, the leader among them. */
  readonly members: readonly string[];
  /** Members that were added as known noise, and the first of them; `null`: none was. */
  readonly marked: number;
  readonly firstMarked: string | null;
}

interface GrowingFamily extends UrlFamily {
  size: number;
  readonly members: string[];
  marked: number;
  firstMarked: string | null;
}

/**
 * Single-pass clustering of URLs by longest common subsequence: each joins the family whose first member is most
 * similar, or begins one. The order matters, so URLs must come sorted, each once. The upper bounds skip only
 * comparisons that cannot win, and do not change the result.
 */
export class UrlFamilies {
  /** URLs without a family after `maxFamilies` existed. */
  outside = 0;
  readonly #options: FamilyOptions;
  readonly #families: GrowingFamily[] = [];
  readonly #leaders: LcsPattern[] = [];

  constructor(options: Partial<FamilyOptions> = {}) {
    this.#options = { ...FAMILY_OPTIONS, ...options };
  }

  /**
   * @param text what is compared, see {@link pathAndQuery}
   * @param isMarked known noise
   * @returns number of the family; -1: none
   */
  add(text: string, isMarked = false): number {
    const { threshold, maxFamilies, maxMembers } = this.#options;
    const key = text.slice(0, this.#options.maxChars);
    const nearest = nearestPattern(key, this.#leaders, threshold);
    if (nearest !== null) {
      const family = this.#families[nearest.at]!;
      family.size++;
      if (family.members.length < maxMembers) family.members.push(key);
      if (isMarked) {
        family.marked++;
        family.firstMarked ??= key;
      }
      return nearest.at;
    }
    if (this.#families.length >= maxFamilies) {
      this.outside++;
      return -1;
    }
    const [marked, firstMarked] = isMarked ? [1, key] : [0, null];
    this.#leaders.push(new LcsPattern(key));
    return this.#families.push({ leader: key, size: 1, members: [key], marked, firstMarked }) - 1;
  }

  get families(): readonly UrlFamily[] {
    return this.#families;
  }
}

/** Path and query: hosts are alike within a domain and would raise every similarity. */
export function pathAndQuery(url: string): string {
  const slash = url.indexOf('/', url.indexOf('://') + 3);
  return slash < 0 ? '/' : url.slice(slash);
}
