import type { RoundBounds, Segment } from '../../ports/segment-store.ts';

/** Which targets of redirects a round still takes in, by its size, its budget and its caps. */
export class RoundCaps {
  readonly #bounds: RoundBounds;
  readonly #domainOf: (host: string) => string;
  readonly #perHost = new Map<string, number>();
  readonly #perDomain = new Map<string, number>();
  #free: number;

  private constructor(bounds: RoundBounds, followed: number, domainOf: (host: string) => string) {
    this.#bounds = bounds;
    this.#domainOf = domainOf;
    this.#free = bounds.free - followed;
  }

  /** Reads the fetch list where a cap counts the URLs of hosts or domains. */
  static async of(segment: Segment, bounds: RoundBounds, domainOf: (host: string) => string): Promise<RoundCaps> {
    const caps = new RoundCaps(bounds, segment.info.followed ?? 0, domainOf);
    if (bounds.maxPerHost + bounds.maxPerDomain === 0) return caps;
    for await (const { host } of segment.fetchList()) caps.#countHost(host);
    return caps;
  }

  admits(host: string): boolean {
    const { maxPerHost, maxPerDomain } = this.#bounds;
    if (this.#free <= 0) return false;
    if (maxPerHost > 0 && (this.#perHost.get(host) ?? 0) >= maxPerHost) return false;
    return maxPerDomain === 0 || (this.#perDomain.get(this.#domainOf(host)) ?? 0) < maxPerDomain;
  }

  count(host: string): void {
    this.#free--;
    this.#countHost(host);
  }

  #countHost(host: string): void {
    const { maxPerHost, maxPerDomain } = this.#bounds;
    if (maxPerHost > 0) this.#perHost.set(host, (this.#perHost.get(host) ?? 0) + 1);
    if (maxPerDomain === 0) return;
    const domain = this.#domainOf(host);
    this.#perDomain.set(domain, (this.#perDomain.get(domain) ?? 0) + 1);
  }
}
