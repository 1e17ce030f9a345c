import type { HostFacts } from '../ports/crawl-db.ts';
import type { HostLesson } from '../ports/segment-store.ts';

/** Host facts with what one fetch taught added. */
export function addLesson(facts: HostFacts, lesson: HostLesson): HostFacts {
  return {
    ...facts,
    audits: facts.audits + (lesson.audits ?? 0),
    lies: facts.lies + (lesson.lies ?? 0),
    conditionalHits: facts.conditionalHits + (lesson.conditionalHits ?? 0),
    conditionalMisses: facts.conditionalMisses + (lesson.conditionalMisses ?? 0),
    headHits: facts.headHits + (lesson.headHits ?? 0),
    headMisses: facts.headMisses + (lesson.headMisses ?? 0),
    bytesSaved: facts.bytesSaved + (lesson.bytesSaved ?? 0),
  };
}

/** As {@link addLesson}; a lie also costs the host the trust in its headers until `now + distrustMs`. */
export function learn(facts: HostFacts, lesson: HostLesson, now: number, distrustMs: number): HostFacts {
  const learnt = addLesson(facts, lesson);
  return (lesson.lies ?? 0) > 0 ? { ...learnt, distrustedUntil: now + distrustMs } : learnt;
}
