import { binsOf, LcsPattern, lcsSimilarity } from './lcs.ts';

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
  readonly #families: { readonly pattern: LcsPattern; size: number; readonly members: string[] }[] = [];

  constructor(options: Partial<FamilyOptions> = {}) {
    this.#options = { ...FAMILY_OPTIONS, ...options };
  }

  /** @param text what is compared, see {@link pathAndQuery} @returns number of the family; -1: none */
  add(text: string): number {
    const { threshold, maxChars, maxFamilies, maxMembers } = this.#options;
    const key = text.length > maxChars ? text.slice(0, maxChars) : text;
    const bins = binsOf(key);
    let best = -1;
    let bestSimilarity = threshold;
    for (const [i, { pattern }] of this.#families.entries()) {
      const bound = pattern.similarityBound(key.length, bins);
      if (best < 0 ? bound < bestSimilarity : bound <= bestSimilarity) continue;
      const similarity = pattern.similarity(key);
      if (best < 0 ? similarity < bestSimilarity : similarity <= bestSimilarity) continue;
      best = i;
      bestSimilarity = similarity;
      if (similarity === 1) break;
    }
    const family = this.#families[best];
    if (family !== undefined) {
      family.size++;
      if (family.members.length < maxMembers) family.members.push(key);
      return best;
    }
    if (this.#families.length >= maxFamilies) {
      this.outside++;
      return -1;
    }
    this.#families.push({ pattern: new LcsPattern(key), size: 1, members: [key] });
    return this.#families.length - 1;
  }

  get families(): readonly UrlFamily[] {
    return this.#families.map(({ pattern, size, members }) => ({ leader: pattern.text, size, members }));
  }
}

/** Path and query: hosts are alike within a domain and would raise every similarity. */
export function pathAndQuery(url: string): string {
  const slash = url.indexOf('/', url.indexOf('://') + 3);
  return slash < 0 ? '/' : url.slice(slash);
}

/** Mean similarity of the members to known noise; 0 without any. */
export function meanSimilarity(members: readonly string[], samples: readonly string[]): number {
  if (members.length === 0 || samples.length === 0) return 0;
  let sum = 0;
  for (const sample of samples) {
    const pattern = new LcsPattern(sample);
    for (const member of members) sum += pattern.similarity(member);
  }
  return sum / (members.length * samples.length);
}

/**
 * Deviation of each member: how much less similar it is to the others than members are on average; 0 in families of
 * fewer than three.
 */
export function deviations(members: readonly string[]): number[] {
  if (members.length < 3) return members.map(() => 0);
  const sums = new Array<number>(members.length).fill(0);
  for (let i = 0; i < members.length; i++) {
    for (let j = i + 1; j < members.length; j++) {
      const similarity = lcsSimilarity(members[i]!, members[j]!);
      sums[i]! += similarity;
      sums[j]! += similarity;
    }
  }
  const means = sums.map((sum) => sum / (members.length - 1));
  const mean = means.reduce((sum, each) => sum + each, 0) / means.length;
  return means.map((each) => mean - each);
}

export interface NoiseRule {
  /** Least similarity of a noise family to the noise samples. */
  readonly noiseSimilarity: number;
  /** Largest deviation of a member that is no noise. */
  readonly maxDeviation: number;
}

export const NOISE_RULE: NoiseRule = Object.freeze({ noiseSimilarity: 0.8, maxDeviation: 0.15 });

export interface JudgedFamily extends UrlFamily {
  readonly similarityToNoise: number;
  readonly isNoise: boolean;
  /** Stored members that deviate too much from the others. */
  readonly deviants: readonly string[];
}

/**
 * Noise-link removal, second half: families are judged by their similarity to noise, members by their deviation from
 * their family.
 */
export function judgeFamily(family: UrlFamily, samples: readonly string[], rule: NoiseRule = NOISE_RULE): JudgedFamily {
  const similarityToNoise = meanSimilarity(family.members, samples);
  const deviation = deviations(family.members);
  return {
    ...family,
    similarityToNoise,
    isNoise: similarityToNoise >= rule.noiseSimilarity,
    deviants: family.members.filter((_, i) => deviation[i]! > rule.maxDeviation),
  };
}
