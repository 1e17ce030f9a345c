/** Columns of numbers as small numbers of bins, for histograms. */

/** Most bins of a column. */
export const BINS = 32;
/** Edges are read off about so many rows. */
const READ_ROWS = 100_000;

export interface BinnedColumns {
  /** Lower ends of the bins of each column but the first; empty for a column of one value. */
  readonly edges: readonly Float32Array[];
  /** Bins of the rows, by column. */
  readonly bins: readonly Uint8Array[];
}

export function binnedColumns(table: {
  readonly rows: Float32Array;
  readonly labels: { readonly length: number };
  readonly columns: number;
}): BinnedColumns {
  const { rows, columns } = table;
  const size = table.labels.length;
  const step = Math.max(1, Math.floor(size / READ_ROWS));
  const edges = Array.from({ length: columns }, (_, column) =>
    edgesOf(Float32Array.from({ length: Math.floor(size / step) }, (_each, i) => rows[i * step * columns + column]!)),
  );
  const bins = edges.map((own, column) => {
    const binOf = new Uint8Array(size);
    for (let i = 0; i < size; i++) binOf[i] = binIn(own, rows[i * columns + column]!);
    return binOf;
  });
  return { edges, bins };
}

/** How many edges are not above a value. */
function binIn(edges: Float32Array, value: number): number {
  let low = 0;
  let high = edges.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (value >= edges[middle]!) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * All values where they are few; else half of the edges at the quantiles, half at those of the values that are not the
 * most common one. Most columns are nearly always 0, so that plain quantiles would never see what is not.
 */
function edgesOf(values: Float32Array): Float32Array {
  values.sort();
  const distinct = values.filter((value, i) => i === 0 || value !== values[i - 1]);
  if (distinct.length <= BINS) return distinct.subarray(1);
  const usual = mostCommon(values);
  const others = values.filter((value) => value !== usual);
  const edges = new Set<number>();
  for (const from of [values, others]) {
    for (let k = 0; k < BINS / 2; k++) edges.add(from[Math.floor((2 * k * from.length) / BINS)]!);
  }
  edges.delete(values[0]!);
  return Float32Array.from([...edges].sort((a, b) => a - b).slice(0, BINS - 1));
}

/** @param values sorted */
function mostCommon(values: Float32Array): number {
  let best = values[0]!;
  let most = 0;
  let start = 0;
  for (let i = 1; i <= values.length; i++) {
    if (i < values.length && values[i] === values[start]) continue;
    if (i - start > most) {
      most = i - start;
      best = values[start]!;
    }
    start = i;
  }
  return best;
}
