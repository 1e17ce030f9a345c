import type { LearntChange } from '../change/change-belief.ts';
import { crawlRate, type HostExpectation, rateOfGroup } from './expectation.ts';
import { type HostClock, hazardBetween, learntClock, NO_CLOCK } from './host-clock.ts';
import { learntLevel, NO_LEVEL } from './level.ts';

const GROUP = 0;

/** How the pages of a whole crawl, and of each of its hosts, were seen to change, in memory. A host is one group. */
export class HostClocks {
  readonly #firstIntervalMs: number;
  readonly #hosts = new Map<string, HostClock>();
  #level = NO_LEVEL;

  constructor(firstIntervalMs: number) {
    this.#firstIntervalMs = firstIntervalMs;
  }

  /** Changes expected of a page of the host, per ms, and the time of its clock since a fetch, ms. */
  of(
    host: string | undefined,
    lastAt: number | null,
    now: number,
  ): { readonly rate: number; readonly hazardMs: number } {
    const above = crawlRate(this.#level, this.#firstIntervalMs, now);
    const clock = (host === undefined ? undefined : this.#hosts.get(host)) ?? NO_CLOCK;
    const expected: HostExpectation = { clock, above };
    return { rate: rateOfGroup(expected, GROUP, now), hazardMs: hazardBetween(clock, GROUP, lastAt ?? now, now) };
  }

  learn(host: string | undefined, at: number, elapsedMs: number, seen: Omit<LearntChange, 'belief'>): void {
    this.#level = learntLevel(this.#level, { visits: 1, changes: seen.changes, watchedMs: elapsedMs }, at);
    if (host === undefined || elapsedMs === 0) return;
    const looks = [{ group: GROUP, at, elapsedMs, ...seen }];
    const clock = this.#hosts.get(host) ?? NO_CLOCK;
    this.#hosts.set(host, learntClock(clock, { looks, pages: new Map(), visited: new Map([[GROUP, at]]) }));
  }
}
