import { brief } from '../../render/quantities.ts';
import { type Markup, markup } from '../markup.ts';
import { axisLevels, axisTop, CHART_HEIGHT, CHART_WIDTH } from './column-chart.ts';

/** Curves over time, for the static chart and for the script that redraws it. Times in seconds since the epoch. */
export interface LineData {
  readonly x: readonly number[];
  readonly series: readonly {
    readonly label: string;
    /** Class of its colour; its dashes follow from its place. */
    readonly kind?: string;
    readonly values: readonly (number | null)[];
  }[];
}

const WIDTH = CHART_WIDTH;
const HEIGHT = CHART_HEIGHT;
/** Space for the labels left of and below the curves. */
const LEFT = 38;
const BOTTOM = 18;
const TOP = 6;

/** The classes of a curve and of its swatch. */
export const strokeOf = (kind: string | undefined, place: number): string =>
  `dash-${place + 1} stroke-${kind ?? 'new'}`;

/** A static chart as SVG. */
export function lineChart(title: string, { x, series }: LineData): Markup {
  const values = series.flatMap((each) => each.values.filter((value) => value !== null));
  const most = Math.max(1e-9, ...values);
  const max = most > 1 ? axisTop(most) : most;
  const [from, to] = [x[0] ?? 0, x.at(-1) ?? 1];
  const xOf = (at: number): number => LEFT + ((at - from) / Math.max(1e-9, to - from)) * (WIDTH - LEFT - 4);
  const yOf = (value: number): number => TOP + (1 - value / max) * (HEIGHT - TOP - BOTTOM);
  const paths = series.map(
    (each, i) => markup`<path class="${`line ${strokeOf(each.kind, i)}`}" d="${pathOf(x, each.values, xOf, yOf)}"/>`,
  );
  const marks = (most > 1 ? axisLevels(max) : [0, max]).map(
    (value) =>
      markup`<line class="grid" x1="${LEFT}" x2="${WIDTH}" y1="${round(yOf(value))}" y2="${round(yOf(value))}"/><text x="${LEFT - 6}" y="${round(yOf(value) + 4)}" text-anchor="end">${brief(value)}</text>`,
  );
  const ends = [
    markup`<text x="${LEFT}" y="${HEIGHT - 4}">${timeText(from)}</text>`,
    markup`<text x="${WIDTH - 4}" y="${HEIGHT - 4}" text-anchor="end">${timeText(to)}</text>`,
  ];
  return markup`<svg class="chart" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${title}">${marks}${ends}${paths}</svg>`;
}

/** The path of one curve, with gaps where there is no value. */
function pathOf(
  x: readonly number[],
  values: readonly (number | null)[],
  xOf: (at: number) => number,
  yOf: (value: number) => number,
): string {
  let path = '';
  let isDrawing = false;
  for (const [i, value] of values.entries()) {
    if (value === null) {
      isDrawing = false;
      continue;
    }
    path += `${isDrawing ? 'L' : 'M'}${round(xOf(x[i] ?? 0))} ${round(yOf(value))}`;
    // A single point is drawn as a dot.
    if (!isDrawing && (values[i + 1] ?? null) === null) path += 'h.01';
    isDrawing = true;
  }
  return path;
}

const round = (value: number): string => String(Math.round(value * 10) / 10);
const timeText = (seconds: number): string => new Date(seconds * 1_000).toISOString().slice(0, 16).replace('T', ' ');
