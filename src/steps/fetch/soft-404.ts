import {
  type AnswerToNothing,
  addressOfNothing,
  answerToNothing,
  asSoft404,
  isAddressOfNothing,
  isLikeNothing,
  NOTHING_LASTS_MS,
} from '../../domain/crawl/change/soft-404.ts';
import { NO_VALIDATORS } from '../../domain/crawl/states/datum.ts';
import { isWithinLast } from '../../domain/within-last.ts';
import type { CrawlDb, HostFacts } from '../../ports/crawl-db.ts';
import type { FetchItem, HostObservation } from '../../ports/segment-store.ts';
import type { Candidate } from '../generate/fetch-list.ts';
import type { JoinedRecord } from '../update/joined-records.ts';

/**
 * An address that cannot exist for each host of a fetch list whose answer to such is not known, or was given too long
 * ago.
 */
export function nothingToAsk(
  list: readonly Candidate[],
  facts: Readonly<Record<string, HostFacts>>,
  now: number,
  deps: {
    readonly random: () => number;
    readonly partition: (host: string) => number;
    readonly admits: (url: string) => boolean;
  },
): FetchItem[] {
  const asked = new Set<string>();
  const items: FetchItem[] = [];
  for (const { host, entry } of list) {
    const known = facts[host]?.nothing ?? null;
    if (asked.has(host) || (known !== null && isWithinLast(NOTHING_LASTS_MS, known.at, now))) continue;
    asked.add(host);
    const url = addressOfNothing(entry.url, deps.random());
    if (!deps.admits(url)) continue;
    items.push({
      index: items.length,
      url,
      host,
      partition: deps.partition(host),
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

/**
 * The records of a chunk with pages that say what their host says where there is nothing turned into "gone", and with
 * what the answers of hosts teach. A host whose start page, or whose seed, says the same answers everything alike: then
 * its answer tells nothing.
 */
export async function withSoft404(db: CrawlDb, chunk: readonly JoinedRecord[]): Promise<readonly JoinedRecord[]> {
  const hosts = [...new Set(chunk.map(({ fetched }) => fetched.host))];
  const rows = await db.hostRows(hosts);
  const nothing = new Map(hosts.map((host, i) => [host, rows[i]?.facts.nothing ?? null]));
  const observations = new Map<JoinedRecord, AnswerToNothing>();
  const probes = chunk.filter(({ fetched }) => isAddressOfNothing(fetched.url));
  if (probes.length === 0 && [...nothing.values()].every((answer) => answer === null)) return chunk;
  for (const record of probes) {
    const answer = answerToNothing(record.fetched.outcome, record.parsed?.outcome ?? null);
    observations.set(record, answer);
    nothing.set(record.fetched.host, answer);
  }
  const alike = chunk.filter(
    ({ fetched, parsed }) =>
      !isAddressOfNothing(fetched.url) && isLikeNothing(parsed?.outcome ?? null, nothing.get(fetched.host) ?? null),
  );
  const known = await db.getMany(alike.map(({ fetched }) => fetched.url));
  for (const [i, record] of alike.entries()) {
    const { host, url, outcome } = record.fetched;
    if (known[i]?.seed !== true && new URL(url).pathname !== '/') continue;
    const useless = { at: outcome.at, signature: null, signatureName: null, textChars: 0 };
    observations.set(record, useless);
    nothing.set(host, useless);
  }
  return chunk.map((record): JoinedRecord => {
    const { fetched, parsed } = record;
    const answer = observations.get(record);
    if (answer !== undefined) {
      const observation: HostObservation = { ...fetched.observation, nothing: answer };
      return { parsed, fetched: { ...fetched, observation } };
    }
    const { outcome } = fetched;
    const isSoft =
      outcome.kind === 'success' &&
      alike.includes(record) &&
      isLikeNothing(parsed?.outcome ?? null, nothing.get(fetched.host) ?? null);
    return isSoft ? { parsed: null, fetched: { ...fetched, outcome: asSoft404(outcome) } } : record;
  });
}
