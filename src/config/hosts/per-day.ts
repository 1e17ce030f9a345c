import type { DayBound, DayBoundOf } from '../../domain/crawl/revisit/fetches-of-day.ts';
import type { Config } from '../schema.ts';
import { hostEntriesBy } from './host-entries.ts';

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
