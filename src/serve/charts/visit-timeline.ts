import { DAY_MS, HOUR_MS } from '../../core/domain/time.ts';
import type { RecordView } from '../../crawler/index.ts';
import { counted, span } from '../../render/quantities.ts';
import { type Markup, markup } from '../markup.ts';
import { axisTop, round } from './column-chart.ts';
import { clockText, dayText } from './time-buckets.ts';

/** The marks of the timeline differ in shape and colour. */
const MARKS = {
  new: 'first visit',
  changed: 'changed',
  same: 'unchanged',
  moved: 'moved',
  gone: 'gone',
  failed: 'failed',
} as const;

type Mark = keyof typeof MARKS;

function markOf(outcome: string): Mark {
  if (outcome === 'new') return 'new';
  if (outcome === 'modified') return 'changed';
  if (outcome.startsWith('unchanged')) return 'same';
  if (outcome === 'redirect') return 'moved';
  return outcome === 'gone' ? 'gone' : 'failed';
}

interface Shown {
  readonly at: number;
  readonly mark: Mark;
  readonly distance: number | null;
  /** Seconds. */
  readonly interval: number;
  readonly title: string;
}

const LEFT = 40;
/** Space for the mark of the first visit. */
const INSET = 8;
const RIGHT = 12;
/** From the top: distances, then intervals, then the axis of time. */
const DISTANCES = { top: 16, floor: 92 } as const;
const INTERVALS = { top: 124, floor: 168 } as const;
const HEIGHT = 190;
/** A distance above this means that a page is as good as new, bits. */
const LEAST_TOP = 8;
/** In a column of a wide window, and in a narrow one: the texts keep their size. */
const WIDTHS = { wide: 1_200, narrow: 360 } as const;

/**
 * The visits of a page over time: how far it had changed, and below that the interval after each visit; the next visit
 * is dashed. Drawn twice; the style sheet shows the one that fits the window. `null` without a visit.
 */
export function visitTimeline(record: RecordView, now: number): Markup | null {
  const visits = record.visits.map(
    ({ at, outcome, distance, interval }): Shown => ({
      at: Date.parse(at),
      mark: markOf(outcome),
      distance,
      interval,
      title: `${at.slice(0, 16).replace('T', ' ')}: ${outcome}${distance === null ? '' : `, ${distance} bits`}, then every ${span(interval)}`,
    }),
  );
  const first = visits[0];
  const last = visits.at(-1);
  if (first === undefined || last === undefined) return null;
  const next = record.nextFetchAt === null ? null : Date.parse(record.nextFetchAt);
  const marks = (Object.keys(MARKS) as Mark[]).filter((mark) => visits.some((visit) => visit.mark === mark));
  const legend = marks.map((mark) => {
    const times = visits.filter((visit) => visit.mark === mark).length;
    return markup`<li><svg class="key-mark" viewBox="-7 -7 14 14" aria-hidden="true">${shapeOf(mark)}</svg>${MARKS[mark]} <b>${times}</b></li>`;
  });
  const label = `${counted(visits.length, 'visit')} from ${dayText(first.at)} to ${dayText(last.at)}; the table below lists them`;
  const pictures = Object.entries(WIDTHS).map(([name, width]) => picture({ visits, next, now, width, label }, name));
  return markup`<figure class="timeline">${pictures}<ul class="legend">${legend}</ul></figure>`;
}

interface Timeline {
  readonly visits: readonly Shown[];
  readonly next: number | null;
  readonly now: number;
  readonly width: number;
  readonly label: string;
}

function picture({ visits, next, now, width, label }: Timeline, name: string): Markup {
  const [first, last] = [visits[0] as Shown, visits.at(-1) as Shown];
  // A next visit that is years ahead would squeeze the others together.
  const latest = visits.length === 1 ? Number.POSITIVE_INFINITY : last.at + (last.at - first.at);
  const seen = Math.max(last.at, Math.min(now, latest));
  const end = Math.max(seen, Math.min(next ?? seen, latest), first.at + HOUR_MS);
  const xOf = (at: number): number =>
    round(LEFT + INSET + ((at - first.at) / Math.max(1, end - first.at)) * (width - LEFT - INSET - RIGHT));
  return markup`<svg class="${`chart ${name}`}" viewBox="0 0 ${width} ${HEIGHT}" role="img" aria-label="${label}">
${distances(visits, xOf, width)}
${intervals(visits, xOf, seen, width)}
${axis(first.at, end, xOf, width)}
${next === null ? null : nextVisit(next, end, xOf)}</svg>`;
}

function distances(visits: readonly Shown[], xOf: (at: number) => number, width: number): Markup {
  const { top, floor } = DISTANCES;
  const most = Math.max(LEAST_TOP, axisTop(Math.max(0, ...visits.map(({ distance }) => distance ?? 0))));
  const yOf = (bits: number): number => round(floor - (bits / most) * (floor - top));
  // Changes and failures are drawn over unchanged visits.
  const ordered = [...visits].sort((a, b) => Number(b.mark === 'same') - Number(a.mark === 'same'));
  const stems = ordered.map(({ at, mark, distance, title }) => {
    const [x, y] = [xOf(at), mark === 'changed' ? yOf(distance ?? 0) : floor];
    return markup`<g class="${`visit mark-${mark}`}"><title>${title}</title><line x1="${x}" x2="${x}" y1="${floor}" y2="${y}"/><g transform="${`translate(${x} ${y})`}">${shapeOf(mark)}</g></g>`;
  });
  return markup`<text class="axis" x="${LEFT}" y="${top - 6}">Distance from the version before, bits</text>${level(floor, '0', width)}${level(top, String(most), width)}${stems}`;
}

/** A level line with its value left of it. */
function level(y: number, text: string, width: number): Markup {
  return markup`<line class="grid" x1="${LEFT}" x2="${width}" y1="${y}" y2="${y}"/><text x="${LEFT - 6}" y="${y + 4}" text-anchor="end">${text}</text>`;
}

function intervals(visits: readonly Shown[], xOf: (at: number) => number, end: number, width: number): Markup {
  const { top, floor } = INTERVALS;
  const most = Math.max(...visits.map(({ interval }) => interval), 1e-9);
  const yOf = (interval: number): number => round(floor - (interval / most) * (floor - top));
  const steps = visits
    .map(({ at, interval }, i) => `${i === 0 ? 'M' : 'H'}${xOf(at)}${i === 0 ? ' ' : 'V'}${yOf(interval)}`)
    .join('');
  const path = `${steps}H${xOf(end)}`;
  return markup`<text class="axis" x="${LEFT}" y="${top - 6}">Interval after each visit</text>${level(floor, '0', width)}${level(top, span(most), width)}<path class="interval-area" d="${`${path}V${floor}H${xOf(visits[0]?.at ?? end)}Z`}"/><path class="interval" d="${path}"/>`;
}

function axis(from: number, to: number, xOf: (at: number) => number, width: number): Markup {
  const marks = Math.max(2, Math.floor(width / 170));
  const text = (at: number): string => (to - from > 3 * DAY_MS ? dayText(at) : `${dayText(at)}, ${clockText(at)}`);
  const labels = Array.from({ length: marks }, (_, i) => {
    const at = from + ((to - from) * i) / (marks - 1);
    const anchor = i === 0 ? 'start' : i === marks - 1 ? 'end' : 'middle';
    return markup`<text x="${xOf(at)}" y="${HEIGHT - 4}" text-anchor="${anchor}">${text(at)}</text>`;
  });
  return markup`${labels}`;
}

function nextVisit(next: number, end: number, xOf: (at: number) => number): Markup {
  const x = xOf(Math.min(next, end));
  const later = next > end ? ' →' : '';
  return markup`<g class="next"><title>${`next visit ${new Date(next).toISOString().slice(0, 16).replace('T', ' ')}`}</title><line x1="${x}" x2="${x}" y1="${DISTANCES.top}" y2="${INTERVALS.floor}"/><text x="${x + 6}" y="${DISTANCES.top - 6}" text-anchor="end">${`next ${dayText(next)}${later}`}</text></g>`;
}

/** Around 0, 0. */
function shapeOf(mark: Mark): Markup {
  const kind = `shape mark-${mark}`;
  if (mark === 'failed') return markup`<path class="${kind}" d="M-4 -4L4 4M-4 4L4 -4"/>`;
  if (mark === 'gone') return markup`<path class="${kind}" d="M0 -5.5L5.5 0L0 5.5L-5.5 0Z"/>`;
  if (mark === 'moved') return markup`<path class="${kind}" d="M-4 -5L5 0L-4 5Z"/>`;
  if (mark === 'new') return markup`<rect class="${kind}" x="-4.5" y="-4.5" width="9" height="9"/>`;
  return markup`<circle class="${kind}" r="${mark === 'changed' ? 4.5 : 3.5}"/>`;
}
