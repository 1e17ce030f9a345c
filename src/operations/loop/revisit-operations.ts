import type { SkipReason } from '../../core/domain/crawl/states/skip-reasons.ts';
import type { Expression } from '../../core/domain/query/expression.ts';
import { normalizedUrl } from '../../core/plugin-host/url-chain.ts';
import type { CrawlDb } from '../../core/ports/crawl-db.ts';
import {
  type RetryQuery,
  type RetrySummary,
  retry,
  type TouchQuery,
  type TouchSummary,
  touch,
  touchMatching,
} from '../../core/steps/bring-forward.ts';
import type { CrawlDeps } from '../deps.ts';
import { pageMatches } from '../state/page-matches.ts';
import { domainOf } from '../system/domain-of.ts';

/** Earlier next visits on request. */
export interface RevisitOperations {
  /** Brings the next visit of known URLs forward to `at` (default: now). */
  touch(urls: readonly string[], options?: { readonly at?: number }): Promise<TouchSummary>;
  /** The same for all known URLs that match; without a condition, for all that are still visited. */
  touchMatching(
    query: TouchQuery,
    options?: { readonly at?: number },
  ): Promise<Omit<TouchSummary, 'unknown' | 'invalid'>>;
  /** Makes failed, refused or gone URLs due at once; `onUrl` is called with each. */
  retry(query: RetryQuery, onUrl?: (url: string, reason: SkipReason | null) => void): Promise<RetrySummary>;
}

export interface RevisitDeps extends Pick<CrawlDeps, 'runtime' | 'plugins' | 'segments'> {
  store(): { readonly db: CrawlDb };
  /** The parts of the crawl with their pages; default: the crawl db is the only part. */
  parts?(): Parameters<typeof pageMatches>[0];
}

export function revisitOperations({ runtime, plugins, store, segments, parts }: RevisitDeps): RevisitOperations {
  const { loaded, policy } = plugins;
  const { clock, onWork } = runtime;
  return {
    async touch(urls, options = {}) {
      const known: string[] = [];
      const invalid: { url: string; error: string }[] = [];
      for (const input of urls) {
        const { url, reason } = normalizedUrl(loaded, input);
        if (url === null) invalid.push({ url: input, error: reason ?? 'refused' });
        else known.push(url);
      }
      const now = clock.now();
      return { ...(await touch({ db: store().db, policy, now }, known, options.at ?? now)), invalid };
    },
    touchMatching(query, { at = clock.now() } = {}) {
      const { db } = store();
      const env = { now: clock.now(), domainOf };
      const matchesOf = (expression: Expression) => pageMatches(parts?.() ?? [{ db, segments }], expression, env);
      return touchMatching({ ...env, db, policy, onWork, random: runtime.random, matchesOf }, query, at);
    },
    retry: (query, onUrl) => retry({ db: store().db, policy, now: clock.now(), onWork }, query, onUrl),
  };
}
