import type { FetchOutcome } from '../../domain/crawl/states/outcome.ts';
import { isUnreached } from '../../domain/errors.ts';
import type { RobotsVerdict } from '../../ports/robots.ts';

/**
 * State of a host as a request shows it: `ailing` was reached, but failed; `unasked`: the proxy on the way to it
 * failed, which says nothing of the host.
 */
export type Reach = 'well' | 'ailing' | 'unreached' | 'unasked';

/** Statuses of the server rather than of one page: it is overloaded, or the server behind it is away. */
const HOST_STATUSES = new Set([502, 503, 504]);

/** Whether a code says that the host or the network failed, rather than one page. */
const isHostFault = (code: string): boolean => isUnreached(code) || code === 'fetch-timeout';

export function reachOf(outcome: FetchOutcome): Reach {
  if (outcome.kind !== 'failed') return 'well';
  if (outcome.code === 'proxy-failed') return 'unasked';
  if (isHostFault(outcome.code)) return 'unreached';
  return outcome.code === 'fetch-aborted' || HOST_STATUSES.has(outcome.status ?? 0) ? 'ailing' : 'well';
}

/** As a request for robots.txt shows it that ended in a denial. */
export function reachByRobots({ code, fault }: RobotsVerdict): Reach {
  const cause = code === 'robots-unreachable' ? fault?.split(':', 1)[0] : code;
  if (cause === 'proxy-failed') return 'unasked';
  return isHostFault(cause ?? '') ? 'unreached' : 'well';
}
