// serve/charts/: charts of the live view, as SVG and tables.

import { count } from '../../render/quantities.ts';
import { type Markup, markup, type Shown } from '../markup.ts';
import { round } from './column-chart.ts';

export interface Bar {
  readonly label: Shown;
  readonly value: number;
  /** Class of its colour. */
  readonly kind?: string;
}

/** A table whose numbers are also drawn as bars: screen readers read it as a table. */
export function barTable(caption: string, bars: readonly Bar[]): Markup {
  const max = Math.max(1, ...bars.map(({ value }) => value));
  const rows = bars.map(
    ({ label, value, kind }) =>
      markup`<tr><th scope="row">${label}</th><td class="number">${count(value)}</td><td class="bar"><svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true"><rect class="${kind ?? 'plain'}" width="${Math.round((1_000 * value) / max) / 10}" height="10"/></svg></td></tr>`,
  );
  return markup`<table class="bars"><caption>${caption}</caption><tbody>${rows}</tbody></table>`;
}

interface Share {
  readonly label: Shown;
  readonly value: number;
  /** Class of its colour. */
  readonly kind: string;
}

/** Parts of a whole: one bar, and a table with the count and the share of each. */
export function shareTable(caption: string, shares: readonly Share[]): Markup {
  const total = Math.max(
    1,
    shares.reduce((sum, { value }) => sum + value, 0),
  );
  let start = 0;
  const parts = shares.map(({ value, kind }) => {
    const x = start;
    start += (100 * value) / total;
    return markup`<rect class="${`fill-${kind}`}" x="${round(x)}" width="${round(start - x)}" height="10"/>`;
  });
  const rows = shares.map(
    ({ label, value, kind }) =>
      markup`<tr><th scope="row"><span class="${`swatch fill-${kind}`}" aria-hidden="true"></span>${label}</th><td class="number">${count(value)}</td><td class="number pale">${shareText(value / total)}</td></tr>`,
  );
  return markup`<svg class="whole" viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">${parts}</svg><table class="list"><caption class="unseen">${caption}</caption><tbody>${rows}</tbody></table>`;
}

/** `48 %`, `0.3 %`; a share above 0 is never shown as 0 %. */
export function shareText(share: number): string {
  const percent = 100 * share;
  if (percent === 0) return '0 %';
  if (percent < 0.1) return '< 0.1 %';
  return `${percent < 10 ? Number(percent.toFixed(1)) : Math.round(percent)} %`;
}
