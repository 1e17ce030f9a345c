/** What the layout of a table knows of a column. */
export interface ColumnShape {
  /** Columns that the widest cell takes, or the title. */
  readonly natural: number;
  /** Whether cells may be cut: text may, figures and times may not. */
  readonly isText: boolean;
  /** Importance on a narrow terminal, 1 before 2; `null`: always shown. */
  readonly rank: number | null;
}

export interface ColumnLayout {
  /** Numbers of the columns shown, in their order. */
  readonly shown: readonly number[];
  /** Their widths. */
  readonly widths: readonly number[];
}

/** Spaces between two columns. */
export const GAP = 2;
/** A ranked text column that would have less than this is left out. */
const LEAST_TEXT = 16;
/** Share of the terminal below which a text column that is always shown, such as the URL, is not cut. */
const LEAST_SHARE = 0.45;

/**
 * The columns that fit a width: those without a rank, then as many others as there is place for, by their ranks. Text
 * is cut where that brings more of them in. `null`: not even those without a rank fit.
 */
export function columnLayout(shapes: readonly ColumnShape[], width: number): ColumnLayout | null {
  const least = shapes.map(({ natural, isText, rank }) =>
    isText ? Math.min(natural, rank === null ? Math.floor(LEAST_SHARE * width) : LEAST_TEXT) : natural,
  );
  const all = shapes.map((_, i) => i);
  const shown = new Set(all.filter((i) => shapes[i]?.rank === null));
  const leastWidth = (): number => sumOf([...shown].map((i) => least[i] ?? 0));
  if (leastWidth() > width) return null;
  for (const i of [...all].sort((a, b) => (shapes[a]?.rank ?? 0) - (shapes[b]?.rank ?? 0))) {
    if (shown.has(i)) continue;
    shown.add(i);
    if (leastWidth() > width) shown.delete(i);
  }
  const columns = [...shown].sort((a, b) => a - b);
  const widths = columns.map((i) => shapes[i]?.natural ?? 0);
  for (let over = sumOf(widths) - width; over > 0; over--) {
    const cut = widest(widths, (at) => (widths[at] ?? 0) > (least[columns[at] ?? 0] ?? 0));
    widths[cut] = (widths[cut] ?? 0) - 1;
  }
  return { shown: columns, widths };
}

const sumOf = (widths: readonly number[]): number =>
  widths.reduce((sum, each) => sum + each, 0) + GAP * Math.max(0, widths.length - 1);

/** The widest of those that may be cut; there is one as long as the sum of the least widths fits. */
function widest(widths: readonly number[], mayBeCut: (at: number) => boolean): number {
  let found = -1;
  for (const [at, each] of widths.entries()) {
    if (mayBeCut(at) && (found < 0 || each > (widths[found] ?? 0))) found = at;
  }
  return found;
}
