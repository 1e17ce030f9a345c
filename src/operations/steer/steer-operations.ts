import { parseSeedLine } from '../../domain/crawl/discovery/seed.ts';
import { canonicalUrl } from '../../domain/url/canonical/canonical-url.ts';
import { hostOf } from '../../domain/url/canonical/url-key.ts';
import type { LengthenedDelay } from '../../ports/host-lanes.ts';
import type { SeedSource } from '../../steps/inject.ts';
import type { CrawlDeps } from '../deps.ts';
import { requireContact } from '../loop/contact-requirement.ts';
import type { RevisitOperations } from '../loop/revisit-operations.ts';
import type { StepOperations } from '../loop/step-operations.ts';
import type { RunSteering, Steering } from './steering.ts';

/**
 * Steering of the crawl that `crawl` runs at this moment. All but `steering` reject with `run-missing` where it runs
 * none. What is asked twice is done once. `touch` and `inject` may be called meanwhile, too: they take their turn with
 * the steps that write records, and their pages are in the next round.
 */
export interface SteerOperations {
  /** `null`: no crawl runs. */
  steering(): Steering | null;
  /** No request begins until `resume`; those under way end. Time limits of a round do not run meanwhile. */
  pause(): Promise<Steering>;
  resume(): Promise<Steering>;
  /** The crawl ends after the round under way, with `stoppedBy: 'asked'`. A paused round waits to be resumed. */
  stopAfterRound(): Promise<Steering>;
  /**
   * The delay between requests to a host, ms, for the rest of the run; 0: as configured. It is never shorter than
   * robots.txt and the configuration ask for: the answer has the one in force.
   */
  lengthenDelay(host: string, delayMs: number): Promise<LengthenedDelay>;
}

type Steered = Pick<StepOperations, 'inject'> & Pick<RevisitOperations, 'touch' | 'touchMatching'>;

/** @param unsteered `touch` and `inject` as they are where no crawl runs */
export function steerOperations(
  { config, runtime, web }: Pick<CrawlDeps, 'config' | 'runtime' | 'web'>,
  steering: RunSteering,
  unsteered: Steered,
): SteerOperations & Steered {
  const { log } = runtime;
  const inTurn = async <Value>(work: () => Promise<Value>): Promise<Value> => {
    const done = await steering.exclusively(work);
    steering.announce();
    return done;
  };
  return {
    steering: () => steering.state,
    async pause() {
      const state = steering.pause();
      log.info('paused: no request begins until the crawl is resumed', { inFlight: state.inFlight });
      return state;
    },
    async resume() {
      const state = steering.resume();
      log.info('resumed');
      return state;
    },
    async stopAfterRound() {
      const state = steering.stopAfterRound();
      log.info('the crawl is to end after this round');
      return state;
    },
    async lengthenDelay(host, delayMs) {
      steering.required();
      const delay = web.lanes.lengthenDelay(host, delayMs);
      log.info('the delay of a host was set', { host, asked: delayMs, ...delay });
      return delay;
    },
    touch: (urls, options) => inTurn(() => unsteered.touch(urls, options)),
    touchMatching: (query, options) => inTurn(() => unsteered.touchMatching(query, options)),
    inject(sources, options) {
      if (steering.state === null) return unsteered.inject(sources, options);
      // The rounds of this crawl would end by it.
      const isOwn = (host: string): boolean => web.isOwnHost(host);
      const known = sources.map((source) => ({ ...source, lines: knownHosts(source, config.agent.contact, isOwn) }));
      return inTurn(() => unsteered.inject(known, options));
    },
  };
}

/** The lines of a source. Throws `contact-missing` at the first one whose host needs a contact, and none is set. */
async function* knownHosts(
  { lines }: SeedSource,
  contact: string,
  isOwn: (host: string) => boolean,
): AsyncGenerator<string> {
  for await (const text of lines) {
    const seed = parseSeedLine(text);
    const canonical = seed === null || 'error' in seed ? null : canonicalUrl(seed.url);
    if (canonical !== null && 'url' in canonical) requireContact(contact, [hostOf(canonical.url)], isOwn);
    yield text;
  }
}
