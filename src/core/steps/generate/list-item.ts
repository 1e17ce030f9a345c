import { BARE_CHARS } from '../../domain/crawl/rendering/render-trials.ts';
import type { Absence } from '../../domain/crawl/revisit/missing-links.ts';
import { type CrawlDatum, NO_VALIDATORS } from '../../domain/crawl/states/datum.ts';
import { isPartial, takesPartial } from '../../domain/crawl/states/truncation.ts';
import type { FetchItem } from '../../ports/segment-store.ts';
import type { AuditChoice } from './hazard-round.ts';

/**
 * The entry of the fetch list for a record.
 * @param audits asked for a visit that could be skipped by headers
 * @param absence of a URL that is probably not there; `null`: it may be
 */
export function fetchItem(
  record: CrawlDatum,
  place: Pick<FetchItem, 'index' | 'host' | 'partition'>,
  audits: AuditChoice,
  absence: Absence | null = null,
): FetchItem {
  // The content of a gone page may have been pruned: should it be back, its body is needed even where it is the same.
  // A partial copy shows nothing of the page to be unchanged.
  const isHeld = record.state !== 'gone' && !needsBody(record) && !isPartial(record.truncated);
  const validators = isHeld ? record.validators : NO_VALIDATORS;
  const digest = isHeld ? record.digest : null;
  const isAuditable = digest !== null && (validators.etag !== null || validators.lastModified !== null);
  return {
    ...place,
    url: record.url,
    depth: record.depth,
    score: record.score,
    validators,
    ...digests(record, digest),
    ...(record.textChars !== null && record.textChars < BARE_CHARS && { isBare: true }),
    ...(digest !== null && { claims: { contentType: record.contentType, robotsTag: record.robotsTag } }),
    audit: isAuditable && audits.next(place.host),
    ...(takesPartial(record) && { takesPartial: true }),
    ...(absence !== null && { absence }),
    metadata: record.metadata,
  };
}

/** The digest that the next body is compared with, which is static whatever is shown. */
function digests({ rendered }: CrawlDatum, digest: string | null): Pick<FetchItem, 'digest' | 'rendered'> {
  if (rendered === null || digest === null) return { digest };
  return { digest: rendered.digest, rendered: { ...rendered, shown: digest } };
}

/**
 * Whether the body of a page is needed, so that no conditional request is sent: the page could not be parsed, and the
 * parser may have been mended. An unsupported type lasts, so there a server that has validators may answer 304.
 */
function needsBody({ state, lastError, validators }: CrawlDatum): boolean {
  const { etag, lastModified } = validators;
  return state === 'parse_failed' && (lastError?.code !== 'parse-unsupported' || (etag ?? lastModified) === null);
}
