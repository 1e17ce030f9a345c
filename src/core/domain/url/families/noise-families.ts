import { murmur3 } from '../../../../page/near/hashes.ts';
import type { CrawlDatum } from '../../crawl/states/datum.ts';
import type { RecentPrints } from './family-shares.ts';
import { LcsPattern, lcsSimilarity, nearestPattern } from './lcs.ts';
import { shapeOf, URL_FEATURES, type UrlFamily, urlSegments } from './url-families.ts';

/** Metadata of pages that brought little or nothing beside their links: a {@link Thinness}. */
export const THIN_KEY = 'thin';

/**
 * `link-list`: hardly a word of its own, and many links to URLs of its own family beside it, as the pages of a calendar
 * or of a trap that makes up addresses; `index`: the same, but the links lead to other levels, as those of a month of
 * an archive do to its days; `little-text`: hardly a word of its own.
 */
export type Thinness = 'link-list' | 'index' | 'little-text';

/** Characters of content outside links, below which a page has little text. */
const LITTLE_TEXT = 100;
/**
 * Such a page with fewer characters than this for each link to its own family, noise aside, is a list of links. The
 * value is the length of a name and a date.
 */
const LITTLE_A_LINK = 15;
/** Number of links from which any page of little text is a list of links: no more have to be counted. */
export const MANY_LINKS = Math.ceil(LITTLE_TEXT / LITTLE_A_LINK);

/** Links of a page to its own family, noise aside, each counted up to {@link MANY_LINKS}. */
export interface OwnLinks {
  /** To URLs of as many directories as its own has. */
  readonly beside: number;
  readonly elsewhere: number;
}

/** @param ownLinks called only for pages of little text */
export function thinnessOf(ownChars: number | undefined, ownLinks: () => OwnLinks): Thinness | null {
  if (ownChars === undefined || ownChars >= LITTLE_TEXT) return null;
  const { beside, elsewhere } = ownLinks();
  if (ownChars < LITTLE_A_LINK * beside) return 'link-list';
  return ownChars < LITTLE_A_LINK * (beside + elsewhere) ? 'index' : 'little-text';
}

/**
 * What the first answered visit of a page brought, by its record: 0 nothing that its family did not have, 1 something
 * new; `null` without an answer so far, and of an index, whose worth is that of the pages that it leads to.
 * @param prints those of the visits to its family, to which that of the page is added
 */
export function worthOfVisit(datum: CrawlDatum, prints: RecentPrints): number | null {
  const { lastFetchAt, state, metadata } = datum;
  if (lastFetchAt === null || metadata[THIN_KEY] === 'index') return null;
  if (state === 'gone' || state === 'duplicate' || metadata[THIN_KEY] === 'link-list') return 0;
  const print = printOf(datum);
  if (print !== null && prints.isNear(print, datum.sketch)) return 0;
  return metadata[THIN_KEY] === 'little-text' ? 0.5 : 1;
}

/** 16 hex digits: the text of a page, the bytes of what is none, the target of a redirect. */
function printOf({ state, target, signature, digest }: CrawlDatum): string | null {
  if (state.startsWith('redir')) return target === null ? null : `${hex(murmur3(target))}${hex(murmur3(target, 1))}`;
  return signature ?? digest?.slice(0, 16) ?? null;
}

const hex = (word: number): string => word.toString(16).padStart(8, '0');

/**
 * What the URLs of one template have in common: host, directories without numbers, and of a URL with a query its path
 * and the names of its parameters, as `a.org/tag/*`, `a.org/ad/click?campaign&slot`, `a.org/p#.html`. `null`: a URL at
 * the root without numbers and query is of none.
 */
export function templateOf(url: string): string | null {
  const segments = urlSegments(url);
  const [site = ''] = (segments[0] ?? '').split('?', 1);
  const path = URL_FEATURES.path(segments);
  const folder = path === '' ? site : `${site}/${path}`;
  const parameters = URL_FEATURES.parameters(segments);
  if (parameters !== null) {
    const [name = ''] = (segments.length < 2 ? '' : (segments.at(-1) as string)).split('?', 1);
    return `${folder}/${shapeOf(name)}?${parameters}`;
  }
  if (segments.length > 2) return `${folder}/*`;
  const shape = URL_FEATURES.shape(segments);
  return shape === null ? null : `${folder}/${shape}`;
}

/** Visited pages of a template, and those of them that brought nothing to the crawl. */
interface VisitsOfTemplate {
  readonly visits: number;
  readonly empty: number;
}

/** Visited pages that a template is judged by, at least. */
export const LEAST_VISITED = 5;
const LEAST_EMPTY_SHARE = 0.9;

/** Whether a template is noise by what its visited pages brought. */
export const isEmptyTemplate = ({ visits, empty }: VisitsOfTemplate): boolean =>
  visits >= LEAST_VISITED && empty >= LEAST_EMPTY_SHARE * visits;

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

interface NoiseRule {
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

const NOISE_RULE: NoiseRule = Object.freeze({ noiseSimilarity: 0.8, maxDeviation: 0.15, markedShare: 1 / 3 });

interface JudgedFamily extends UrlFamily {
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
