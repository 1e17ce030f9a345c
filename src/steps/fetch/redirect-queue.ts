import type { FetchedRecord, FetchItem } from '../../ports/segment-store.ts';
import type { FollowRedirects } from './follow-redirects.ts';

/** Redirects whose targets are looked up together, at most. */
const AT_ONCE = 500;

/** Redirects met whose targets are to be looked up. While one look-up goes on, the next redirects gather. */
export class RedirectQueue {
  readonly #follow: FollowRedirects | undefined;
  readonly #start: (target: FetchItem) => void;
  readonly #stop: AbortSignal;
  readonly #waiting: FetchedRecord[] = [];
  #isAtWork = false;
  /** Targets started. */
  followed = 0;

  /** @param stop aborted when no target may start any more */
  constructor(follow: FollowRedirects | undefined, start: (target: FetchItem) => void, stop: AbortSignal) {
    this.#follow = follow;
    this.#start = start;
    this.#stop = stop;
  }

  /** Records other than redirects are passed over. */
  add(record: FetchedRecord): void {
    if (record.outcome.kind === 'redirect' && this.#follow !== undefined) this.#waiting.push(record);
  }

  /** Starts the targets that may be fetched; `null`: none is to be looked up, or that goes on already. */
  work(): Promise<void> | null {
    const follow = this.#follow;
    if (follow === undefined || this.#isAtWork || this.#waiting.length === 0) return null;
    this.#isAtWork = true;
    return this.#startAll(follow);
  }

  async #startAll(follow: FollowRedirects): Promise<void> {
    try {
      while (this.#waiting.length > 0 && !this.#stop.aborted) {
        const targets = await follow(this.#waiting.splice(0, AT_ONCE));
        this.followed += targets.length;
        for (const target of targets) this.#start(target);
      }
    } finally {
      // In the same turn of the event loop as the look at the queue: what is added from now on begins anew.
      this.#isAtWork = false;
    }
  }
}
