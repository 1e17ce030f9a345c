import { type Markup, markup } from '../markup.ts';
import { type LineData, lineChart } from './line-chart.ts';

/** Curves with a legend. The script of the page redraws them from `source` as an interactive chart. */
export function lineFigure(title: string, source: string, data: LineData): Markup {
  // A single point is no curve.
  if (data.x.length < 2) return markup`<p class="nothing">${title}: no data yet.</p>`;
  const legend = data.series.map(
    ({ label }, i) => markup`<li><span class="swatch line-${i + 1}" aria-hidden="true"></span>${label}</li>`,
  );
  return markup`<figure class="curves" data-curves="${source}"><figcaption>${title}</figcaption><div class="plot">${lineChart(title, data)}</div><ul class="legend">${legend}</ul></figure>`;
}
