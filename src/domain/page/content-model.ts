import { CONTENT_BASE, CONTENT_TREES } from './content-trees.ts';

/** Splits of a tree, and its leaves: all trees are full, of depth 4. */
export const TREE_DEPTH = 4;
export const TREE_SPLITS = 2 ** TREE_DEPTH - 1;
export const TREE_LEAVES = 2 ** TREE_DEPTH;

/** Boosted decision trees: the sum of one leaf of each tree is the logit of a probability (J. Friedman, Greedy function approximation, 2001). */
export interface BoostedTrees {
  readonly base: number;
  readonly features: Uint8Array;
  readonly thresholds: Float32Array;
  readonly leaves: Float32Array;
  readonly count: number;
}

/**
 * @param lines one a tree: `feature:threshold` of its splits, breadth first, a bar, its leaves from left to right. A value below the
 * threshold goes left.
 */
export function readTrees(base: number, lines: readonly string[]): BoostedTrees {
  const count = lines.length;
  const features = new Uint8Array(count * TREE_SPLITS);
  const thresholds = new Float32Array(count * TREE_SPLITS);
  const leaves = new Float32Array(count * TREE_LEAVES);
  for (const [tree, line] of lines.entries()) {
    const [splits = '', values = ''] = line.split('|');
    for (const [i, split] of splits.trim().split(' ').entries()) {
      const [feature = '', threshold = ''] = split.split(':');
      features[tree * TREE_SPLITS + i] = Number(feature);
      thresholds[tree * TREE_SPLITS + i] = Number(threshold);
    }
    for (const [i, value] of values.trim().split(' ').entries()) leaves[tree * TREE_LEAVES + i] = Number(value);
  }
  return { base, features, thresholds, leaves, count };
}

/** Logit for the row that begins at `from`. */
export function logitOf(
  { base, features, thresholds, leaves, count }: BoostedTrees,
  rows: Float32Array,
  from: number,
): number {
  let sum = base;
  for (let tree = 0; tree < count; tree++) {
    const first = tree * TREE_SPLITS;
    let node = 0;
    while (node < TREE_SPLITS) {
      const value = rows[from + (features[first + node] as number)] as number;
      node = 2 * node + (value < (thresholds[first + node] as number) ? 1 : 2);
    }
    sum += leaves[tree * TREE_LEAVES + node - TREE_SPLITS] as number;
  }
  return sum;
}

/** The trees that ship. */
export const contentTrees = (): BoostedTrees => readTrees(CONTENT_BASE, CONTENT_TREES);
