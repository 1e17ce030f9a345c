// core/config/hosts/: the entries of `hosts:`: settings for some hosts, domains or URL prefixes.

import type { DayBound, DayBoundOf } from '../../domain/crawl/revisit/budget-shares.ts';
import type { Config } from '../schema.ts';
import { hostEntriesBy } from './host-entries.ts';

/** The crawl depth that `hosts:` sets for a URL, as layers; Infinity: none. `undefined` where no entry sets one. */
export function layersByHost({ hosts }: Pick<Config, 'hosts'>): ((url: string) => number) | undefined {
  if (hosts.every(({ depth }) => depth === undefined)) return undefined;
  const entries = hostEntriesBy(hosts);
  return (url) => entries.forUrl(url)?.entry.depth ?? Number.POSITIVE_INFINITY;
}

/** The bounds by the day that `hosts:` sets for hosts. `undefined` where no entry sets one. */
export function dayBoundsByHost({ hosts }: Pick<Config, 'hosts'>): DayBoundOf | undefined {
  if (hosts.every(({ fetchesPerDay }) => fetchesPerDay === undefined)) return undefined;
  const entries = hostEntriesBy(hosts);
  return (host): DayBound | undefined => {
    const found = entries.forHost(host);
    const fetchesPerDay = found?.entry.fetchesPerDay;
    return fetchesPerDay === undefined ? undefined : { fetchesPerDay, name: `hosts[${found?.index}].fetchesPerDay` };
  };
}
