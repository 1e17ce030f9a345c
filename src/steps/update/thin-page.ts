import type { CrawlDatum } from '../../domain/crawl/states/datum.ts';
import { THIN_KEY, thinnessOf } from '../../domain/url/families/visit-worth.ts';
import type { Found, LinkDeps } from './found-links.ts';
import type { JoinedRecord } from './joined-records.ts';

/** The page, marked where it has hardly a word of its own: its family may ask how many of its pages do. */
export function withThinness(
  { books }: LinkDeps['admission'],
  found: ReadonlyMap<string, Found>,
  { datum, parsed }: Pick<JoinedRecord, 'parsed'> & { readonly datum: CrawlDatum },
  targets: readonly string[],
): CrawlDatum {
  if (books === null || parsed?.outcome.kind !== 'parsed') return datum;
  const content = (): readonly string[] => targets.filter((target) => (found.get(target)?.noise ?? null) === null);
  const thin = thinnessOf(parsed.outcome.ownChars, () => books.ownLinks(datum.url, content()));
  return thin === null ? datum : { ...datum, metadata: { ...datum.metadata, [THIN_KEY]: thin } };
}
