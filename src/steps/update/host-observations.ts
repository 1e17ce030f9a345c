import { type CrawlDb, type HostFacts, NO_HOST_FACTS } from '../../ports/crawl-db.ts';
import type { FetchedRecord, HostLesson } from '../../ports/segment-store.ts';

/** Host facts with what one fetch taught added. */
export function addLesson(facts: HostFacts, lesson: HostLesson): HostFacts {
  // Field by field: a copy with fields set anew takes several times as long, and this is done for every visit.
  return {
    audits: facts.audits + (lesson.audits ?? 0),
    lies: facts.lies + (lesson.lies ?? 0),
    distrustedUntil: facts.distrustedUntil,
    conditionalHits: facts.conditionalHits + (lesson.conditionalHits ?? 0),
    conditionalMisses: facts.conditionalMisses + (lesson.conditionalMisses ?? 0),
    headHits: facts.headHits + (lesson.headHits ?? 0),
    headMisses: facts.headMisses + (lesson.headMisses ?? 0),
    bytesSaved: facts.bytesSaved + (lesson.bytesSaved ?? 0),
    hintHits: facts.hintHits + (lesson.hintHits ?? 0),
    hintMisses: facts.hintMisses + (lesson.hintMisses ?? 0),
    nothing: lesson.nothing ?? facts.nothing,
    // Segments of older versions do not tell it.
    restUntil: lesson.restUntil ?? facts.restUntil ?? null,
  };
}

/** As {@link addLesson}; a lie also costs the host the trust in its headers until `now + distrustMs`. */
export function learn(facts: HostFacts, lesson: HostLesson, now: number, distrustMs: number): HostFacts {
  const learnt = addLesson(facts, lesson);
  return (lesson.lies ?? 0) > 0 ? { ...learnt, distrustedUntil: now + distrustMs } : learnt;
}

export interface TaughtLesson {
  readonly host: string;
  readonly lesson: HostLesson;
  readonly at: number;
}

/** What the fetches of a chunk taught. */
export function lessonsOf(chunk: readonly { readonly fetched: FetchedRecord }[]): TaughtLesson[] {
  return chunk.flatMap(({ fetched: { host, lesson, outcome } }) =>
    lesson === null ? [] : [{ host, lesson, at: outcome.at }],
  );
}

/** The facts of the hosts concerned after the lessons. */
export async function factsAfter(
  db: CrawlDb,
  taught: readonly TaughtLesson[],
  distrustMs: number,
): Promise<{ host: string; facts: HostFacts }[]> {
  const hosts = [...new Set(taught.map(({ host }) => host))];
  if (hosts.length === 0) return [];
  const rows = await db.hostRows(hosts);
  const facts = new Map(hosts.map((host, i) => [host, rows[i]?.facts ?? NO_HOST_FACTS]));
  for (const { host, lesson, at } of taught)
    facts.set(host, learn(facts.get(host) ?? NO_HOST_FACTS, lesson, at, distrustMs));
  return [...facts].map(([host, fact]) => ({ host, facts: fact }));
}
