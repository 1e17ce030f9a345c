import type { Expression } from '../../core/domain/query/expression.ts';
import { UrlSet } from '../../core/domain/url/hash/url-set.ts';
import { findRecords, type RecordQuery } from '../../core/steps/records/find-records.ts';
import { changedPages, type Since } from '../../delivery/export/changed-pages.ts';
import type { CrawlDeps } from '../../operations/deps.ts';
import { pageMatches } from '../../operations/state/page-matches.ts';
import { domainOf } from '../../operations/system/domain-of.ts';

/** Conditions on the pages that are parsed anew; a page must meet all of them. */
export interface ReparseQuery extends Pick<RecordQuery, 'host' | 'where'> {
  /** Only pages that changed since then. */
  readonly since?: Since;
  /** Only says what would differ: no parse output is stored. The caller gives a copy of the crawl db to write to. */
  readonly dryRun?: boolean;
  /** Pages described in the summary, at most. Default: 10. */
  readonly examples?: number;
}

export interface Selection {
  /** Known pages, of which the crawl has had a content. */
  readonly urls: UrlSet;
  /** Those whose content should be there: pages that are gone lose theirs. */
  readonly expected: number;
}

/** Pages that meet the conditions before anything is changed; some bytes for each are kept. */
export async function selectPages(
  { runtime, store, segments }: Pick<CrawlDeps, 'runtime' | 'store' | 'segments'>,
  { host, where, since }: ReparseQuery,
): Promise<Selection> {
  const { clock, random, onWork } = runtime;
  const { db } = store();
  const changed = since === undefined ? null : await changedPages(db, since);
  const query = { ...(host === undefined ? {} : { host }), ...(where === undefined ? {} : { where }) };
  const env = { now: clock.now(), domainOf };
  const matchesOf = (expression: Expression) => pageMatches([{ db, segments }], expression, env);
  const found = findRecords({ ...env, db, random, onWork, matchesOf }, query);
  const urls = new UrlSet();
  let expected = 0;
  for await (const datum of found) {
    if (datum.digest === null || changed?.has(datum) === false) continue;
    urls.add(datum.url);
    if (datum.state !== 'gone') expected++;
  }
  return { urls, expected };
}
