/**
 * Gradient boosting of decision trees on histograms, logistic loss (Friedman 2001), for soft labels; the same for a
 * seed.
 */
import {
  type BoostedTrees,
  TREE_DEPTH,
  TREE_LEAVES,
  TREE_SPLITS,
} from '../../src/domain/page/content/content-model.ts';
import { seeded } from '../seeded.ts';

export interface Samples {
  /** Rows of `columns` values. */
  readonly rows: Float32Array;
  readonly labels: Float32Array;
  readonly weights: Float32Array;
  readonly columns: number;
}

export interface BoostingOptions {
  readonly trees: number;
  readonly rate: number;
  /** Share of the columns, and of the rows, that a tree looks at. */
  readonly columnShare: number;
  readonly rowShare: number;
  readonly lambda: number;
  readonly minHessian: number;
  readonly seed: number;
}

export const BOOSTING: BoostingOptions = {
  trees: 110,
  rate: 0.1,
  columnShare: 0.5,
  rowShare: 0.3,
  lambda: 2,
  minHessian: 1,
  seed: 1,
};

const BINS = 32;

export function boost(samples: Samples, options: BoostingOptions = BOOSTING): BoostedTrees {
  const { labels, weights, columns } = samples;
  const size = labels.length;
  const random = seeded(options.seed);
  const edges = edgesOf(samples);
  const bins = binned(samples, edges);
  let positive = 0;
  let total = 0;
  for (let i = 0; i < size; i++) {
    positive += (weights[i] as number) * (labels[i] as number);
    total += weights[i] as number;
  }
  const base = Math.log(positive / (total - positive));
  const features = new Uint8Array(options.trees * TREE_SPLITS);
  const thresholds = new Float32Array(options.trees * TREE_SPLITS);
  const leaves = new Float32Array(options.trees * TREE_LEAVES);
  const logits = new Float64Array(size).fill(base);
  const gradients = new Float64Array(size);
  const hessians = new Float64Array(size);
  for (let tree = 0; tree < options.trees; tree++) {
    const picked: number[] = [];
    for (let i = 0; i < size; i++) {
      const chance = 1 / (1 + Math.exp(-(logits[i] as number)));
      gradients[i] = (weights[i] as number) * ((labels[i] as number) - chance);
      hessians[i] = (weights[i] as number) * Math.max(1e-6, chance * (1 - chance));
      if (random() < options.rowShare) picked.push(i);
    }
    const tried = edges.flatMap((each, column) => (each.length > 0 && random() < options.columnShare ? [column] : []));
    const groups: (readonly number[])[] = [picked];
    const splits: { column: number; bin: number }[] = [];
    for (let node = 0; node < TREE_SPLITS; node++) {
      const group = groups[node] ?? [];
      const split = bestSplit(group, tried, bins, columns, edges, gradients, hessians, options);
      splits.push(split ?? { column: 0, bin: Number.POSITIVE_INFINITY });
      features[tree * TREE_SPLITS + node] = split?.column ?? 0;
      thresholds[tree * TREE_SPLITS + node] =
        split === null ? Number.POSITIVE_INFINITY : (edges[split.column]?.[split.bin] as number);
      const goesLeft = (i: number): boolean =>
        split === null || (bins[i * columns + split.column] as number) <= split.bin;
      groups.push(
        group.filter(goesLeft),
        group.filter((i) => !goesLeft(i)),
      );
    }
    for (let leaf = 0; leaf < TREE_LEAVES; leaf++) {
      let gradient = 0;
      let hessian = 0;
      for (const i of groups[TREE_SPLITS + leaf] ?? []) {
        gradient += gradients[i] as number;
        hessian += hessians[i] as number;
      }
      leaves[tree * TREE_LEAVES + leaf] = (options.rate * gradient) / (hessian + options.lambda);
    }
    for (let i = 0; i < size; i++) {
      let node = 0;
      for (let depth = 0; depth < TREE_DEPTH; depth++) {
        const { column, bin } = splits[node] as { column: number; bin: number };
        node = 2 * node + ((bins[i * columns + column] as number) <= bin ? 1 : 2);
      }
      logits[i] = (logits[i] as number) + (leaves[tree * TREE_LEAVES + node - TREE_SPLITS] as number);
    }
  }
  return { base, features, thresholds, leaves, count: options.trees };
}

function bestSplit(
  group: readonly number[],
  tried: readonly number[],
  bins: Uint8Array,
  columns: number,
  edges: readonly (readonly number[])[],
  gradients: Float64Array,
  hessians: Float64Array,
  { lambda, minHessian }: BoostingOptions,
): { column: number; bin: number } | null {
  if (group.length < 20) return null;
  let gradient = 0;
  let hessian = 0;
  for (const i of group) {
    gradient += gradients[i] as number;
    hessian += hessians[i] as number;
  }
  let best: { column: number; bin: number } | null = null;
  let most = 1e-3;
  const gradientIn = new Float64Array(BINS + 1);
  const hessianIn = new Float64Array(BINS + 1);
  for (const column of tried) {
    gradientIn.fill(0);
    hessianIn.fill(0);
    for (const i of group) {
      const bin = bins[i * columns + column] as number;
      gradientIn[bin] = (gradientIn[bin] as number) + (gradients[i] as number);
      hessianIn[bin] = (hessianIn[bin] as number) + (hessians[i] as number);
    }
    let left = 0;
    let leftHessian = 0;
    for (let bin = 0; bin < (edges[column]?.length ?? 0); bin++) {
      left += gradientIn[bin] as number;
      leftHessian += hessianIn[bin] as number;
      const right = gradient - left;
      const rightHessian = hessian - leftHessian;
      if (leftHessian < minHessian || rightHessian < minHessian) continue;
      const gain =
        left ** 2 / (leftHessian + lambda) + right ** 2 / (rightHessian + lambda) - gradient ** 2 / (hessian + lambda);
      if (gain > most) {
        most = gain;
        best = { column, bin };
      }
    }
  }
  return best;
}

/**
 * Upper ends of the bins of each column: all its values where they are few; else half of them at its quantiles, half at
 * those of the values that are not the most common one. Most columns are nearly always 0, so that plain quantiles would
 * never see what is not.
 */
function edgesOf({ rows, labels, columns }: Samples): number[][] {
  const size = labels.length;
  return Array.from({ length: columns }, (_, column) => {
    const values = Float32Array.from({ length: size }, (_each, i) => rows[i * columns + column] as number).sort();
    const distinct = values.filter((value, i) => i === 0 || value !== values[i - 1]);
    if (distinct.length <= BINS) return [...distinct.subarray(1)];
    const usual = mostCommon(values);
    const others = values.filter((value) => value !== usual);
    const edges = new Set<number>();
    for (const from of [values, others]) {
      for (let k = 0; k < BINS / 2; k++) edges.add(from[Math.floor((2 * k * from.length) / BINS)] as number);
    }
    edges.delete(values[0] as number);
    return [...edges].sort((a, b) => a - b).slice(0, BINS - 1);
  });
}

/** @param values sorted */
function mostCommon(values: Float32Array): number {
  let best = values[0] as number;
  let most = 0;
  let start = 0;
  for (let i = 1; i <= values.length; i++) {
    if (i < values.length && values[i] === values[start]) continue;
    if (i - start > most) {
      most = i - start;
      best = values[start] as number;
    }
    start = i;
  }
  return best;
}

function binned({ rows, labels, columns }: Samples, edges: readonly (readonly number[])[]): Uint8Array {
  const bins = new Uint8Array(labels.length * columns);
  for (let at = 0; at < bins.length; at++) {
    const own = edges[at % columns] ?? [];
    let bin = 0;
    while (bin < own.length && (rows[at] as number) >= (own[bin] as number)) bin++;
    bins[at] = bin;
  }
  return bins;
}
