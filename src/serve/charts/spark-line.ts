import { type Markup, markup } from '../markup.ts';
import { round } from './column-chart.ts';

const WIDTH = 120;
const HEIGHT = 22;

/** A curve without axes beside the number it belongs to; `null` for fewer than two values. */
export function sparkLine(caption: string, values: readonly number[]): Markup | null {
  if (values.length < 2) return null;
  const max = Math.max(1e-9, ...values);
  const points = values.map(
    (value, i) => `${round((i / (values.length - 1)) * WIDTH)} ${round(1 + (1 - value / max) * (HEIGHT - 2))}`,
  );
  return markup`<svg class="spark" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${caption}"><path d="${`M${points.join('L')}`}"/></svg>`;
}
