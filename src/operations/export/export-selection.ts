import { domainOf } from '../../adapters/system/domain-of.ts';
import type { CrawlDatum, CrawlState } from '../../domain/crawl/states/datum.ts';
import type { QueryField } from '../../domain/query/fields.ts';
import { impliedBy } from '../../domain/query/implied.ts';
import { matcherOf } from '../../domain/query/match.ts';
import { parsePageExpression } from '../../domain/query/parse.ts';
import { pageMatches, type StoredPart } from '../state/page-matches.ts';

/** Which pages are exported; conditions narrow each other down. */
export interface SelectionQuery {
  /** Default: `fetched` and `notmodified`. */
  readonly status?: readonly CrawlState[];
  /** `host[:port]` */
  readonly host?: string;
  /** An expression over the fields of a record, as `readdb --where` takes. */
  readonly where?: string;
  /** Pages that repeat others, too. */
  readonly withDuplicates?: boolean;
}

export interface ExportSelection {
  has(datum: CrawlDatum): boolean;
  /** Whether it would be exported if it repeated no other. */
  hasDuplicate(datum: CrawlDatum): boolean;
  /**
   * Whether a page may ever have been of this export, as far as its URL says. A page of which that cannot be said is
   * not removed from where the export goes: another export into the same place may hold it.
   */
  mayHaveHad(url: string): boolean;
}

/** Fields that a URL has for ever, whatever its page becomes. */
const OF_URL: ReadonlySet<string> = new Set(['url', 'scheme', 'host', 'domain', 'tld']);
const isOfUrl = (field: QueryField): boolean => OF_URL.has(field.name);

/**
 * @param parts all of the crawl
 * @param now what `now` means in an expression, ms since the epoch
 * @throws CrawlError `usage-invalid`, with the column of the mistake
 */
export async function exportSelection(
  parts: readonly StoredPart[],
  query: SelectionQuery,
  now: number,
): Promise<ExportSelection> {
  const { status, host, where, withDuplicates } = query;
  const states = new Set<CrawlState>(status ?? ['fetched', 'notmodified']);
  if (withDuplicates) states.add('duplicate');
  const expression = where === undefined ? null : parsePageExpression(where, now);
  const implied = expression === null ? null : impliedBy(expression, isOfUrl);
  const env = { now, domainOf };
  const matches = expression === null ? () => true : await pageMatches(parts, expression, env);
  const matchesUrl = implied === null ? () => true : matcherOf(implied, env);
  const isOfHost = (url: string): boolean => host === undefined || new URL(url).host === host;
  const isMeant = (datum: CrawlDatum): boolean =>
    datum.metadata.noindex !== true && isOfHost(datum.url) && matches(datum);
  return {
    has: (datum) => states.has(datum.state) && isMeant(datum),
    hasDuplicate: (datum) => datum.state === 'duplicate' && isMeant(datum),
    // The condition reads only fields that follow from the URL.
    mayHaveHad: (url) => isOfHost(url) && matchesUrl({ url } as CrawlDatum),
  };
}
