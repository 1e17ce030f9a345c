import { boundsOfEntry } from '../../core/config/hosts/host-entries.ts';
import type { Config } from '../../core/config/schema.ts';
import { CrawlError } from '../../core/domain/errors.ts';
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

/** Tables and scope by which updatedb recognizes duplicates; `null`: no tables are kept. */
export function repeatDeps(config: Config, db: RowsCrawlDb): Pick<RepeatDeps, 'tables' | 'scopeOf'> | null {
  const { fingerprints } = db;
  return fingerprints === null ? null : { tables: fingerprints, scopeOf: scopesOf(config.dedup.scope) };
}

export function repeatOptions({ dedup: { maxDistance, minOverlap, keep } }: Config): RepeatOptions {
  return { distance: maxDistance, minOverlap, keep };
}

/** All settings on which next visits depend, as text. */
export const scheduleSettings = ({
  schedule: { name, intervalMs, minIntervalMs, maxIntervalMs, bounds },
  hosts,
}: Config): string => {
  const ofHosts = hosts.map((entry) => [entry.match, boundsOfEntry(entry) ?? null]);
  return JSON.stringify([name, intervalMs, minIntervalMs, maxIntervalMs, bounds, ofHosts]);
};

/**
 * Public hosts are crawled only if the operator of the crawler can be reached. Own hosts need no contact: private
 * addresses, and hosts that `http.allowAddresses` names. Throws `contact-missing`.
 */
export function requireContact(contact: string, hosts: Iterable<string>, isOwn: (host: string) => boolean): void {
  if (contact !== '') return;
  for (const host of hosts) {
    if (isOwn(host)) continue;
    throw new CrawlError(
      'contact-missing',
      `${host} is a public host: set agent.contact to a mail address or URL by which its operators can reach you ` +
        '(in conf/incrawl.yaml, by --contact, or by -D agent.contact=you@example.org)',
    );
  }
}
