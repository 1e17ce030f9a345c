import { LcsPattern, nearestPattern } from './lcs.ts';

/**
 * Features by which similar URLs are recognised (feature Bloom filter of the published system; ARCHITECTURE says where
 * it is improved). A URL is written as `u1/u2/../un`: u1 the site, empty segments left out, the query kept in un.
 */
export function urlSegments(url: string): string[] {
  const start = url.indexOf('://');
  const whole = (start < 0 ? url : url.slice(start + 3)).replace(/#.*$/s, '');
  const mark = whole.indexOf('?');
  const path = mark < 0 ? whole : whole.slice(0, mark);
  const [site = '', ...rest] = path.split('/').filter((segment, i) => i === 0 || segment !== '');
  const segments = [site.toLowerCase(), ...rest];
  if (mark >= 0) segments[segments.length - 1] += whole.slice(mark);
  return segments;
}

/** A feature of a URL: a text to be hashed, a number taken as it is, or `null` for a URL without it. */
export type UrlFeature = (segments: readonly string[]) => string | number | null;

export const URL_FEATURES = {
  site: ([site = '']) => site,
  depth: (segments) => segments.length,
  directory: (segments) => segments[1] ?? null,
  tail: (segments) => segments.at(-1) ?? null,
  /** Names of the parameters, in order. */
  parameters: (segments) => {
    const tail = segments.at(-1) ?? '';
    const mark = tail.indexOf('?');
    if (mark < 0) return null;
    const names = tail.slice(mark + 1).split('&');
    return names.map((part) => part.split('=', 1)[0]).join('&');
  },
  /** The directories without numbers and identifiers; empty for pages at the root. */
  path: (segments) => segments.slice(1, -1).map(shapeOf).join('/'),
  /** The first directory without numbers and identifiers; empty for pages at the root. */
  section: (segments) => (segments.length > 2 ? shapeOf(segments[1] as string) : ''),
  /** The tail without query, numbers and identifiers; a tail that has none of them is no template. */
  shape: (segments) => {
    if (segments.length < 2) return null;
    const tail = segments.at(-1) as string;
    const [name = ''] = tail.split('?', 1);
    const shape = shapeOf(name);
    return shape === name && name.length === tail.length ? null : shape;
  },
} as const satisfies Readonly<Record<string, UrlFeature>>;

/** Features by their names. */
export type UrlFeatures = Readonly<Record<string, UrlFeature>>;

/**
 * `segment:3` is u3.
 * @param more features beside {@link URL_FEATURES}, which go before those
 */
export function featureNamed(name: string, more: UrlFeatures = {}): UrlFeature | undefined {
  const number = /^segment:([1-9]\d?)$/.exec(name)?.[1];
  if (number !== undefined) return (segments) => segments[Number(number) - 1] ?? null;
  const features: UrlFeatures = Object.hasOwn(more, name) ? more : URL_FEATURES;
  return Object.hasOwn(features, name) ? features[name] : undefined;
}

/** The last segment without numbers and identifiers. */
export function shapeOf(tail: string): string {
  return tail
    .replace(/[0-9a-f]{8,}/gi, (run) => (/\d/.test(run) && /[a-f]/i.test(run) ? '%' : run))
    .replace(/\d+/g, '#');
}

interface FeatureSizing {
  /** Bits of an optimal Bloom filter for k URLs at the rate P: ceil(-k ln P / (ln 2)^2). */
  readonly optimalBits: number;
  /** Bits for as many hash functions as there are features: ceil(-f k / ln(1 - P^(1/f))). */
  readonly bits: number;
  readonly bitsPerPart: number;
}

/** @param urls k, @param falsePositiveRate P, both as of the published system: all that its user gives. */
export function featureSizing(urls: number, falsePositiveRate: number, features = 4): FeatureSizing {
  if (!(urls >= 1) || !(falsePositiveRate > 0 && falsePositiveRate < 1)) {
    throw new RangeError(
      `at least one URL and a rate between 0 and 1 were expected, got ${urls} and ${falsePositiveRate}`,
    );
  }
  const optimalBits = Math.ceil((-urls * Math.log(falsePositiveRate)) / Math.LN2 ** 2);
  const bits = Math.ceil((-features * urls) / Math.log(1 - falsePositiveRate ** (1 / features)));
  return { optimalBits, bits, bitsPerPart: Math.ceil(bits / features) };
}

/** A digest as a number modulo N: the position of a feature in its part. */
export function positionOf(digest: Uint8Array, modulus: number): number {
  let rest = 0;
  for (const byte of digest) rest = (rest * 256 + byte) % modulus;
  return rest;
}

interface FeatureFilterOptions {
  /** Names of features, each with a part of its own. */
  readonly features: readonly string[];
  readonly bitsPerPart: number;
  /** MD5 of a text, 16 bytes. */
  readonly md5: (text: string) => Uint8Array;
  /** As for {@link featureNamed}. */
  readonly more?: UrlFeatures;
}

/**
 * The published filter of similar URLs: a URL is similar when all its features have been seen, each by itself. It
 * admits at most D + T - 1 of the D x T pages of a site with D directories and T tail pages at one depth, whatever its
 * size.
 */
export class FeatureFilter {
  readonly #features: readonly { readonly name: string; readonly of: UrlFeature }[];
  readonly #parts: readonly Uint8Array[];
  readonly #bits: number;
  readonly #md5: FeatureFilterOptions['md5'];

  constructor({ features, bitsPerPart, md5, more }: FeatureFilterOptions) {
    this.#features = features.map((name) => {
      const of = featureNamed(name, more);
      if (of === undefined)
        throw new RangeError(`a feature such as site, depth, directory, tail or segment:3 was expected, got "${name}"`);
      return { name, of };
    });
    this.#bits = bitsPerPart;
    this.#md5 = md5;
    this.#parts = features.map(() => new Uint8Array(Math.ceil(bitsPerPart / 8)));
  }

  /** Position of each feature in its part; `null`: the URL has no such feature, which is then left out. */
  positions(url: string): (number | null)[] {
    const segments = urlSegments(url);
    return this.#features.map(({ of }) => {
      const value = of(segments);
      if (value === null) return null;
      return typeof value === 'number' ? value % this.#bits : positionOf(this.#md5(value), this.#bits);
    });
  }

  /** `site 144, depth 4, ..`, for people. */
  describe(url: string): string {
    const positions = this.positions(url);
    return this.#features.map(({ name }, i) => `${name} ${positions[i] ?? 'none'}`).join(', ');
  }

  /** Whether a URL is similar to those added; a new one is added. */
  isSimilar(url: string): boolean {
    const positions = this.positions(url);
    const isSimilar = positions.every((position, part) => position === null || this.#has(part, position));
    if (!isSimilar) this.#addAt(positions);
    return isSimilar;
  }

  add(url: string): void {
    this.#addAt(this.positions(url));
  }

  #addAt(positions: readonly (number | null)[]): void {
    for (const [part, position] of positions.entries()) {
      if (position !== null) this.#parts[part]![position >>> 3]! |= 1 << (position & 7);
    }
  }

  #has(part: number, position: number): boolean {
    return (this.#parts[part]![position >>> 3]! & (1 << (position & 7))) !== 0;
  }
}

interface FamilyOptions {
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
