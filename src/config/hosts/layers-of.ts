import type { Config } from '../schema.ts';
import { hostEntriesBy } from './host-entries.ts';

/** The crawl depth that `hosts:` sets for a URL, as layers; Infinity: none. `undefined` where no entry sets one. */
export function layersByHost({ hosts }: Pick<Config, 'hosts'>): ((url: string) => number) | undefined {
  if (hosts.every(({ depth }) => depth === undefined)) return undefined;
  const entries = hostEntriesBy(hosts);
  return (url) => entries.forUrl(url)?.entry.depth ?? Number.POSITIVE_INFINITY;
}
