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

export interface FeatureSizing {
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
