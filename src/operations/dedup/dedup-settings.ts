// operations/dedup/: the settings by which pages count as near duplicates.

import type { Config } from '../../core/config/schema.ts';
import { hostOf } from '../../core/domain/url/canonical/url-key.ts';
import type { RepeatDeps, RepeatOptions } from '../../core/steps/update/repeats.ts';
import type { NearPlan } from '../../store/rows/near/fingerprint-tables.ts';
import type { RowsCrawlDb } from '../../store/rows/rows-crawl-db.ts';
import { domainOf } from '../system/domain-of.ts';

/** Layout of the tables of signatures; `null`: no tables are kept. */
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

/** Tables and scope by which updatedb recognizes repeats; `null`: no tables are kept. */
export function repeatDeps(config: Config, db: RowsCrawlDb): Pick<RepeatDeps, 'tables' | 'scopeOf'> | null {
  const { fingerprints } = db;
  return fingerprints === null ? null : { tables: fingerprints, scopeOf: scopesOf(config.dedup.scope) };
}

export function repeatOptions({ dedup: { maxDistance, minOverlap, keep } }: Config): RepeatOptions {
  return { distance: maxDistance, minOverlap, keep };
}
