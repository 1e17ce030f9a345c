import { type Markup, markup } from '../markup.ts';
import { CHART_HEIGHT, CHART_WIDTH, HALF_LETTER, round } from './column-chart.ts';

export interface TrendPoint {
  /** Ms since the epoch. */
  readonly at: number;
  /** From 0 to 1. */
  readonly share: number;
  /** Shown where the pointer is. */
  readonly title: string;
}

export interface Trend {
  readonly caption: string;
  readonly from: number;
  readonly to: number;
  /** In the order of time; at least one, at most what {@link downsampled} returns. */
  readonly points: readonly TrendPoint[];
  readonly labels: readonly { readonly at: number; readonly text: string }[];
}

const LEFT = 38;
const RIGHT = 6;
const TOP = 6;
const BOTTOM = 18;
/** More points than this would overlap. */
const MAX_POINTS = 120;

/** A share over time. The axis begins at a multiple of ten percent and is labelled so. */
export function trendChart({ caption, from, to, points, labels }: Trend): Markup {
  const least = Math.min(...points.map(({ share }) => share));
  const bottom = Math.min(0.9, Math.max(0, Math.floor(least * 10) / 10));
  const floor = CHART_HEIGHT - BOTTOM;
  const xOf = (at: number): number => LEFT + ((at - from) / Math.max(1, to - from)) * (CHART_WIDTH - LEFT - RIGHT);
  const yOf = (share: number): number => floor - ((share - bottom) / (1 - bottom)) * (floor - TOP);
  const grid = [bottom, (1 + bottom) / 2, 1].map((share) => {
    const y = round(yOf(share));
    return markup`<line class="grid" x1="${LEFT}" x2="${CHART_WIDTH}" y1="${y}" y2="${y}"/><text x="${LEFT - 5}" y="${y + 4}" text-anchor="end">${`${round(100 * share)} %`}</text>`;
  });
  const ticks = labels.map(({ at, text }) => {
    const half = text.length * HALF_LETTER;
    const x = Math.min(CHART_WIDTH - half, Math.max(LEFT + half, xOf(at)));
    return markup`<text x="${round(x)}" y="${CHART_HEIGHT - 4}" text-anchor="middle">${text}</text>`;
  });
  const path = points
    .map(({ at, share }, i) => `${i === 0 ? 'M' : 'L'}${round(xOf(at))} ${round(yOf(share))}`)
    .join('');
  const dots = points.map(
    ({ at, share, title }, i) =>
      markup`<circle class="${i === points.length - 1 ? 'dot last' : 'dot'}" cx="${round(xOf(at))}" cy="${round(yOf(share))}" r="${i === points.length - 1 ? 3.5 : points.length > 40 ? 1 : 2}"><title>${title}</title></circle>`,
  );
  return markup`<svg class="chart" viewBox="0 0 ${CHART_WIDTH} ${CHART_HEIGHT}" role="img" aria-label="${caption}">${grid}${ticks}<path class="trend" d="${path}"/>${dots}</svg>`;
}

/** The first of each stretch of points, and the last one. */
export function downsampled<Point>(points: readonly Point[]): readonly Point[] {
  const step = Math.ceil(points.length / MAX_POINTS);
  return points.filter((_, i) => i % step === 0 || i === points.length - 1);
}
