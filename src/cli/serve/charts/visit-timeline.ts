import type { RecordView } from '../../../crawler.ts';
import { DAY_MS } from '../../../domain/time.ts';
import { type Markup, markup } from '../markup.ts';

const WIDTH = 640;
const HEIGHT = 64;
const MARGIN = 10;

/** The visits of a page on a time line: tall filled marks for changes, hollow ones for none, the next visit dashed. */
export function visitTimeline(record: RecordView): Markup | null {
  const visits = record.visits.map(({ at, outcome, distance }) => ({ at: Date.parse(at), outcome, distance }));
  const first = visits[0];
  const last = visits.at(-1);
  if (first === undefined || last === undefined) return null;
  const next = record.nextFetchAt === null ? null : Date.parse(record.nextFetchAt);
  // A next visit that is years away would squeeze the others together.
  const end = Math.max(last.at, Math.min(next ?? last.at, last.at + (last.at - first.at || DAY_MS)));
  const xOf = (at: number): number =>
    Math.round(10 * (MARGIN + ((at - first.at) / Math.max(1, end - first.at)) * (WIDTH - 2 * MARGIN))) / 10;
  const marks = visits.map(({ at, outcome, distance }) => {
    const title = `${new Date(at).toISOString()}: ${outcome}${distance === null ? '' : `, ${distance} bits`}`;
    const height = outcome === 'modified' ? 14 + Math.min(26, distance ?? 26) : outcome === 'new' ? 40 : 12;
    return markup`<g class="visit ${kindOf(outcome)}"><title>${title}</title><line x1="${xOf(at)}" x2="${xOf(at)}" y1="${HEIGHT - 14}" y2="${HEIGHT - 14 - height}"/><circle cx="${xOf(at)}" cy="${HEIGHT - 14}" r="4"/></g>`;
  });
  const future =
    next === null
      ? null
      : markup`<g class="visit next"><title>${`next visit ${record.nextFetchAt}`}</title><line x1="${xOf(Math.min(next, end))}" x2="${xOf(Math.min(next, end))}" y1="4" y2="${HEIGHT - 4}"/></g>`;
  return markup`<svg class="chart timeline" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="Visits over time; the table below lists them"><line class="grid" x1="0" x2="${WIDTH}" y1="${HEIGHT - 14}" y2="${HEIGHT - 14}"/>${marks}${future}</svg>`;
}

function kindOf(outcome: string): string {
  if (outcome === 'modified' || outcome === 'new') return 'changed';
  if (outcome.startsWith('unchanged')) return 'unchanged';
  return outcome === 'redirect' ? 'moved' : 'failed';
}
