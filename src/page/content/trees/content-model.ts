// page/content/trees/: the decision trees of main content, and why they decided.

import { CONTENT_BASE, CONTENT_TREES } from './content-trees.ts';

/** Splits of a tree, and its leaves: all trees are full, of depth 4. */
export const TREE_DEPTH = 4;
// Not `2 ** TREE_DEPTH`: V8 keeps powers as floating-point numbers, which turned the positions in {@link logitsOf} into
// floating-point numbers too and halved its speed.
export const TREE_SPLITS = 15;
export const TREE_LEAVES = 16;

/**
 * Boosted decision trees: the sum of one leaf of each tree is the logit of a probability (J. Friedman, Greedy function
 * approximation, 2001).
 */
export interface BoostedTrees {
  readonly base: number;
  readonly features: Uint8Array;
  readonly thresholds: Float32Array;
  readonly leaves: Float32Array;
  readonly count: number;
}

/**
 * @param lines one per tree: `feature:threshold` of its splits, breadth first, a bar, its leaves from left to right. A
 * value below the threshold goes left.
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

/** Rows that descend a tree side by side: while one waits for memory, the processor goes on with the others. */
const ABREAST = 4;

/**
 * Logits of rows of `columns` values. Runs tree by tree, so that a tree stays in the processor's cache. The steps are
 * arithmetic without branches, since directions can hardly be predicted. They are unrolled: calls or a loop would
 * double their cost.
 */
export function logitsOf(trees: BoostedTrees, rows: Float32Array, columns: number): Float64Array {
  const { base, features, thresholds, leaves, count } = trees;
  const logits = new Float64Array(rows.length / columns).fill(base);
  const abreast = logits.length - (logits.length % ABREAST);
  for (let tree = 0; tree < count; tree++) {
    const first = tree * TREE_SPLITS;
    const leaf = tree * TREE_LEAVES - TREE_SPLITS;
    const feature = features[first]!;
    const threshold = thresholds[first]!;
    let from = 0;
    for (let row = 0; row < abreast; row += ABREAST, from += ABREAST * columns) {
      let a = 2 - Number(rows[from + feature]! < threshold);
      let b = 2 - Number(rows[from + columns + feature]! < threshold);
      let c = 2 - Number(rows[from + 2 * columns + feature]! < threshold);
      let d = 2 - Number(rows[from + 3 * columns + feature]! < threshold);
      let i = first + a;
      let j = first + b;
      let k = first + c;
      let l = first + d;
      a = 2 * a + 2 - Number(rows[from + features[i]!]! < thresholds[i]!);
      b = 2 * b + 2 - Number(rows[from + columns + features[j]!]! < thresholds[j]!);
      c = 2 * c + 2 - Number(rows[from + 2 * columns + features[k]!]! < thresholds[k]!);
      d = 2 * d + 2 - Number(rows[from + 3 * columns + features[l]!]! < thresholds[l]!);
      i = first + a;
      j = first + b;
      k = first + c;
      l = first + d;
      a = 2 * a + 2 - Number(rows[from + features[i]!]! < thresholds[i]!);
      b = 2 * b + 2 - Number(rows[from + columns + features[j]!]! < thresholds[j]!);
      c = 2 * c + 2 - Number(rows[from + 2 * columns + features[k]!]! < thresholds[k]!);
      d = 2 * d + 2 - Number(rows[from + 3 * columns + features[l]!]! < thresholds[l]!);
      i = first + a;
      j = first + b;
      k = first + c;
      l = first + d;
      a = 2 * a + 2 - Number(rows[from + features[i]!]! < thresholds[i]!);
      b = 2 * b + 2 - Number(rows[from + columns + features[j]!]! < thresholds[j]!);
      c = 2 * c + 2 - Number(rows[from + 2 * columns + features[k]!]! < thresholds[k]!);
      d = 2 * d + 2 - Number(rows[from + 3 * columns + features[l]!]! < thresholds[l]!);
      logits[row]! += leaves[leaf + a]!;
      logits[row + 1]! += leaves[leaf + b]!;
      logits[row + 2]! += leaves[leaf + c]!;
      logits[row + 3]! += leaves[leaf + d]!;
    }
    for (let row = abreast; row < logits.length; row++, from += columns) {
      let a = 0;
      for (let level = 0; level < TREE_DEPTH; level++) {
        a = 2 * a + 2 - Number(rows[from + features[first + a]!]! < thresholds[first + a]!);
      }
      logits[row]! += leaves[leaf + a]!;
    }
  }
  return logits;
}

/** The trees of this release. */
export const contentTrees = (): BoostedTrees => readTrees(CONTENT_BASE, CONTENT_TREES);
