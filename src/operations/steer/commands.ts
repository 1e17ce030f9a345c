// operations/steer/: what an operator may ask of a crawl while it runs.
import { CrawlError } from '../../domain/errors.ts';
import { typedHost } from '../../domain/url/canonical/typed-url.ts';
import type { LengthenedDelay } from '../../ports/host-lanes.ts';
import type { InjectSummary } from '../../steps/summaries.ts';
import type { TouchSummary } from '../../steps/touch.ts';
import type { RevisitOperations } from '../loop/revisit-operations.ts';
import type { StepOperations } from '../loop/step-operations.ts';
import type { SteerOperations } from './steer-operations.ts';
import { nothingToSteer, type Steering } from './steering.ts';

/** A crawl that takes commands. */
export type SteeredCrawler = SteerOperations & Pick<StepOperations, 'inject'> & Pick<RevisitOperations, 'touch'>;

/**
 * All that a process that crawls can be told by other processes of its user (`src/cli/remote`). Arguments and answers
 * are plain data. Arguments come from outside, and are checked here; those that are wrong reject with `usage-invalid`.
 */
export const COMMANDS = {
  pause: (crawler: SteeredCrawler): Promise<Steering> => crawler.pause(),
  resume: (crawler: SteeredCrawler): Promise<Steering> => crawler.resume(),
  stop: (crawler: SteeredCrawler): Promise<Steering> => crawler.stopAfterRound(),
  /** Takes URLs. */
  touch: async (crawler: SteeredCrawler, urls: unknown): Promise<TouchSummary> => {
    requireCrawl(crawler);
    return crawler.touch(textsOf(urls, 'URLs'));
  },
  /** Takes seed lines, and their source for messages. */
  inject: async (crawler: SteeredCrawler, lines: unknown, source: unknown): Promise<InjectSummary> => {
    requireCrawl(crawler);
    return crawler.inject([{ name: typeof source === 'string' ? source : 'seeds', lines: textsOf(lines, 'lines') }]);
  },
  /** Takes a host and a delay in ms. */
  delay: async (crawler: SteeredCrawler, host: unknown, delayMs: unknown): Promise<LengthenedDelay> => {
    const name = typeof host === 'string' ? typedHost(host) : null;
    if (name === null) throw new CrawlError('usage-invalid', 'expected a host such as www.example.org');
    if (typeof delayMs !== 'number' || !(delayMs >= 0 && Number.isFinite(delayMs))) {
      throw new CrawlError('usage-invalid', 'expected a delay of at least 0 ms');
    }
    return crawler.lengthenDelay(name, delayMs);
  },
};

export type CommandName = keyof typeof COMMANDS;

/** The answer to a command. */
export type CommandAnswer<Name extends CommandName> = Awaited<ReturnType<(typeof COMMANDS)[Name]>>;

/** Other work on the crawl db, such as an import, is not interrupted by writes of others. */
function requireCrawl(crawler: SteeredCrawler): void {
  if (crawler.steering() === null) throw nothingToSteer();
}

function textsOf(value: unknown, what: string): string[] {
  if (Array.isArray(value) && value.every((each) => typeof each === 'string')) return value;
  throw new CrawlError('usage-invalid', `expected a list of ${what}`);
}
