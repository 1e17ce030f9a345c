import { legendOf } from '../charts/column-chart.ts';
import { type LineData, lineChart, strokeOf } from '../charts/line-chart.ts';
import { type Markup, markup } from '../markup.ts';
import { nothing, panel } from './panel.ts';

/** Curves with a legend; one point is drawn as a dot. `source`: the address of the same figures as JSON. */
export function linePanel(title: string, source: string, data: LineData): Markup {
  if (data.x.length === 0) return panel(title, '', 'third', nothing('No round yet.'));
  const legend = legendOf(data.series.map(({ label, kind }, i) => ({ label, swatch: strokeOf(kind, i), value: null })));
  return panel(title, markup`<a href="${source}">JSON</a>`, 'third', markup`${lineChart(title, data)}${legend}`);
}
