import type { CrawlDeps } from '../../operations/deps.ts';
import { reparsePages } from './reparse-pages.ts';
import type { ReparseSummary } from './reparse-summary.ts';
import type { ReparseQuery } from './selection.ts';

export interface ReparseOperations {
  /**
   * Parses the stored responses of pages by the present plugins and options, and applies what differs: records, links,
   * stored parse output, duplicates. No visit is counted, and no schedule learns from it. Applied twice, the second run
   * finds no difference; after one that was cut short, it goes on with what is missing.
   */
  reparse(query?: ReparseQuery, options?: { readonly signal?: AbortSignal }): Promise<ReparseSummary>;
}

export function reparseOperations(deps: CrawlDeps): ReparseOperations {
  return { reparse: (query = {}, { signal } = {}) => reparsePages(deps, query, signal) };
}
