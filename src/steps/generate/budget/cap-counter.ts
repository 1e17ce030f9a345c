// steps/generate/budget/: selection within a budget of fetches.
import { type Caps, placesOf } from '../fetch-list.ts';

/**
 * Counts the candidates compared of each host and domain. Where these have caps, further candidates of one that has had
 * enough would change nothing, and must not use up the comparisons that others need.
 */
export class CapCounter {
  /** Candidates counted; of each host and domain no more than enough. */
  counted = 0;
  readonly #caps: Caps;
  readonly #perPlace: number;
  readonly #domainOf: (host: string) => string;
  readonly #perHost = new Map<string, number>();
  readonly #perDomain = new Map<string, number>();

  /** @param perPlace candidates that are enough for each place that the cap of a host or domain allows */
  constructor(caps: Caps, perPlace: number, domainOf: (host: string) => string) {
    this.#caps = caps;
    this.#perPlace = perPlace;
    this.#domainOf = domainOf;
  }

  hasEnoughOf(host: string): boolean {
    const { maxPerDomain } = this.#caps;
    return (
      (this.#perHost.get(host) ?? 0) >= this.#perPlace * placesOf(this.#caps, host) ||
      (maxPerDomain > 0 && (this.#perDomain.get(this.#domainOf(host)) ?? 0) >= this.#perPlace * maxPerDomain)
    );
  }

  count(host: string): void {
    if (this.hasEnoughOf(host)) return;
    this.counted++;
    const { maxPerDomain } = this.#caps;
    if (Number.isFinite(placesOf(this.#caps, host))) this.#perHost.set(host, (this.#perHost.get(host) ?? 0) + 1);
    if (maxPerDomain > 0) {
      const domain = this.#domainOf(host);
      this.#perDomain.set(domain, (this.#perDomain.get(domain) ?? 0) + 1);
    }
  }
}
