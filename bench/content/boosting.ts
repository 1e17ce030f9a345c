/**
 * Gradient boosting of decision trees on histograms, logistic loss (Friedman 2001), for soft labels; the same for a
 * seed. A tree grows level by level: one walk over a column makes the histograms of all nodes of the level.
 */
import { type BoostedTrees, TREE_DEPTH, TREE_LEAVES, TREE_SPLITS } from '../../src/page/content/trees/content-model.ts';
import { seeded } from '../harness/seeded.ts';
import { BINS, type BinnedColumns, binnedColumns } from './binning.ts';

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

const LEAST_GAIN = 1e-3;
/** A gradient and a hessian side by side. */
const PAIR = 2;

export function boost(samples: Samples, options: BoostingOptions = BOOSTING): BoostedTrees {
  const { labels, weights } = samples;
  const size = labels.length;
  const random = seeded(options.seed);
  const columns = binnedColumns(samples);
  const drawn = new Drawn(size);
  const base = baseOf(samples);
  const features = new Uint8Array(options.trees * TREE_SPLITS);
  const thresholds = new Float32Array(options.trees * TREE_SPLITS);
  const leaves = new Float32Array(options.trees * TREE_LEAVES);
  const logits = new Float64Array(size).fill(base);
  const leafOf = new Uint8Array(size);
  for (let tree = 0; tree < options.trees; tree++) {
    drawn.draw(labels, weights, logits, () => random() < options.rowShare);
    const tried = columns.edges.flatMap((edges, column) =>
      edges.length > 0 && random() < options.columnShare ? [column] : [],
    );
    leafOf.fill(0);
    for (let depth = 0; depth < TREE_DEPTH; depth++) {
      const splits = bestSplits(drawn, columns, tried, 2 ** depth, options);
      for (const [node, { column, bin }] of splits.entries()) {
        const at = tree * TREE_SPLITS + 2 ** depth - 1 + node;
        features[at] = column;
        thresholds[at] = columns.edges[column]?.[bin] ?? Number.POSITIVE_INFINITY;
      }
      drawn.descend(splits, columns.bins);
      for (let i = 0; i < size; i++) leafOf[i] = below(leafOf[i]!, splits, columns.bins, i);
    }
    const values = drawn.leaves(options);
    leaves.set(values, tree * TREE_LEAVES);
    for (let i = 0; i < size; i++) logits[i]! += values[leafOf[i]!]!;
  }
  return { base, features, thresholds, leaves, count: options.trees };
}

/** A column, and the last bin that goes left; a bin beyond all sends everything there. */
interface Split {
  readonly column: number;
  readonly bin: number;
}

const below = (node: number, splits: readonly Split[], bins: readonly Uint8Array[], row: number): number => {
  const { column, bin } = splits[node]!;
  return 2 * node + Number(bins[column]![row]! > bin);
};

/** The logit of the mean label. */
function baseOf({ labels, weights }: Samples): number {
  let positive = 0;
  let total = 0;
  for (let i = 0; i < labels.length; i++) {
    positive += weights[i]! * labels[i]!;
    total += weights[i]!;
  }
  return Math.log(positive / (total - positive));
}

/** The rows that a tree learns from, side by side, each with its node. */
class Drawn {
  count = 0;
  readonly rows: Int32Array;
  readonly gradients: Float64Array;
  readonly hessians: Float64Array;
  readonly nodes: Uint8Array;

  constructor(size: number) {
    this.rows = new Int32Array(size);
    this.gradients = new Float64Array(size);
    this.hessians = new Float64Array(size);
    this.nodes = new Uint8Array(size);
  }

  draw(labels: Float32Array, weights: Float32Array, logits: Float64Array, isDrawn: () => boolean): void {
    this.count = 0;
    for (let i = 0; i < labels.length; i++) {
      if (!isDrawn()) continue;
      const chance = 1 / (1 + Math.exp(-logits[i]!));
      const at = this.count++;
      this.rows[at] = i;
      this.gradients[at] = weights[i]! * (labels[i]! - chance);
      this.hessians[at] = weights[i]! * Math.max(1e-6, chance * (1 - chance));
      this.nodes[at] = 0;
    }
  }

  descend(splits: readonly Split[], bins: readonly Uint8Array[]): void {
    for (let k = 0; k < this.count; k++) this.nodes[k] = below(this.nodes[k]!, splits, bins, this.rows[k]!);
  }

  /** Sums of the gradients and hessians of each node, in pairs. */
  sums(nodes: number): Float64Array {
    const sums = new Float64Array(PAIR * nodes);
    for (let k = 0; k < this.count; k++) {
      sums[PAIR * this.nodes[k]!]! += this.gradients[k]!;
      sums[PAIR * this.nodes[k]! + 1]! += this.hessians[k]!;
    }
    return sums;
  }

  leaves({ rate, lambda }: BoostingOptions): Float32Array {
    const sums = this.sums(TREE_LEAVES);
    return Float32Array.from(
      { length: TREE_LEAVES },
      (_, leaf) => (rate * sums[PAIR * leaf]!) / (sums[PAIR * leaf + 1]! + lambda),
    );
  }
}

function bestSplits(
  drawn: Drawn,
  { bins, edges }: BinnedColumns,
  tried: readonly number[],
  width: number,
  { lambda, minHessian }: BoostingOptions,
): Split[] {
  const { count, rows, gradients, hessians, nodes } = drawn;
  const sums = drawn.sums(width);
  const histogram = new Float64Array(width * BINS * PAIR);
  const splits = Array.from({ length: width }, (): Split => ({ column: 0, bin: Number.POSITIVE_INFINITY }));
  const gains = new Float64Array(width).fill(LEAST_GAIN);
  for (const column of tried) {
    const binOf = bins[column]!;
    histogram.fill(0);
    for (let k = 0; k < count; k++) {
      const at = (nodes[k]! * BINS + binOf[rows[k]!]!) * PAIR;
      histogram[at]! += gradients[k]!;
      histogram[at + 1]! += hessians[k]!;
    }
    for (let node = 0; node < width; node++) {
      const gradient = sums[PAIR * node]!;
      const hessian = sums[PAIR * node + 1]!;
      const whole = gradient ** 2 / (hessian + lambda);
      let left = 0;
      let leftHessian = 0;
      for (let bin = 0; bin < edges[column]!.length; bin++) {
        const at = (node * BINS + bin) * PAIR;
        left += histogram[at]!;
        leftHessian += histogram[at + 1]!;
        const rightHessian = hessian - leftHessian;
        if (leftHessian < minHessian || rightHessian < minHessian) continue;
        const gain = left ** 2 / (leftHessian + lambda) + (gradient - left) ** 2 / (rightHessian + lambda) - whole;
        if (gain <= gains[node]!) continue;
        gains[node] = gain;
        splits[node] = { column, bin };
      }
    }
  }
  return splits;
}
