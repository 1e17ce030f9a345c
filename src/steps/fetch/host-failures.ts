import { CrawlError } from '../../domain/errors.ts';
import type { Log } from '../../ports/log.ts';
import type { Reach } from './host-reach.ts';

export interface FailureLimits {
  /** Failures in a row after which a host gets no more requests in this step. */
  readonly hostFailureLimit: number;
  /** Failures in a row over all hosts after which the step ends: the network is down. */
  readonly failureLimit: number;
}

/** Failures in a row: of each host, and over all hosts. */
export class HostFailures {
  readonly #log: Log;
  readonly #options: FailureLimits;
  readonly #onNetworkDown: (error: CrawlError) => void;
  readonly #inARow = new Map<string, number>();
  /** Hosts that get no more requests in this step, and why. */
  readonly #failing = new Map<string, string>();
  #overAll = 0;

  /** @param onNetworkDown called when no host can be reached: the step has to end */
  constructor(log: Log, options: FailureLimits, onNetworkDown: (error: CrawlError) => void) {
    this.#log = log;
    this.#options = options;
    this.#onNetworkDown = onNetworkDown;
  }

  /** Why a host gets no more requests in this step; `undefined`: it does. */
  reason(host: string): string | undefined {
    return this.#failing.get(host);
  }

  /** Whether the last request to a host failed. */
  hasFailed(host: string): boolean {
    return this.#inARow.has(host);
  }

  /**
   * Stops requests to a host after too many failures in a row, and the step when no host can be reached.
   * @param isNews whether the failure counts towards the second: a host without robots.txt is asked for that alone
   */
  count(host: string, reach: Reach, isNews = true): void {
    const { failureLimit, hostFailureLimit } = this.#options;
    if (reach !== 'unreached' && reach !== 'unasked') this.#overAll = 0;
    else if (isNews) this.#overAll++;
    if (this.#overAll >= failureLimit) {
      const fetches = `${this.#overAll} fetches in a row could not reach their hosts (fetch.failureLimit)`;
      this.#onNetworkDown(new CrawlError('failure-limit', `${fetches}; is the network down?`));
    }
    if (reach === 'unasked') return;
    const failures = reach !== 'well' ? (this.#inARow.get(host) ?? 0) + 1 : 0;
    if (failures === 0) this.#inARow.delete(host);
    else this.#inARow.set(host, failures);
    if (failures < hostFailureLimit) return;
    const message = `${failures} failures in a row`;
    this.#failing.set(host, message);
    this.#log.warn('too many failures in a row: no more requests to this host in this round', {
      host,
      code: 'host-failing',
      message,
    });
  }
}
