import type { Config } from '../config/schema.ts';
import { matchesUrl, parseHostPattern } from '../domain/url/canonical/host-pattern.ts';
import type { Log } from '../ports/log.ts';

/**
 * Warns, once, of entries of `hosts:` that are not for their own login page: what they send is not sent to it, and
 * cookies that it sets are not kept for their pages.
 */
export function loginsApart({ hosts }: Pick<Config, 'hosts'>, log: Pick<Log, 'warn'>): () => void {
  let hasWarned = false;
  return () => {
    if (hasWarned) return;
    hasWarned = true;
    for (const [i, { match, login }] of hosts.entries()) {
      const pattern = parseHostPattern(match);
      if (login === undefined || pattern === null || matchesUrl(pattern, login)) continue;
      log.warn(
        `hosts[${i}].login: ${login} lies outside "${match}", so this entry is not for it: its credentials and cookies ` +
          'are not sent there, and cookies set there are not kept for its pages. Expected a match for both',
      );
    }
  };
}
