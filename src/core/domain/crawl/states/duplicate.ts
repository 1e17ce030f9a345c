import { hammingDistance } from '../../../../page/near/fingerprint-tables.ts';
import { type TextOverlap, textOverlap } from '../../../../page/near/page-dimensions.ts';
import { hostOf } from '../../url/canonical/url-key.ts';
import type { CrawlDatum, CrawlState, VisitOutcome } from './datum.ts';
import { isPartial } from './truncation.ts';

/** Signatures of a page, of a record or of parse output. */
export interface Signed {
  readonly signature: string | null;
  readonly changeSignature?: string | null;
  readonly changeDigest?: string | null;
  readonly signatureName: string | null;
}

/** The signature by which versions of a page are compared. */
export const changeSignatureOf = ({ signature, changeSignature }: Signed): string | null =>
  changeSignature ?? signature;

/**
 * Distance of two versions of a page, 0..64; `null` where their signatures do not compare. It is the Hamming distance
 * of their change signatures, bits, but never 0 where their digests differ: an edit of a few words of a long page may
 * leave all bits as they are.
 */
export function changeDistance(before: Signed, after: Signed): number | null {
  const [a, b] = [changeSignatureOf(before), changeSignatureOf(after)];
  if (a === null || b === null || before.signatureName !== after.signatureName) return null;
  const bits = hammingDistance(a, b);
  return bits === 0 && isOtherDigest(before, after) ? 1 : bits;
}

/** Whether the digests of two versions are known to differ. */
function isOtherDigest({ changeDigest: a = null }: Signed, { changeDigest: b = null }: Signed): boolean {
  return a !== null && b !== null && a !== b;
}

/** Whether two versions differ in what their change signatures are made from. */
export const isSignedOtherwise = (before: Signed, after: Signed): boolean =>
  changeSignatureOf(before) !== changeSignatureOf(after) || isOtherDigest(before, after);

/** Pages that are compared: those of a host, of a registrable domain, or any. */
export type RepeatScope = 'host' | 'domain' | 'all';

/**
 * Criteria by which one of several like pages represents all. `score`: the higher; `https`: rather than http;
 * `shortest`: URL; `oldest`: found first.
 */
export const PREFERENCES = ['score', 'https', 'shortest', 'oldest'] as const;
export type Preference = (typeof PREFERENCES)[number];

/** A signature and the data needed to find near ones. */
export interface SignedText {
  /** 16 hex digits. */
  readonly signature: string;
  /** Only signatures of one name compare. */
  readonly signatureName: string;
  /** Length of the text, characters. */
  readonly textChars: number;
}

/** What a page is compared by. */
export interface ComparedText extends SignedText {
  /** As {@link CrawlDatum.sketch}. */
  readonly sketch: string | null;
}

/** When a page is a copy of another one. */
export interface CopyRule {
  /** Least text of a page that is compared, characters. */
  readonly minChars: number;
  /** Largest distance of the signatures, 0 to 3 bits. */
  readonly distance: number;
  /** Least share of the text that both have in common, 0..1 ({@link isCopiedText}); 0: signatures alone decide. */
  readonly minOverlap: number;
}

/** Whether a page is its own representative, so that others may repeat it. */
export const isOwnPage = ({ state }: Pick<CrawlDatum, 'state'>): boolean =>
  state === 'fetched' || state === 'notmodified';

/**
 * The text by which a page is compared; `null` for a page left out: without a whole copy or a signature, or with so
 * little text that its differences lie elsewhere (pages filled by scripts, "loading" notes).
 */
export function signedText(datum: CrawlDatum, minChars: number): ComparedText | null {
  const { signature, signatureName, textChars, sketch, state } = datum;
  if (isPartial(datum.truncated)) return null;
  if (signature === null || signatureName === null || textChars === null || textChars < minChars) return null;
  return isOwnPage(datum) || state === 'duplicate' ? { signature, signatureName, textChars, sketch } : null;
}

/** Texts whose length ratio is below this are no copies, whatever their signatures say. */
const MIN_LENGTH_RATIO = 0.8;

export function isAlikeInLength(a: number, b: number): boolean {
  return Math.min(a, b) >= MIN_LENGTH_RATIO * Math.max(a, b);
}

export const isSameText = (a: ComparedText, b: ComparedText): boolean =>
  a.signature === b.signature &&
  a.signatureName === b.signatureName &&
  a.textChars === b.textChars &&
  a.sketch === b.sketch;

/** Whether the signatures cannot be compared. */
export const isOtherKind = (a: SignedText, b: SignedText): boolean => a.signatureName !== b.signatureName;

/** Distance of unlike texts is 32 bits on average: a version that declares the wrong page is not believed. */
const VARIANT_BITS = 20;

/** The page of which a page declares itself a version; `null`: it is a page of its own. */
export const canonicalOf = ({ metadata: { variantOf } }: Pick<CrawlDatum, 'metadata'>): string | null =>
  typeof variantOf === 'string' ? variantOf : null;

/** Whether a page declares to be a version (AMP, print, mobile) of another. */
export const isVariantOf = (page: Pick<CrawlDatum, 'metadata'>, url: string): boolean => canonicalOf(page) === url;

/** Distance of a version of a page to that page, where it is one; 0 where their texts cannot be compared. */
function variantDistance(page: CrawlDatum, other: CrawlDatum): number | null {
  if (!isVariantOf(page, other.url)) return null;
  if (page.signature === null || other.signature === null || page.signatureName !== other.signatureName) return 0;
  const distance = hammingDistance(page.signature, other.signature);
  return distance <= VARIANT_BITS ? distance : null;
}

/**
 * Distance of a page to one that it may repeat, at most that of the rule, more for a version of that page; `null` when
 * it may not.
 */
export function repeatDistance(
  page: CrawlDatum,
  representative: CrawlDatum,
  { minChars, distance: maxBits, minOverlap }: CopyRule,
): number | null {
  // A page never repeats a version of itself, or a part of a page.
  if (!isOwnPage(representative) || isPartial(representative.truncated) || isVariantOf(representative, page.url))
    return null;
  const declared = variantDistance(page, representative);
  if (declared !== null) return declared;
  const [text, other] = [signedText(page, minChars), signedText(representative, minChars)];
  if (text === null || other === null || isOtherKind(text, other)) return null;
  if (!isAlikeInLength(text.textChars, other.textChars)) return null;
  const distance = hammingDistance(text.signature, other.signature);
  const near = { url: page.url, sketch: text.sketch, isHub: isHub(page) };
  return distance <= maxBits && isCopyOf(near, representative, minOverlap) ? distance : null;
}

/** A page whose signature is near that of another one. */
interface NearText extends Pick<CrawlDatum, 'url' | 'sketch'> {
  /** As {@link isHub}. */
  readonly isHub: boolean;
}

/** Whether a page with a near signature is a copy; `minOverlap` as in {@link CopyRule}. */
export function isCopyOf(page: NearText, other: Pick<CrawlDatum, 'url' | 'sketch'>, minOverlap: number): boolean {
  if (minOverlap === 0) return true;
  const isSameHost = hostOf(page.url) === hostOf(other.url);
  return (
    !page.isHub &&
    mayRepeatStart(isStartPage(page.url), isStartPage(other.url), isSameHost) &&
    isCopiedText(textOverlap(page.sketch, other.sketch), isSameHost, minOverlap)
  );
}

/** Twice the standard error of a sketch of a long text: an estimate above the least share by this much proves it. */
const CERTAINTY = 0.04;

/**
 * Whether enough of the text is the same for one to be a copy of the other. Pages of one host are made from one
 * template and may differ in a few lines only, so at most `1 - minOverlap` of the texts may differ. Another host puts
 * its own teasers and credits around a text: the shorter is in the longer.
 * @param overlap `null`: unknown, which shows nothing
 */
export function isCopiedText(overlap: TextOverlap | null, isSameHost: boolean, minOverlap: number): boolean {
  if (overlap === null) return false;
  return isSameHost ? overlap.likeness >= Math.min(1, minOverlap + CERTAINTY) : overlap.containment >= minOverlap;
}

/** Whether a URL is the start page of its host. */
export const isStartPage = (url: string): boolean => url.indexOf('/', url.indexOf('//') + 2) === url.length - 1;

/** A start page repeats no page of its host, and of another host only the start page. */
export const mayRepeatStart = (isStart: boolean, isOtherStart: boolean, isSameHost: boolean): boolean =>
  !isStart || (isOtherStart && !isSameHost);

/** Least mean of new URLs a change from which a page counts as a hub. */
const HUB_URLS = 0.5;

/** A page that has brought new URLs is there for them: it repeats no other page. */
export const isHub = ({ schedule: { belief } }: Pick<CrawlDatum, 'schedule'>): boolean =>
  belief !== null && belief.newUrls >= HUB_URLS;

/**
 * Whether the two have signatures of different kinds, so that it is undecided whether one still repeats the other. A
 * mark that was set without comparing texts (no `minOverlap`) is not kept undecided.
 */
export function isIncomparable(
  page: CrawlDatum,
  representative: CrawlDatum,
  { minChars, minOverlap }: Omit<CopyRule, 'distance'>,
): boolean {
  const [text, other] = [signedText(page, minChars), signedText(representative, minChars)];
  return (
    isOwnPage(representative) &&
    text !== null &&
    other !== null &&
    (minOverlap === 0 || text.sketch !== null) &&
    isOtherKind(text, other) &&
    isAlikeInLength(text.textChars, other.textChars)
  );
}

/** Order: the pages known longest first. */
export const byAge = (a: CrawlDatum, b: CrawlDatum): number =>
  a.discoveredAt - b.discoveredAt || (a.url < b.url ? -1 : 1);

/** The page at the lowest distance, among equals the one known longest; `null`: all are too far (distance `null`). */
export function nearestPage(
  pages: Iterable<CrawlDatum>,
  distanceOf: (page: CrawlDatum) => number | null,
): CrawlDatum | null {
  let best: { readonly datum: CrawlDatum; readonly distance: number } | null = null;
  for (const datum of pages) {
    const distance = distanceOf(datum);
    if (distance === null) continue;
    if (best === null || distance < best.distance || (distance === best.distance && byAge(datum, best.datum) < 0)) {
      best = { datum, distance };
    }
  }
  return best?.datum ?? null;
}

export function asDuplicate(datum: CrawlDatum, representative: string): CrawlDatum {
  return { ...datum, state: 'duplicate', target: representative };
}

/** A former duplicate as its own page, in the state of its last good visit. */
export function asOwnPage(datum: CrawlDatum): CrawlDatum {
  return { ...datum, state: stateByVisits(datum), target: null };
}

const GOOD_VISITS: Readonly<Partial<Record<VisitOutcome, CrawlState>>> = {
  new: 'fetched',
  modified: 'fetched',
  'unchanged-304': 'notmodified',
  'unchanged-headers': 'notmodified',
  'unchanged-digest': 'notmodified',
};

function stateByVisits({ visits }: CrawlDatum): CrawlState {
  for (let i = visits.length - 1; i >= 0; i--) {
    const state = GOOD_VISITS[visits[i]!.outcome];
    if (state !== undefined) return state;
  }
  return 'fetched';
}
