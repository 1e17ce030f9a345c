import { featureNamed, positionOf, type UrlFeature, type UrlFeatures, urlSegments } from './url-features.ts';

export interface FeatureFilterOptions {
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
