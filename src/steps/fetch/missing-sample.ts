import type { FetchOutcome } from '../../domain/crawl/states/outcome.ts';
import type { FetchItem } from '../../ports/segment-store.ts';

/** Requests to a host, all for nothing, after which no more of its URLs that were never there are asked for. */
const SAMPLE = 5;

/**
 * Which URLs that were never there are asked for in a round. A site can have hundreds of dead links, and they are dead
 * together: where none of a few is there by now, the others wait for their next time.
 */
export class MissingSample {
  /** Requests without a page, by host; `null`: one of its URLs was there. */
  readonly #misses = new Map<string, number | null>();

  /** Why a URL is left out; `null`: it is asked for. */
  reason({ host, wasNeverThere }: FetchItem): string | null {
    const misses = this.#misses.get(host) ?? 0;
    if (wasNeverThere !== true || misses < SAMPLE) return null;
    return `${misses} others that had never been there still are not`;
  }

  count({ host, wasNeverThere }: FetchItem, { kind }: FetchOutcome): void {
    if (wasNeverThere !== true || kind === 'failed' || kind === 'denied') return;
    const misses = this.#misses.get(host);
    if (kind === 'gone' && misses !== null) this.#misses.set(host, (misses ?? 0) + 1);
    if (kind !== 'gone') this.#misses.set(host, null);
  }
}
