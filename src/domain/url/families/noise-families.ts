import { LcsPattern, lcsSimilarity, nearestPattern } from './lcs.ts';
import type { UrlFamily } from './url-families.ts';

/** Known noise that families are compared with, at most: bounds time. */
const MAX_SAMPLES = 64;

/**
 * One known noise URL of each family that has some, those of the families with most noise first: so that of several
 * kinds of noise each is among them, however many URLs one kind has.
 */
export function noiseSamples(families: readonly UrlFamily[]): string[] {
  return [...families]
    .sort((a, b) => b.marked - a.marked)
    .slice(0, MAX_SAMPLES)
    .flatMap(({ firstMarked }) => (firstMarked === null ? [] : [firstMarked]));
}

/**
 * Mean, over the members, of the similarity to the *nearest* sample; 0 without samples. The mean over all samples finds
 * no noise once they are of several kinds: what is like an advert is unlike a login.
 */
export function nearestSimilarity(members: readonly string[], samples: readonly LcsPattern[]): number {
  if (members.length === 0) return 0;
  let sum = 0;
  for (const member of members) sum += nearestPattern(member, samples, 0)?.similarity ?? 0;
  return sum / members.length;
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
  /**
   * Least share of the members of a noise family that are known noise themselves. One article that is met in sidebars
   * only is as near to its family as any sample can be, and must not condemn it.
   */
  readonly markedShare: number;
}

export const NOISE_RULE: NoiseRule = Object.freeze({ noiseSimilarity: 0.8, maxDeviation: 0.15, markedShare: 1 / 3 });

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
export function judgeFamilies(
  families: readonly UrlFamily[],
  samples: readonly string[],
  { noiseSimilarity, maxDeviation, markedShare }: NoiseRule = NOISE_RULE,
): JudgedFamily[] {
  const patterns = samples.map((sample) => new LcsPattern(sample));
  return families.map((family) => {
    const similarityToNoise = nearestSimilarity(family.members, patterns);
    const isMarked = family.marked >= markedShare * family.size;
    const deviation = deviations(family.members);
    return {
      ...family,
      similarityToNoise,
      isNoise: similarityToNoise >= noiseSimilarity && isMarked,
      deviants: family.members.filter((_, i) => deviation[i]! > maxDeviation),
    };
  });
}
