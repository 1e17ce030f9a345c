import type { CrawlDatum } from '../../../core/domain/crawl/states/datum.ts';
import { hostOf } from '../../../core/domain/url/canonical/url-key.ts';
import { STATE_COUNT, stateNumber } from '../codecs/record-codec.ts';
import type { StateTally } from '../codecs/row-codecs.ts';

export interface CountedHost {
  readonly host: string;
  readonly tally: StateTally;
}

/**
 * Counts records per host and state. Records come in key order, in which those of a host are adjacent, so one host is
 * in memory.
 */
export class HostCounting {
  readonly all: number[] = new Array<number>(STATE_COUNT).fill(0);
  hosts = 0;
  #host: string | null = null;
  #tally: number[] = [];

  /** The host whose last record came before this one, if any. */
  add(datum: CrawlDatum): CountedHost | null {
    const host = hostOf(datum.url);
    const ended = host === this.#host ? null : this.end();
    if (host !== this.#host) {
      this.#host = host;
      this.#tally = new Array<number>(STATE_COUNT).fill(0);
      this.hosts++;
    }
    const number = stateNumber(datum.state);
    this.all[number]! += 1;
    this.#tally[number]! += 1;
    return ended;
  }

  /** The last host; `null` when there was none. */
  end(): CountedHost | null {
    if (this.#host === null) return null;
    const ended = { host: this.#host, tally: this.#tally };
    this.#host = null;
    return ended;
  }
}

export function isSameTally(a: StateTally, b: StateTally): boolean {
  return a.every((count, i) => count === (b[i] ?? 0));
}

export const totalOf = (tally: StateTally): number => tally.reduce((sum, count) => sum + count, 0);
