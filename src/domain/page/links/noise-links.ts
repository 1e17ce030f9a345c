import { judgeFamily, pathAndQuery, UrlFamilies } from '../../url/families/url-families.ts';
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
  readonly places: readonly LinkPlace[];
}

/** Share of anchors in a region's text above which its links are noise, or candidates for it. */
const MAX_LINK_RATIO = 0.25;
/** Anchors of more words than this are headlines or sentences. */
const MAX_LABEL_WORDS = 6;

/**
 * Links around the content. Anchors whose text stands in the main content are never noise; a URL with several anchors
 * is noise only if all of them are. Measured on labelled pages in bench/RESULTS.md.
 * @param mainText `null`: none was found, so that only surrounding tags and roles make noise
 */
export function noiseLinks(links: readonly PlacedLink[], mainText: string | null): Map<string, NoiseReason> {
  const noise = new Map<string, NoiseReason>();
  const main = mainText === null ? null : new TextSketch(mainText);
  for (const { url, anchor, places } of links) {
    const reason = sharedReason(places, anchor, main !== null);
    if (reason === null) continue;
    if (main !== null && anchor !== '' && main.includes(anchor)) continue;
    noise.set(url, reason);
  }
  return noise;
}

/** The reason of the first place; `null` when one of the places is none of noise. */
function sharedReason(places: readonly LinkPlace[], anchor: string, hasMain: boolean): NoiseReason | null {
  let first: NoiseReason | null = null;
  for (const place of places) {
    const reason = reasonOf(place, anchor, hasMain);
    if (reason === null) return null;
    first ??= reason;
  }
  return first;
}

function reasonOf(place: LinkPlace, anchor: string, hasMain: boolean): NoiseReason | null {
  if (linkRatio(place.part) <= MAX_LINK_RATIO) return null;
  if (place.region === 'surround') return 'navigation';
  if (!hasMain || place.region === 'content') return null;
  if (place.region === 'perhaps') return 'boilerplate';
  return wordsOf(anchor) <= MAX_LABEL_WORDS ? null : 'link-ratio';
}

const wordsOf = (text: string): number => (text === '' ? 0 : text.split(' ').length);

/** A page that would lose more than this share of its links is an index: its links are its content. */
const INDEX_SHARE = 0.7;
/** Most noise samples that families are compared with. */
const MAX_SAMPLES = 24;

/**
 * The published system (noise links by link-text ratio, then by families of URLs): links in parts with a ratio above
 * 1/4 are initial noise and the samples; URLs of the page's domain are clustered by longest common subsequence;
 * families like the samples, and members unlike their family, are noise too. Not applied to index pages.
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
  const own = links.filter(({ url }) => isOwn(url)).map(({ url }) => url);
  const samples = own.filter((url) => noise.has(url)).slice(0, MAX_SAMPLES);
  addFamilies(noise, own, samples.map(pathAndQuery));
  return noise.size > INDEX_SHARE * links.length ? new Map() : noise;
}

function addFamilies(noise: Map<string, NoiseReason>, own: readonly string[], samples: readonly string[]): void {
  const urlOf = new Map(own.map((url) => [pathAndQuery(url), url]));
  const families = new UrlFamilies();
  for (const path of [...urlOf.keys()].sort()) families.add(path);
  const mark = (path: string, reason: NoiseReason): void => {
    const url = urlOf.get(path);
    if (url !== undefined && !noise.has(url)) noise.set(url, reason);
  };
  for (const family of families.families) {
    const { isNoise, deviants } = judgeFamily(family, samples);
    for (const path of isNoise ? family.members : deviants) mark(path, isNoise ? 'family' : 'deviant');
  }
}
