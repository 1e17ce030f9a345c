// http/robots/: robots.txt (RFC 9309): fetched, parsed, cached and asked.

import { isUrl } from '../../core/domain/url/canonical/canonical-url.ts';
import { parseRobots, type RobotsDecision } from './robots-reader.ts';

export interface RobotsCheck {
  readonly allowed: boolean;
  /** Seconds. */
  readonly crawlDelay: number | null;
  readonly sitemaps: readonly string[];
  readonly rule: RobotsDecision['rule'];
}

/** The verdict of a robots.txt on a URL or path for `agent` (a product token, or a User-Agent that begins with one). */
export function checkRobots({ robots, agent, url }: { robots: string; agent: string; url: string }): RobotsCheck {
  const parsed = parseRobots(robots, agent);
  const base = 'http://origin.invalid';
  const { pathname, search, origin } = isUrl(url, base) ? new URL(url, base) : new URL(base);
  const { allowed, rule } = parsed.decide(pathname + search);
  return { allowed, crawlDelay: parsed.crawlDelay, sitemaps: absolute(parsed.sitemaps, origin), rule };
}

/** Sitemaps must be absolute URLs; relative ones are resolved like links, invalid ones are left out. */
export function absolute(sitemaps: readonly string[], origin: string): string[] {
  return sitemaps.flatMap((sitemap) => {
    if (/^https?:\/\//i.test(sitemap)) return isUrl(sitemap) ? [sitemap] : [];
    return isUrl(sitemap, origin) && /^https?:/.test(new URL(sitemap, origin).protocol)
      ? [new URL(sitemap, origin).href]
      : [];
  });
}
