import { type IntervalBounds, isOfType } from '../../domain/crawl/revisit/interval-bounds.ts';
import { boundsFor, type SettlePolicy } from '../../domain/crawl/revisit/next-visit.ts';
import type { CrawlDb } from '../../ports/crawl-db.ts';

/**
 * The operator's bounds of the time between two visits of a page. Where MIME types have bounds of their own the record
 * is read, since the due index does not have the type.
 */
export function boundsReader(
  db: Pick<CrawlDb, 'get'>,
  policy: SettlePolicy,
): (url: string) => IntervalBounds | Promise<IntervalBounds> {
  const rules = policy.intervalRules ?? [];
  if (rules.length === 0 && policy.boundsOfUrl === undefined) return () => policy;
  if (!rules.some(isOfType)) return (url) => boundsFor({ url, contentType: null }, policy);
  return async (url) => boundsFor((await db.get(url)) ?? { url, contentType: null }, policy);
}
