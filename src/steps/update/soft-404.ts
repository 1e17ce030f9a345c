import {
  asSoft404,
  isLikeMissingPage,
  isMissingPageUrl,
  type MissingPage,
  missingPageOf,
} from '../../domain/crawl/states/soft-404.ts';
import type { CrawlDb } from '../../ports/crawl-db.ts';
import type { HostObservation } from '../../ports/segment-store.ts';
import type { JoinedRecord } from './joined-records.ts';

/**
 * The records of a chunk in which soft 404s have become "gone": pages with the text that their host gives for an
 * address that cannot exist. Answers to probes become observations of their hosts. Where a start page or a seed has
 * that text too, the host answers everything alike, and its answer is kept as one that no page matches.
 */
export async function withSoft404(db: CrawlDb, chunk: readonly JoinedRecord[]): Promise<readonly JoinedRecord[]> {
  const hosts = [...new Set(chunk.map(({ fetched }) => fetched.host))];
  const rows = await db.hostRows(hosts);
  const nothing = new Map(hosts.map((host, i) => [host, rows[i]?.facts.nothing ?? null]));
  const observations = new Map<JoinedRecord, MissingPage>();
  const probes = chunk.filter(({ fetched }) => isMissingPageUrl(fetched.url));
  if (probes.length === 0 && [...nothing.values()].every((answer) => answer === null)) return chunk;
  for (const record of probes) {
    const answer = missingPageOf(record.fetched.outcome, record.parsed?.outcome ?? null);
    observations.set(record, answer);
    nothing.set(record.fetched.host, answer);
  }
  const alike = chunk.filter(
    ({ fetched, parsed }) =>
      !isMissingPageUrl(fetched.url) && isLikeMissingPage(parsed?.outcome ?? null, nothing.get(fetched.host) ?? null),
  );
  const known = await db.getMany(alike.map(({ fetched }) => fetched.url));
  for (const [i, record] of alike.entries()) {
    const { host, url, outcome } = record.fetched;
    if (known[i]?.seed !== true && new URL(url).pathname !== '/') continue;
    const unmatched = { at: outcome.at, signature: null, signatureName: null, textChars: 0 };
    observations.set(record, unmatched);
    nothing.set(host, unmatched);
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
      isLikeMissingPage(parsed?.outcome ?? null, nothing.get(fetched.host) ?? null);
    return isSoft ? { parsed: null, fetched: { ...fetched, outcome: asSoft404(outcome) } } : record;
  });
}
