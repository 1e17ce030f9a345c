import type { CrawlDatum } from '../../core/domain/crawl/states/datum.ts';
import { CrawlError } from '../../core/domain/errors.ts';
import { type Expression, type Matches, matcherOf, needsContent } from '../../core/domain/query/expression.ts';
import type { PageContent, QueryEnvironment } from '../../core/domain/query/fields.ts';
import { UrlSet } from '../../core/domain/url/hash/url-digest.ts';
import type { CrawlDb } from '../../core/ports/crawl-db.ts';
import type { SegmentStore } from '../../core/ports/segment-store.ts';
import { storedPages } from './stored-pages.ts';

/** Records, and the segments that hold the copies of their pages. */
export interface StoredPart {
  readonly db: CrawlDb;
  readonly segments: SegmentStore;
}

/**
 * Turns an expression into a predicate over records. If it refers to something that only stored copies hold, these are
 * read once beforehand, and their URLs are kept, some 20 bytes each. The predicate throws `segment-missing` for a page
 * that cannot be judged because no segment holds its copy any more.
 */
export async function pageMatches(
  parts: readonly StoredPart[],
  expression: Expression,
  env: QueryEnvironment,
): Promise<Matches> {
  if (!needsContent(expression)) return matcherOf(expression, env);
  const stored = new UrlSet();
  const matching = new UrlSet();
  let content: PageContent | null = null;
  const ofStored = matcherOf(expression, { ...env, contentOf: () => content });
  for (const part of parts) {
    for await (const { datum, parsed } of storedPages(part, () => true, { texts: false })) {
      content = parsed;
      stored.add(datum.url);
      if (ofStored(datum)) matching.add(datum.url);
    }
  }
  const ofOthers = matcherOf(expression, { ...env, contentOf: withoutCopy });
  return (datum) => (stored.has(datum.url) ? matching.has(datum.url) : ofOthers(datum));
}

/** States of pages that have content. */
const WITH_CONTENT: ReadonlySet<CrawlDatum['state']> = new Set(['fetched', 'notmodified', 'duplicate']);

function withoutCopy({ url, state, signatureName }: CrawlDatum): null {
  if (!WITH_CONTENT.has(state) || signatureName === null) return null;
  throw new CrawlError(
    'segment-missing',
    `description, keywords and topics are read from stored pages, and that of ${url} is in no segment any more: ` +
      'put a condition that leaves it out before them, such as "lastFetchAt > now-30d and ..", or fetch it in full ' +
      'again ("incrawl due touch URL", then "incrawl crawl")',
  );
}
