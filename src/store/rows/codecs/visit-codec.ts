import type { Visit, VisitOutcome } from '../../../core/domain/crawl/states/datum.ts';

/** Numbers of the outcomes on disk. Append only. */
const OUTCOMES = Object.freeze([
  'new',
  'modified',
  'unchanged-304',
  'unchanged-headers',
  'unchanged-digest',
  'redirect',
  'gone',
  'failed',
  'denied',
  'parse-failed',
] as const satisfies readonly VisitOutcome[]);

const NUMBER_OF_OUTCOME = new Map<VisitOutcome, number>(OUTCOMES.map((outcome, i) => [outcome, i]));

const FIELDS = 6;

/**
 * The ring of visits as one flat list, since small numbers take few bytes: each time is relative to the one before, and
 * an elapsed time that equals this difference is `true`.
 */
export function packVisits(visits: readonly Visit[]): unknown[] | null {
  if (visits.length === 0) return null;
  const flat: unknown[] = [];
  let before = 0;
  for (const visit of visits) {
    const number = NUMBER_OF_OUTCOME.get(visit.outcome);
    if (number === undefined) throw new TypeError(`a visit outcome was expected, got "${String(visit.outcome)}"`);
    const sinceBefore = visit.at - before;
    flat.push(
      sinceBefore,
      number,
      visit.distance,
      visit.elapsedMs === sinceBefore ? true : visit.elapsedMs,
      visit.bytes,
      visit.intervalMs,
    );
    before = visit.at;
  }
  return flat;
}

export function unpackVisits(flat: readonly unknown[] | null): Visit[] {
  const visits: Visit[] = [];
  if (flat === null) return visits;
  let before = 0;
  for (let i = 0; i < flat.length; i += FIELDS) {
    const sinceBefore = flat[i] as number;
    const outcome = OUTCOMES[flat[i + 1] as number];
    if (outcome === undefined) throw new TypeError(`no visit outcome has the number ${String(flat[i + 1])}`);
    const elapsed = flat[i + 3] as number | true | null;
    before += sinceBefore;
    visits.push({
      at: before,
      outcome,
      distance: flat[i + 2] as number | null,
      elapsedMs: elapsed === true ? sinceBefore : elapsed,
      bytes: flat[i + 4] as number,
      intervalMs: flat[i + 5] as number,
    });
  }
  return visits;
}
