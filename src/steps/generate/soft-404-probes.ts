import { NO_VALIDATORS } from '../../domain/crawl/states/datum.ts';
import { isMissingPageOld, missingPageUrl } from '../../domain/crawl/states/soft-404.ts';
import type { HostFacts } from '../../ports/crawl-db.ts';
import type { FetchItem } from '../../ports/segment-store.ts';
import type { Candidate } from './fetch-list.ts';

export interface ProbeRules {
  readonly random: () => number;
  readonly partition: (host: string) => number;
  /** Whether the URL filters let an address in. */
  readonly admits: (url: string) => boolean;
}

/**
 * An address that cannot exist for each host of a fetch list whose answer to such an address is not known, or is too
 * old.
 */
export function soft404Probes(
  list: readonly Candidate[],
  facts: Readonly<Record<string, HostFacts>>,
  now: number,
  { random, partition, admits }: ProbeRules,
): FetchItem[] {
  const asked = new Set<string>();
  const items: FetchItem[] = [];
  for (const { host, entry } of list) {
    const known = facts[host]?.nothing ?? null;
    if (asked.has(host) || (known !== null && !isMissingPageOld(known, now))) continue;
    asked.add(host);
    const url = missingPageUrl(entry.url, random());
    if (!admits(url)) continue;
    items.push({
      index: items.length,
      url,
      host,
      partition: partition(host),
      depth: 0,
      score: 1,
      validators: NO_VALIDATORS,
      digest: null,
      audit: false,
      metadata: {},
    });
  }
  return items;
}
