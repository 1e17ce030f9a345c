import { brief, count } from '../../render/quantities.ts';
import { type Markup, markup } from '../markup.ts';

/** One kind of counted items, stacked on the previous ones. */
export interface Layer {
  readonly label: string;
  /** Class of its colour. */
  readonly kind: string;
  readonly values: readonly number[];
}

export interface Columns {
  /** What is counted and when, for screen readers. */
  readonly caption: string;
  /** The column of a table that names the buckets, such as `day`. */
  readonly unit: string;
  /** In full, such as `3 Nov, 14:00`. */
  readonly names: readonly string[];
  /** Below the axis. */
  readonly labels: readonly { readonly index: number; readonly text: string }[];
  /** From the bottom up. */
  readonly layers: readonly Layer[];
  /** A line to compare with, such as a budget; `null`: no value there. */
  readonly line?: { readonly label: string; readonly values: readonly (number | null)[] } | null;
}

/** Close to the displayed size, so that texts keep their size. */
export const CHART_WIDTH = 390;
export const CHART_HEIGHT = 148;
const LEFT = 38;
const TOP = 6;
const BOTTOM = 18;
/** Half the width of a letter, so that labels stay within the chart. */
export const HALF_LETTER = 3.3;
/** A count of one must be seen beside thousands. */
const LEAST_HEIGHT = 1.5;

/** Stacked columns, and the same numbers as a table for screen readers that is not shown. */
export function columnChart({ caption, unit, names, labels, layers, line = null }: Columns): Markup {
  const totals = names.map((_, i) => layers.reduce((sum, { values }) => sum + (values[i] ?? 0), 0));
  const top = axisTop(Math.max(...totals, ...(line?.values.map((value) => value ?? 0) ?? [])));
  const floor = CHART_HEIGHT - BOTTOM;
  const width = (CHART_WIDTH - LEFT) / Math.max(1, names.length);
  const gap = Math.min(3, width / 5);
  const heightOf = (value: number): number => (value / top) * (floor - TOP);
  // A path for each layer: fewer elements than a rectangle for each value.
  const bases = names.map(() => floor);
  const stacks = layers.map(({ kind, values }) => {
    const columns = values.map((value, i) => {
      if (value <= 0) return '';
      const height = Math.max(LEAST_HEIGHT, heightOf(value));
      bases[i] = (bases[i] ?? floor) - height;
      return `M${round(LEFT + i * width + gap / 2)} ${round(bases[i] ?? 0)}h${round(width - gap)}v${round(height)}h${round(gap - width)}z`;
    });
    return markup`<path class="${`fill-${kind}`}" d="${columns.join('')}"/>`;
  });
  const hits = names.map(
    (name, i) =>
      markup`<rect class="hit" x="${round(LEFT + i * width)}" y="0" width="${round(width)}" height="${floor}"><title>${titleOf(name, totals[i] ?? 0, layers, i, line)}</title></rect>`,
  );
  const grid = axisLevels(top).map((value) => {
    const y = round(floor - heightOf(value));
    return markup`<line class="grid" x1="${LEFT}" x2="${CHART_WIDTH}" y1="${y}" y2="${y}"/><text x="${LEFT - 5}" y="${y + 4}" text-anchor="end">${brief(value)}</text>`;
  });
  const ticks = labels.map(({ index, text }) => {
    const half = text.length * HALF_LETTER;
    const x = Math.min(CHART_WIDTH - half, Math.max(LEFT + half, LEFT + (index + 0.5) * width));
    return markup`<text x="${round(x)}" y="${CHART_HEIGHT - 4}" text-anchor="middle">${text}</text>`;
  });
  const compared =
    line === null
      ? null
      : markup`<path class="compared" d="${pathOf(line.values, width, (value) => floor - heightOf(value))}"/>`;
  return markup`<svg class="chart" viewBox="0 0 ${CHART_WIDTH} ${CHART_HEIGHT}" aria-hidden="true">${grid}${ticks}${stacks}${compared}${hits}</svg>${spokenTable(caption, unit, names, layers, line)}`;
}

function titleOf(name: string, total: number, layers: readonly Layer[], i: number, line: Columns['line']): string {
  const parts = layers.flatMap(({ label, values }) =>
    (values[i] ?? 0) > 0 ? [`${label} ${count(values[i] ?? 0)}`] : [],
  );
  const compared = line?.values[i];
  const against = compared == null ? '' : `; ${line?.label} ${count(compared)}`;
  return `${name}: ${count(total)}${parts.length > 0 && layers.length > 1 ? ` (${parts.join(', ')})` : ''}${against}`;
}

/** A level at each column; equal neighbours are joined. */
function pathOf(values: readonly (number | null)[], width: number, yOf: (value: number) => number): string {
  return values
    .map((value, i) => {
      if (value === null) return '';
      const isJoined = i > 0 && values[i - 1] !== null;
      return `${isJoined ? 'L' : 'M'}${round(LEFT + i * width)} ${round(yOf(value))}H${round(LEFT + (i + 1) * width)}`;
    })
    .join('');
}

function spokenTable(
  caption: string,
  unit: string,
  names: readonly string[],
  layers: readonly Layer[],
  line: Columns['line'],
): Markup {
  const heads = [unit, ...layers.map(({ label }) => label), ...(line == null ? [] : [line.label])];
  const rows = names.map((name, i) => {
    const cells = [...layers.map(({ values }) => values[i] ?? 0), ...(line == null ? [] : [line.values[i] ?? null])];
    return markup`<tr><th scope="row">${name}</th>${cells.map((value) => markup`<td>${value === null ? '-' : count(value)}</td>`)}</tr>`;
  });
  return markup`<div class="unseen"><table><caption>${caption}</caption><thead><tr>${heads.map((head) => markup`<th scope="col">${head}</th>`)}</tr></thead><tbody>${rows}</tbody></table></div>`;
}

export interface LegendEntry {
  readonly label: string;
  /** Classes of its mark. */
  readonly swatch: string;
  readonly value: string | null;
}

/** The layers with a sum above 0, with their sums. */
export const layerSums = (layers: readonly Layer[]): LegendEntry[] =>
  layers.flatMap(({ label, kind, values }) => {
    const sum = values.reduce((a, b) => a + b, 0);
    return sum === 0 ? [] : [{ label, swatch: `fill-${kind}`, value: count(sum) }];
  });

/** The meanings of the colours, with a number for each. */
export function legendOf(entries: readonly LegendEntry[]): Markup {
  const items = entries.map(
    ({ label, swatch, value }) =>
      markup`<li><span class="${`swatch ${swatch}`}" aria-hidden="true"></span>${label}${value === null ? null : markup` <b>${value}</b>`}</li>`,
  );
  return markup`<ul class="legend">${items}</ul>`;
}

const STEPS = [1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10];

/** The top of an axis of counts that begins at 0: a round number, at least `max` and at least 1. */
export function axisTop(max: number): number {
  if (!(max > 1)) return 1;
  const size = 10 ** Math.floor(Math.log10(max));
  return (
    STEPS.map((step) => Math.round(10 * step * size) / 10).find((top) => top >= max && Number.isInteger(top)) ?? max
  );
}

/** Where an axis of counts has lines: at its ends, and in the middle if that is a whole number. */
export const axisLevels = (top: number): number[] => (top % 2 === 0 ? [0, top / 2, top] : [0, top]);

/** Coordinates with a tenth of a unit. */
export const round = (value: number): number => Math.round(value * 10) / 10;
