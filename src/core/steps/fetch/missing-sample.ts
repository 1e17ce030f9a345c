import {
  type Absence,
  afterDeadLink,
  deadLinksFrom,
  type MissingLinks,
  NO_MISSING_LINKS,
} from '../../domain/crawl/revisit/missing-links.ts';
import type { FetchOutcome } from '../../domain/crawl/states/outcome.ts';
import type { FetchItem, HostObservation } from '../../ports/segment-store.ts';

/** Requests to a host, all for nothing, after which no more of its URLs that are like these are asked for. */
const SAMPLE = 5;

/** Why a URL is left out, and until when at least, ms since the epoch; `null`: until its own next time. */
export interface LeftOut {
  readonly reason: string;
  readonly until: number | null;
}

const REASONS: Readonly<Record<Absence, string>> = {
  gone: 'others that are gone are still gone',
  missing: 'others that were missing are still missing',
  dead: 'other dead links are still dead',
};

/**
 * Which URLs that are probably not there are asked for in a round. A site can have hundreds of dead links, and they are
 * dead together: where none of a few is there by now, the others wait for their next time. Dead links that have been
 * asked for in vain before wait for that of their host, which comes ever later while none of them is there.
 */
export class MissingSample {
  readonly #before: (host: string) => MissingLinks | null;
  readonly #pauses: readonly number[];
  /** Requests in vain, by host and kind; `null`: one of these URLs was there. */
  readonly #misses = new Map<string, number | null>();

  /**
   * @param before what is known of a host at the beginning of the round
   * @param pauses `schedule.missingIntervals`, ms
   */
  constructor(before: (host: string) => MissingLinks | null, pauses: readonly number[]) {
    this.#before = before;
    this.#pauses = pauses;
  }

  /** `null`: it is asked for. */
  leftOut({ host, absence }: FetchItem, now: number): LeftOut | null {
    if (absence === undefined) return null;
    const misses = this.#misses.get(keyOf(host, absence)) ?? 0;
    const known = absence === 'dead' ? (this.#before(host) ?? NO_MISSING_LINKS) : null;
    const from = known === null || this.#isAnyThere(host, 'dead') ? 0 : deadLinksFrom(known, this.#pauses);
    if (from > now) return { reason: 'dead links of its host are requested later', until: from };
    if (misses < SAMPLE) return null;
    const until = known === null ? null : deadLinksFrom(afterDeadLink(known, false, now), this.#pauses);
    return { reason: `${misses} ${REASONS[absence]}`, until };
  }

  /** Counts an answer; what it shows of the host, for the rounds to come. */
  count({ host, absence }: FetchItem, { kind, at }: FetchOutcome): HostObservation | null {
    if (absence === undefined || kind === 'failed' || kind === 'denied') return null;
    const key = keyOf(host, absence);
    if (kind !== 'gone') this.#misses.set(key, null);
    else if (!this.#isAnyThere(host, absence)) this.#misses.set(key, (this.#misses.get(key) ?? 0) + 1);
    return absence === 'dead' ? { deadLink: { at, isThere: kind !== 'gone' } } : null;
  }

  #isAnyThere(host: string, absence: Absence): boolean {
    return this.#misses.get(keyOf(host, absence)) === null;
  }
}

const keyOf = (host: string, absence: Absence): string => `${absence} ${host}`;
