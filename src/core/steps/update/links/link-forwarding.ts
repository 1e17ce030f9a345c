import type { OutgoingLink } from '../../../domain/crawl/discovery/forwarded-link.ts';
import { Lru } from '../../../domain/lru.ts';
import type { DepthCache } from '../../../domain/url/cache/depth-cache.ts';
import { hostOf } from '../../../domain/url/canonical/url-key.ts';
import type { Forwarding, ForwardingBatch } from '../../../ports/partitions/forwarding.ts';

export interface LinkForwardingDeps {
  /** The partition whose crawl db is open. */
  readonly partition: number;
  /** The partition of a host (`host[:port]`). */
  readonly placeOf: (host: string) => number;
  /** Outbox and inbox of this crawl db. */
  readonly rows: Forwarding;
  /** URLs that were forwarded lately, with their depths: links of a navigation are on every page. */
  readonly recent: DepthCache;
}

/** Hosts whose partition is remembered: the public suffix list is a search. */
const MAX_HOSTS = 20_000;

/** Tells which URLs belong to other partitions of the crawl. */
export class LinkForwarding {
  readonly rows: Forwarding;
  readonly #deps: LinkForwardingDeps;
  readonly #hosts = new Lru<number>({ entries: MAX_HOSTS });

  constructor(deps: LinkForwardingDeps) {
    this.rows = deps.rows;
    this.#deps = deps;
  }

  partitionOf(url: string): number {
    const host = hostOf(url);
    let partition = this.#hosts.get(host);
    if (partition === undefined) {
      partition = this.#deps.placeOf(host);
      this.#hosts.set(host, partition);
    }
    return partition;
  }

  isElsewhere(url: string): boolean {
    return this.partitionOf(url) !== this.#deps.partition;
  }

  /** Whether the URL is on its way by a link as near to a seed as this one, so that it need not be sent again. */
  wasForwarded(url: string, depth: number): boolean {
    return this.#deps.recent.isWithin(url, depth);
  }

  /** To be called after the outbox has these rows. */
  note(forward: readonly OutgoingLink[]): void {
    for (const { link } of forward) this.#deps.recent.note(link.url, link.depth);
  }
}

/** The field `forwarding` of a batch; none where it would be empty. */
export function forwardingPart(batch: ForwardingBatch): { readonly forwarding?: ForwardingBatch } {
  return Object.values(batch).some((rows) => rows.length > 0) ? { forwarding: batch } : {};
}
