import type { CrawlDatum } from '../domain/crawl/datum.ts';
import { type Fingerprint, parseFingerprint } from '../domain/page/fingerprint-tables.ts';
import { murmur3 } from '../domain/url/hash.ts';

/** `score`: the higher; `https`: rather than http; `shortest`: URL; `oldest`: found first. */
export const PREFERENCES = ['score', 'https', 'shortest', 'oldest'] as const;
export type Preference = (typeof PREFERENCES)[number];

const IS_HTTPS = 1;
const IS_INCOMING = 2;

/** What grouping needs to know of pages, in columns: about 40 bytes a page, so that ten million fit. */
export class SignedPages {
  size = 0;
  #high = new Uint32Array(1_024);
  #low = new Uint32Array(1_024);
  #scope = new Uint32Array(1_024);
  #length = new Uint16Array(1_024);
  #flags = new Uint8Array(1_024);
  #score = new Float64Array(1_024);
  #foundAt = new Float64Array(1_024);

  /** @param scope pages of different scopes, or with signatures of different kinds, are never of one group */
  add(datum: CrawlDatum, scope: string, isIncoming: boolean): void {
    if (this.size === this.#high.length) this.#grow();
    const { high, low } = parseFingerprint(datum.signature ?? '');
    const at = this.size++;
    this.#high[at] = high;
    this.#low[at] = low;
    this.#scope[at] = murmur3(`${scope}\n${datum.signatureName ?? ''}`);
    this.#length[at] = datum.url.length;
    this.#flags[at] = (datum.url.startsWith('https:') ? IS_HTTPS : 0) | (isIncoming ? IS_INCOMING : 0);
    this.#score[at] = datum.score;
    this.#foundAt[at] = datum.discoveredAt;
  }

  fingerprint(page: number): Fingerprint {
    return { high: this.#high[page]!, low: this.#low[page]! };
  }

  isSameScope(a: number, b: number): boolean {
    return this.#scope[a] === this.#scope[b];
  }

  isIncoming(page: number): boolean {
    return (this.#flags[page]! & IS_INCOMING) !== 0;
  }

  /** Incoming pages first; among equals the order of the crawl db decides, so that runs repeat. */
  inOrder(prefer: readonly Preference[]): Uint32Array {
    const by: Readonly<Record<Preference, (a: number, b: number) => number>> = {
      score: (a, b) => this.#score[b]! - this.#score[a]!,
      https: (a, b) => (this.#flags[b]! & IS_HTTPS) - (this.#flags[a]! & IS_HTTPS),
      shortest: (a, b) => this.#length[a]! - this.#length[b]!,
      oldest: (a, b) => this.#foundAt[a]! - this.#foundAt[b]!,
    };
    const criteria = prefer.map((name) => by[name]);
    const order = Uint32Array.from({ length: this.size }, (_, i) => i);
    return order.sort((a, b) => {
      const incoming = (this.#flags[b]! & IS_INCOMING) - (this.#flags[a]! & IS_INCOMING);
      if (incoming !== 0) return incoming;
      for (const criterion of criteria) {
        const difference = criterion(a, b);
        if (difference !== 0) return difference;
      }
      return a - b;
    });
  }

  #grow(): void {
    const larger = <Column extends Uint32Array | Uint16Array | Uint8Array | Float64Array>(column: Column): Column => {
      const next = new (column.constructor as new (length: number) => Column)(2 * column.length);
      next.set(column as never);
      return next;
    };
    this.#high = larger(this.#high);
    this.#low = larger(this.#low);
    this.#scope = larger(this.#scope);
    this.#length = larger(this.#length);
    this.#flags = larger(this.#flags);
    this.#score = larger(this.#score);
    this.#foundAt = larger(this.#foundAt);
  }
}
