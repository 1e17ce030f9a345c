import { judgeFamilies, noiseSamples } from '../../url/families/noise-families.ts';
import { pathAndQuery, UrlFamilies } from '../../url/families/url-families.ts';
import { type BlockTable, MAIN_BLOCK } from '../block-table.ts';
import { TextSketch } from '../text/text-sketch.ts';
import { type LinkPlace, linkRatio } from './link-regions.ts';

/**
 * Why a link counts as noise. `navigation`: in what surrounds content by tag or role; `boilerplate`: by class or id;
 * `link-ratio`: in a region that is mostly links; `family`: its URL is like those of noise links; `deviant`: its URL is
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
  /** How certainly the blocks of the anchor are content, 0 to 1; NaN: unknown, as of an anchor without text. */
  readonly certainty: number;
}

/** What the main content is made of: prose, other lines, or mostly links. */
export type ContentShape = 'article' | 'mixed' | 'links';

/** Share of anchors in a region's text above which its links are noise, or candidates for it. */
const MAX_LINK_RATIO = 0.25;
/** Anchors of more words than this are headlines or sentences. */
const MAX_LABEL_WORDS = 6;

/**
 * Certainties up to which an anchor is noise: in a part of the page that is perhaps around the content, a headline or a
 * short label elsewhere, and in a part that says it is content.
 */
interface Limits {
  readonly perhaps: number;
  readonly headline: number;
  readonly label: number;
  readonly content: number;
}

/** Measured on three sets of labelled pages (bench/RESULTS.md). */
const LIMITS: Readonly<Record<Exclude<ContentShape, 'links'>, Limits>> = {
  article: { perhaps: 0.2, headline: 0.2, label: 0.1, content: 0.05 },
  mixed: { perhaps: 0.1, headline: 0.1, label: 0.05, content: 0.05 },
};

/** Prose of this length makes a page an article, unless more than this share of its content are links. */
const LEAST_PROSE = 1_000;
const MAX_LINKED = 0.2;
/** A block with a larger share of links is no prose. */
const MOST_LINKED = 0.3;
/** Main content with a larger share of links is a list of links. */
const LEAST_OF_LISTS = 0.5;

/** What the main content of a page is made of, by its blocks. */
export function contentShape({ count, types, chars, anchorChars }: BlockTable): ContentShape {
  let all = 0;
  let linked = 0;
  let prose = 0;
  for (let at = 0; at < count; at++) {
    if (types[at] !== MAIN_BLOCK) continue;
    all += chars[at]!;
    linked += anchorChars[at]!;
    if (anchorChars[at]! < MOST_LINKED * chars[at]!) prose += chars[at]!;
  }
  if (linked > LEAST_OF_LISTS * all) return 'links';
  return prose >= LEAST_PROSE && linked <= MAX_LINKED * all ? 'article' : 'mixed';
}

/**
 * Links around the content. Anchors whose text stands in the main content are never noise; a URL with several anchors
 * is noise only if all of them are, those without text aside where others have text.
 * @param mainText `null`: none was found, so that only surrounding tags and roles make noise
 * @param shape where the content is links, links beside it may be more of it: again only tags and roles count
 */
export function noiseLinks(
  links: readonly PlacedLink[],
  mainText: string | null,
  shape: ContentShape,
): Map<string, NoiseReason> {
  const noise = new Map<string, NoiseReason>();
  const main = mainText === null ? null : new TextSketch(mainText);
  const limits = main === null || shape === 'links' ? null : LIMITS[shape];
  for (const { url, anchor, places } of links) {
    const reason = sharedReason(places, anchor, limits);
    if (reason === null) continue;
    if (main !== null && anchor !== '' && main.includes(anchor)) continue;
    noise.set(url, reason);
  }
  return noise;
}

/** The reason of the first place; `null` when one of the places is none of noise. */
function sharedReason(places: readonly CertainPlace[], anchor: string, limits: Limits | null): NoiseReason | null {
  const hasText = places.some(({ part }) => part.textChars > 0);
  let first: NoiseReason | null = null;
  for (const place of places) {
    // A picture beside the headline that it belongs to.
    if (hasText && place.part.textChars === 0) continue;
    const reason = reasonOf(place, anchor, limits);
    if (reason === null) return null;
    first ??= reason;
  }
  return first;
}

function reasonOf(
  { part, region, certainty }: CertainPlace,
  anchor: string,
  limits: Limits | null,
): NoiseReason | null {
  if (linkRatio(part) <= MAX_LINK_RATIO) return null;
  if (region === 'surround') return 'navigation';
  if (limits === null) return null;
  if (region === 'content') return certainty <= limits.content ? 'link-ratio' : null;
  if (region === 'perhaps') return certainty > limits.perhaps ? null : 'boilerplate';
  if (wordsOf(anchor) <= MAX_LABEL_WORDS) return certainty <= limits.label ? 'link-ratio' : null;
  return certainty > limits.headline ? null : 'link-ratio';
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
 * families like the samples, and members unlike their family, are noise too. Not for hub pages (hub-pages.ts).
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
