import { ERRORS, type ErrorCode, isUnreached } from '../../domain/errors.ts';
import type { Clock } from '../../ports/clock.ts';
import type { HostLanes, LaneTurn } from '../../ports/host-lanes.ts';
import type { Robots, RobotsVerdict } from '../../ports/robots.ts';

export interface RobotsDeps {
  readonly robots: Robots;
  readonly lanes: HostLanes;
  readonly clock: Clock;
  /** Last request to a host by an earlier process, as far as known, ms since the epoch; 0: none. */
  readonly lastRequestAt?: (host: string) => number;
}

export interface RobotsInTurn {
  readonly verdict: RobotsVerdict;
  /** Whether this turn of the host was used for robots.txt. */
  readonly isFetched: boolean;
  /** Whether a Crawl-delay is longer than the configured delay. */
  readonly isSlow: boolean;
}

/** http and https of a host share one lane, but each may have its own robots.txt. */
const inOtherScheme = (url: string): string =>
  url.startsWith('https:') ? `http${url.slice('https'.length)}` : `https${url.slice('http'.length)}`;

/**
 * The robots.txt verdict on a URL in a turn of its host, and whether robots.txt was fetched for it. A Crawl-delay
 * raises the delay of the host above `delayMs`, or its own one, once a URL is allowed; where http and https
 * have different ones, the longer holds for both.
 */
export async function askRobots(
  { robots, lanes, clock, lastRequestAt = () => 0 }: RobotsDeps,
  url: string,
  host: string,
  delayMs: number,
  turn: LaneTurn,
): Promise<RobotsInTurn> {
  const startedAt = clock.now();
  const cached = robots.cachedVerdict(url);
  const verdict = cached ?? (await robots.verdict(url, () => turn.next()));
  const twin = robots.cachedVerdict(inOtherScheme(url));
  // A refused URL sends no request: it neither waits for a delay, which may be a day, nor makes others wait.
  const wanted = [verdict, twin].map((each) => (each?.allowed ? (each.crawlDelayMs ?? 0) : 0));
  const least = lanes.ownDelayMs(host) ?? delayMs;
  const delay = Math.max(least, ...wanted);
  if (verdict.allowed) lanes.setDelay(host, delay);
  // Lanes do not know the requests of a process before, robots.txt among them; a long delay counts from these, too.
  if (verdict.allowed && delay > least) {
    lanes.pauseUntil(host, Math.max(verdict.fetchedAt, lastRequestAt(host)) + delay);
  }
  const isSent = verdict.code !== 'address-blocked';
  const isFetched = cached === undefined && isSent && verdict.fetchedAt >= startedAt;
  return { verdict, isFetched, isSlow: delay > least };
}

/**
 * As {@link askRobots}, for a URL that is to be requested in this turn of its host. robots.txt is a request like any
 * other: where it was fetched, the URL waits for the next turn. A turn without any request is given back.
 */
export async function verdictInTurn(
  deps: RobotsDeps,
  { url, host }: { readonly url: string; readonly host: string },
  delayMs: number,
  turn: LaneTurn,
): Promise<RobotsInTurn> {
  const asked = await askRobots(deps, url, host, delayMs, turn);
  const { verdict, isFetched, isSlow } = asked;
  const mayAsk = verdict.allowed && pauseByRobots(verdict, deps.clock) === null;
  if (mayAsk ? isSlow && !isFetched : !isFetched) turn.spare();
  // This turn may have come after a shorter delay, which held while every URL was refused.
  if (mayAsk && (isFetched || isSlow)) await turn.next();
  return asked;
}

/**
 * Error code and message for a URL that a verdict does not allow; those of the request for robots.txt that was not
 * sent.
 */
export function denialBy({ code: known, rule, fault }: RobotsVerdict): { code: ErrorCode; message: string } {
  const code = known ?? 'robots-denied';
  if (isUnreached(code) || code === 'address-blocked') return { code, message: fault ?? ERRORS[code].text };
  const detail = rule !== null ? ` (line ${rule.line}: ${rule.text})` : fault !== null ? ` (${fault})` : '';
  return { code, message: `${ERRORS[code].text}${detail}` };
}

/**
 * Until when the host asked to be left alone (Retry-After) when robots.txt was requested. Pages that an older copy of
 * robots.txt allows wait as well.
 */
export const pauseByRobots = ({ restUntil }: RobotsVerdict, clock: Clock): number | null =>
  restUntil !== undefined && restUntil > clock.now() ? restUntil : null;
