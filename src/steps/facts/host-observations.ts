import { type CrawlDb, type HostFacts, NO_HOST_FACTS } from '../../ports/crawl-db.ts';
import type { FetchedRecord, HostObservation } from '../../ports/segment-store.ts';

/** Host facts with what one fetch taught added. */
export function addObservation(facts: HostFacts, observation: HostObservation): HostFacts {
  // Field by field: a copy with fields set anew takes several times as long, and this is done for every visit.
  return {
    audits: facts.audits + (observation.audits ?? 0),
    lies: facts.lies + (observation.lies ?? 0),
    distrustedUntil: facts.distrustedUntil,
    conditionalHits: facts.conditionalHits + (observation.conditionalHits ?? 0),
    conditionalMisses: facts.conditionalMisses + (observation.conditionalMisses ?? 0),
    headHits: facts.headHits + (observation.headHits ?? 0),
    headMisses: facts.headMisses + (observation.headMisses ?? 0),
    bytesSaved: facts.bytesSaved + (observation.bytesSaved ?? 0),
    hintHits: facts.hintHits + (observation.hintHits ?? 0),
    hintMisses: facts.hintMisses + (observation.hintMisses ?? 0),
    nothing: observation.nothing ?? facts.nothing,
    // Segments of older versions do not tell it.
    restUntil: observation.restUntil ?? facts.restUntil ?? null,
  };
}

/** As {@link addLesson}; a lie also costs the host the trust in its headers until `now + distrustMs`. */
export function learn(facts: HostFacts, observation: HostObservation, now: number, distrustMs: number): HostFacts {
  const learnt = addObservation(facts, observation);
  return (observation.lies ?? 0) > 0 ? { ...learnt, distrustedUntil: now + distrustMs } : learnt;
}

export interface DatedObservation {
  readonly host: string;
  readonly observation: HostObservation;
  readonly at: number;
}

/** What the fetches of a chunk taught. */
export function observationsOf(chunk: readonly { readonly fetched: FetchedRecord }[]): DatedObservation[] {
  return chunk.flatMap(({ fetched: { host, observation, outcome } }) =>
    observation === null ? [] : [{ host, observation, at: outcome.at }],
  );
}

/** The facts of the hosts concerned after the lessons. */
export async function factsAfter(
  db: CrawlDb,
  taught: readonly DatedObservation[],
  distrustMs: number,
): Promise<{ host: string; facts: HostFacts }[]> {
  const hosts = [...new Set(taught.map(({ host }) => host))];
  if (hosts.length === 0) return [];
  const rows = await db.hostRows(hosts);
  const facts = new Map(hosts.map((host, i) => [host, rows[i]?.facts ?? NO_HOST_FACTS]));
  for (const { host, observation, at } of taught)
    facts.set(host, learn(facts.get(host) ?? NO_HOST_FACTS, observation, at, distrustMs));
  return [...facts].map(([host, fact]) => ({ host, facts: fact }));
}
