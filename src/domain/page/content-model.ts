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

/**
 * Logits of rows of `columns` values. Tree by tree, not row by row: rows that follow each other are alike and mostly take the same way, which
 * a processor foresees.
 */
export function logitsOf(trees: BoostedTrees, rows: Float32Array, columns: number): Float64Array {
  const { base, features, thresholds, leaves, count } = trees;
  const logits = new Float64Array(rows.length / columns).fill(base);
  for (let tree = 0; tree < count; tree++) {
    const first = tree * TREE_SPLITS;
    const leaf = tree * TREE_LEAVES - TREE_SPLITS;
    for (let row = 0, from = 0; row < logits.length; row++, from += columns) {
      // A step for each level, written out: a loop costs half as much again.
      let node = goesLeft(rows, from, features, thresholds, first) ? 1 : 2;
      node = 2 * node + (goesLeft(rows, from, features, thresholds, first + node) ? 1 : 2);
      node = 2 * node + (goesLeft(rows, from, features, thresholds, first + node) ? 1 : 2);
      node = 2 * node + (goesLeft(rows, from, features, thresholds, first + node) ? 1 : 2);
      logits[row] = (logits[row] as number) + (leaves[leaf + node] as number);
    }
  }
  return logits;
}

const goesLeft = (
  rows: Float32Array,
  from: number,
  features: Uint8Array,
  thresholds: Float32Array,
  split: number,
): boolean => (rows[from + (features[split] as number)] as number) < (thresholds[split] as number);

/** The trees that ship. */
export const contentTrees = (): BoostedTrees => readTrees(CONTENT_BASE, CONTENT_TREES);
