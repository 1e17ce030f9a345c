/** A bounded set of URLs known to exist. What it does not contain may exist all the same. */
export interface UrlCache {
  /** Counts as an access. */
  has(url: string): boolean;
  add(url: string): void;
  remove(url: string): void;
  readonly size: number;
}
