// operations/cookies/: the cookies that a crawl keeps: taken in from a browser, listed, removed.

import type { Config } from '../../core/config/schema.ts';
import { CrawlError } from '../../core/domain/errors.ts';
import { type HostPattern, parseHostPattern } from '../../core/domain/url/canonical/host-pattern.ts';
import { hostOf } from '../../core/domain/url/canonical/url-key.ts';
import {
  addCookies,
  type CookieView,
  cookieViews,
  type ImportedCookie,
  readNetscapeCookies,
} from '../../http/hosts/cookie-jar.ts';
import { cookieFile, cookieFiles } from '../../store/files/cookie-files.ts';
import type { CrawlDeps } from '../deps.ts';
import type { RevisitOperations } from '../loop/revisit-operations.ts';

export interface CookieOperations {
  /** Imports a `cookies.txt`: each cookie goes into the jars of those entries of `hosts:` that may send it. */
  importCookies(text: string): Promise<CookieImport>;
  /** Removes all cookies, or those of the entry with this pattern. Resolves with their number. */
  clearCookies(match?: string): Promise<number>;
}

export interface CookieImport {
  readonly imported: number;
  /** Domains of cookies that belong to no entry with `cookies: true`. */
  readonly unused: readonly string[];
  /** Numbers of lines that have another format. */
  readonly faults: readonly number[];
  /** Pages that waited for a login and are now due; absent in a plan. */
  readonly due?: number;
}

export interface CookieRow extends CookieView {
  /** The pattern of the entry that the jar belongs to. */
  readonly match: string;
}

export function cookieOperations(
  { dir, config }: Pick<CrawlDeps, 'dir' | 'config'>,
  retry: RevisitOperations['retry'],
): CookieOperations {
  return {
    async importCookies(text) {
      const plan = plannedImport(config, text);
      for (const [match, cookies] of plan.jars) addCookies(cookieFile(dir, match), cookies);
      if (plan.jars.size === 0) return { ...plan.summary, due: 0 };
      const { broughtForward } = await retry({ reasons: ['login-required'] });
      return { ...plan.summary, due: broughtForward };
    },
    async clearCookies(match) {
      const jars = cookieFiles(dir).filter((jar) => match === undefined || jar.match === match);
      if (match !== undefined && jars.length === 0) {
        throw new CrawlError('usage-invalid', `there are no cookies of "${match}"; "incrawl cookies list" names all`);
      }
      const removed = jars.reduce((sum, { text }) => sum + cookieViews(text, 0).length, 0);
      for (const jar of jars) jar.remove();
      return removed;
    },
  };
}

/** The cookies of a state directory, without their values. */
export function storedCookies(dir: string, now: number): CookieRow[] {
  return cookieFiles(dir).flatMap(({ match, text }) => cookieViews(text, now).map((view) => ({ match, ...view })));
}

/** What an import would do. Throws `usage-invalid` if no entry keeps cookies. */
export function plannedImport(
  { hosts }: Config,
  text: string,
): { readonly jars: ReadonlyMap<string, readonly ImportedCookie[]>; readonly summary: CookieImport } {
  const entries = hosts.filter(({ cookies }) => cookies === true);
  if (entries.length === 0) {
    const how = 'add one for the site, such as "- match: shop.example.org" with "cookies: true"';
    throw new CrawlError('usage-invalid', `no entry of "hosts:" in the configuration has "cookies: true"; ${how}`);
  }
  const { cookies, faults } = readNetscapeCookies(text);
  const jars = new Map<string, ImportedCookie[]>();
  const unused = new Set<string>();
  let imported = 0;
  for (const cookie of cookies) {
    const takers = entries.filter(({ match }) => mayGet(parseHostPattern(match) as HostPattern, cookie));
    if (takers.length === 0) unused.add(cookie.domain);
    else imported++;
    for (const { match } of takers) jars.set(match, [...(jars.get(match) ?? []), cookie]);
  }
  return { jars, summary: { imported, unused: [...unused].sort(), faults } };
}

/** Whether the cookie may be sent to a host of the pattern. */
function mayGet(pattern: HostPattern, { domain, isHostOnly }: ImportedCookie): boolean {
  const isBelow = (name: string, of: string): boolean => name === of || name.endsWith(`.${of}`);
  if (pattern.kind === 'domain') {
    return isBelow(domain, pattern.domain) || (!isHostOnly && isBelow(pattern.domain, domain));
  }
  const name = (pattern.kind === 'host' ? pattern.host : hostOf(pattern.prefix)).replace(/:\d+$/, '');
  return isHostOnly ? name === domain : isBelow(name, domain);
}
