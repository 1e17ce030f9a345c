/** A bounded set of known URLs. A URL that is absent may be known all the same. */
export interface UrlCache {
  /** Counts as an access. */
  has(url: string): boolean;
  add(url: string): void;
  remove(url: string): void;
  readonly size: number;
}
