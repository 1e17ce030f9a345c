// serve/charts/: charts of the live view, as SVG and tables.

import { count } from '../../render/quantities.ts';
import { type Markup, markup, type Shown } from '../markup.ts';

export interface Bar {
  readonly label: Shown;
  readonly value: number;
  /** Class of its colour. */
  readonly kind?: string;
}

/** A table whose numbers are also drawn as bars: a screen reader reads it as a table. */
export function barTable(caption: string, bars: readonly Bar[]): Markup {
  const max = Math.max(1, ...bars.map(({ value }) => value));
  const rows = bars.map(
    ({ label, value, kind }) =>
      markup`<tr><th scope="row">${label}</th><td class="number">${count(value)}</td><td class="bar"><svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true"><rect class="${kind ?? 'plain'}" width="${Math.round((1_000 * value) / max) / 10}" height="10"/></svg></td></tr>`,
  );
  return markup`<table class="bars"><caption>${caption}</caption><tbody>${rows}</tbody></table>`;
}
