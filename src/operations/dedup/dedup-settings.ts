import { createFileNearGrouping } from '../../adapters/files/near-grouping/near-grouping.ts';
import type { NearPlan } from '../../adapters/rows/near/fingerprint-tables.ts';
import type { LevelCrawlDb } from '../../adapters/rows/rows-crawl-db.ts';
import { domainOf } from '../../adapters/system/domain-of.ts';
import type { Config } from '../../config/schema.ts';
import { CrawlError } from '../../domain/errors.ts';
import { canonicalUrl } from '../../domain/url/canonical/canonical-url.ts';
import { hostOf } from '../../domain/url/canonical/url-key.ts';
import type { NearGroupingOptions } from '../../ports/near-grouping.ts';
import type { SegmentStore } from '../../ports/segment-store.ts';
import { type NearOptions, type NearPage, nearPages } from '../../steps/inspect/near-pages.ts';
import { type DedupOptions, type DedupSummary, type DuplicateView, dedup } from '../../steps/update/dedup.ts';
import type { RepeatDeps, RepeatOptions } from '../../steps/update/repeats.ts';
import { fetchedUrls } from '../map-reduce/crawl-links.ts';

/** How the tables of signatures are laid out; `null`: none are kept. */
export function nearPlan({ dedup: { mode, scope, minChars } }: Config): NearPlan | null {
  return mode === 'off' ? null : { scope, minChars, scopeOf: scopesOf(scope) };
}

function scopesOf(scope: Config['dedup']['scope']): (url: string) => string {
  switch (scope) {
    case 'host':
      return hostOf;
    case 'domain':
      return (url) => domainOf(hostOf(url));
    case 'all':
      return () => '';
  }
}

/** What updatedb tells repeats by. */
export function repeatDeps(config: Config, db: LevelCrawlDb): Pick<RepeatDeps, 'tables' | 'scopeOf'> | null {
  const { fingerprints } = db;
  return fingerprints === null ? null : { tables: fingerprints, scopeOf: scopesOf(config.dedup.scope) };
}

export function repeatOptions({ dedup: { maxDistance, keep } }: Config): RepeatOptions {
  return { distance: maxDistance, keep };
}

/** Options of a batch run that are not given are those of the configuration. */
export interface DedupRequest extends Partial<Pick<DedupOptions, 'distance' | 'scope' | 'minChars'>> {
  readonly prefer: DedupOptions['prefer'];
  readonly dryRun: boolean;
  /** Segment whose pages represent: a new batch against the library. */
  readonly incoming?: string;
}

export interface DedupPlace {
  readonly db: LevelCrawlDb;
  readonly segments: SegmentStore;
  readonly tempDir: string;
  /** Ms since the epoch. */
  readonly now: number;
}

export async function dedupAll(
  config: Config,
  { db, segments, tempDir, now }: DedupPlace,
  { incoming: segment, ...request }: DedupRequest,
  onDuplicate?: (duplicate: DuplicateView) => void,
): Promise<DedupSummary> {
  const { scope, minChars, maxDistance: distance } = config.dedup;
  const incoming = segment === undefined ? {} : { incoming: await fetchedUrls(segments, segment) };
  const options = { scope, minChars, distance, ...request, ...incoming };
  const grouping = (plan: NearGroupingOptions) => createFileNearGrouping({ ...plan, dir: tempDir });
  return dedup({ db, domainOf, grouping, now }, options, onDuplicate);
}

export function nearUrl(
  config: Config,
  db: LevelCrawlDb,
  url: string,
  options: Omit<NearOptions, 'scope'> & { readonly scope?: NearOptions['scope'] },
): Promise<NearPage[] | null> {
  const canonical = canonicalUrl(url);
  if ('error' in canonical) throw new CrawlError('url-invalid', canonical.error);
  return nearPages({ db, tables: db.fingerprints, domainOf }, canonical.url, { scope: config.dedup.scope, ...options });
}
