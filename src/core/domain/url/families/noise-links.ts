import { type BlockTable, MAIN_BLOCK } from '../../../../page/block-table.ts';
import { type LinkPlace, linkRatio } from '../../../../page/links/link-regions.ts';
import { sketchTable, TextSketch } from '../../../../page/text/text-sketch.ts';
import { judgeFamilies, noiseSamples } from '../../url/families/noise-families.ts';
import { pathAndQuery, UrlFamilies } from '../../url/families/url-families.ts';

/**
 * Why a link counts as noise. `navigation`: in what surrounds content by tag or role; `boilerplate`: by class or id;
 * `link-ratio`: in a region with many links; `family`: its URL is like those of noise links; `deviant`: its URL is
 * unlike its own family.
 */
export const NOISE_REASONS = ['navigation', 'boilerplate', 'link-ratio', 'family', 'deviant'] as const;
export type NoiseReason = (typeof NOISE_REASONS)[number];

/** An outlink with the places of its anchors. */
export interface PlacedLink {
  readonly url: string;
  /** White space folded. */
  readonly anchor: string;
  readonly places: readonly CertainPlace[];
}

/** A place with how surely what stands there is content. */
export interface CertainPlace extends LinkPlace {
  /**
   * How certainly the blocks of the anchor are content, 0 to 1; of an anchor that is not shown, those beside it. NaN:
   * unknown.
   */
  readonly certainty: number;
  /** Whether the anchor has no text. */
  readonly isPicture: boolean;
}

/** Share of anchors in a region's text above which its links are noise, or candidates for it. */
const MAX_LINK_RATIO = 0.25;

/** Certainties, by the region of an anchor, above which it is content. */
type Limits = Readonly<Record<LinkPlace['region'], number>>;

/**
 * Articles link to other pages around their text. On other pages, cards and lists of places, which hardly count as
 * text, may be the very content. Measured on three sets of labelled pages (bench/RESULTS.md).
 */
const LIMITS_OF_ARTICLES: Limits = { surround: 0.3, perhaps: 0.3, plain: 0.1, content: 0.1 };
const LIMITS_OF_OTHERS: Limits = { surround: 0.15, perhaps: 0.05, plain: 0.07, content: 0.05 };

/** Main content with a larger share of links is a list of links. */
const LEAST_OF_LISTS = 0.5;

/** Whether most of the main content of a page is links. */
export function isMostlyLinks({ count, types, chars, anchorChars }: BlockTable): boolean {
  let all = 0;
  let linked = 0;
  for (let at = 0; at < count; at++) {
    if (types[at] !== MAIN_BLOCK) continue;
    all += chars[at]!;
    linked += anchorChars[at]!;
  }
  return linked > LEAST_OF_LISTS * all;
}

/** Pages come one after the other, and 8 KB for each would lie about until the next full collection. */
const TABLE = sketchTable();

/**
 * Links around the content. Anchors whose text stands in the main content are never noise; a URL with several anchors
 * is noise only if all of them are, pictures aside where others have text.
 * @param mainText `null`: none was found, so that only surrounding tags and roles make noise
 */
export function noiseLinks(
  links: readonly PlacedLink[],
  mainText: string | null,
  isArticle: boolean,
): Map<string, NoiseReason> {
  const noise = new Map<string, NoiseReason>();
  const main = mainText === null ? null : new TextSketch(mainText, TABLE);
  const limits = isArticle ? LIMITS_OF_ARTICLES : LIMITS_OF_OTHERS;
  for (const { url, anchor, places } of links) {
    const reason = sharedReason(places, main === null ? null : limits);
    if (reason === null) continue;
    if (main !== null && anchor !== '' && main.includes(anchor)) continue;
    noise.set(url, reason);
  }
  return noise;
}

/** The reason of the first place; `null` when one of the places is no noise. */
function sharedReason(places: readonly CertainPlace[], limits: Limits | null): NoiseReason | null {
  const hasText = places.some(({ isPicture }) => !isPicture);
  let first: NoiseReason | null = null;
  for (const place of places) {
    // A picture beside the headline that it belongs to.
    if (hasText && place.isPicture) continue;
    const reason = limits === null ? reasonOfTags(place) : reasonOf(place, limits);
    if (reason === null) return null;
    first ??= reason;
  }
  return first;
}

const reasonOfTags = ({ region }: CertainPlace): NoiseReason | null => (region === 'surround' ? 'navigation' : null);

function reasonOf({ part, region, certainty }: CertainPlace, limits: Limits): NoiseReason | null {
  if (certainty > limits[region]) return null;
  if (region === 'surround') return 'navigation';
  if (region === 'perhaps') return 'boilerplate';
  if (region === 'content' && Number.isNaN(certainty)) return null;
  return linkRatio(part) > MAX_LINK_RATIO ? 'link-ratio' : null;
}

const WIDE = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]/gu;
/** Characters of a word on the average, in scripts that write without spaces. */
const WIDE_WORD = 1.7;

/** Of a text with folded white space. */
export function wordsOf(text: string): number {
  if (text === '') return 0;
  const wide = text.match(WIDE)?.length ?? 0;
  return text.split(' ').length + (wide === 0 ? 0 : Math.round(wide / WIDE_WORD) - 1);
}

/**
 * The published system (noise links by link-text ratio, then by families of URLs): links in parts with a ratio above
 * 1/4 are initial noise and the samples; URLs of the page's domain are clustered by longest common subsequence;
 * families like the samples, and members unlike their family, are noise too. Not for hub pages (isHub).
 * @param isOwn whether a URL is of the page's domain, the only ones that are clustered
 */
export function publishedNoiseLinks(
  links: readonly PlacedLink[],
  isOwn: (url: string) => boolean,
): Map<string, NoiseReason> {
  const noise = new Map<string, NoiseReason>();
  for (const { url, places } of links) {
    if (places.length > 0 && places.every(({ part }) => linkRatio(part) > MAX_LINK_RATIO)) noise.set(url, 'link-ratio');
  }
  addFamilies(noise, links.map(({ url }) => url).filter(isOwn));
  return noise;
}

function addFamilies(noise: Map<string, NoiseReason>, own: readonly string[]): void {
  const urlOf = new Map(own.map((url) => [pathAndQuery(url), url]));
  const families = new UrlFamilies();
  for (const path of [...urlOf.keys()].sort()) families.add(path, noise.has(urlOf.get(path)!));
  const mark = (path: string, reason: NoiseReason): void => {
    const url = urlOf.get(path);
    if (url !== undefined && !noise.has(url)) noise.set(url, reason);
  };
  for (const { isNoise, members, deviants } of judgeFamilies(families.families, noiseSamples(families.families))) {
    for (const path of isNoise ? members : deviants) mark(path, isNoise ? 'family' : 'deviant');
  }
}
