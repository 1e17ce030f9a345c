import { type HostShares, joinedShares } from '../../src/core/domain/url/families/family-shares.ts';

/** What is kept of the families of like URLs, by host. */
export class MemoryHostShares {
  readonly #shares = new Map<string, HostShares>();

  add(shares: HostShares): void {
    const known = shares.part === 0 ? undefined : this.#shares.get(shares.host);
    this.#shares.set(shares.host, known === undefined ? shares : joinedShares([known, shares]));
  }

  delete(host: string): void {
    this.#shares.delete(host);
  }

  getMany(hosts: readonly string[]): (HostShares | undefined)[] {
    return hosts.map((host) => this.#shares.get(host));
  }
}
