import type { Tape } from '../../tape/tape.ts';
import { ContextReader, FEATURES, hiddenElements } from '../block-context.ts';
import { blockFeatures } from '../block-features.ts';
import { createMainContent } from '../main-content.ts';
import { isReported, pageBlocks } from '../page-blocks.ts';
import { pageShape } from '../page-shape.ts';
import { type BoostedTrees, contentTrees, TREE_DEPTH, TREE_LEAVES, TREE_SPLITS } from './content-model.ts';

/** The effect of a feature on the logit of a block: above 0 towards content. */
export interface Effect {
  readonly feature: number;
  readonly value: number;
  readonly effect: number;
}

/**
 * Divides the logit of a row among its features: on the way to a leaf, the feature of each split gets the difference
 * that its branch makes to the mean of the leaves below (A. Saabas, Interpreting random forests, 2014). Meant for
 * explanations to people; a crawl does not compute it.
 * @returns all features that were tested, the greatest effects first; with the mean of all leaves they add up to the
 * logit
 */
export function effectsOf(trees: BoostedTrees, row: Float32Array): Effect[] {
  const effects = new Map<number, number>();
  for (let tree = 0; tree < trees.count; tree++) {
    const split = tree * TREE_SPLITS;
    let node = 0;
    let mean = meanBelow(trees, tree, node, 0);
    for (let level = 0; level < TREE_DEPTH; level++) {
      const feature = trees.features[split + node]!;
      node = 2 * node + 2 - Number(row[feature]! < trees.thresholds[split + node]!);
      const next = meanBelow(trees, tree, node, level + 1);
      effects.set(feature, (effects.get(feature) ?? 0) + next - mean);
      mean = next;
    }
  }
  return [...effects]
    .map(([feature, effect]) => ({ feature, value: row[feature]!, effect }))
    .sort((a, b) => Math.abs(b.effect) - Math.abs(a.effect));
}

/** A feature of a block that speaks for its being content (effect above 0) or against it. */
export interface Reason {
  /** As the README of parsefilter-main-content lists them. */
  readonly feature: string;
  readonly value: number;
  readonly effect: number;
}

const MOST_REASONS = 4;

/**
 * Why each reported block of a page is content or not, by its path: the features with the greatest effects. Reads the
 * page once more.
 */
export function contentReasons(tape: Tape): Map<string, readonly Reason[]> {
  const trees = contentTrees();
  const found = createMainContent(trees)(tape);
  const { outline, isMain } = found;
  const page = pageShape(outline);
  const rows = blockFeatures(outline, page, new ContextReader().read(outline, page));
  const isHidden = hiddenElements(outline);
  const paths = pageBlocks(found, outline.blockCount)
    .list()
    .map(({ path }) => path);
  const reasons = new Map<string, readonly Reason[]>();
  for (let block = 0; block < outline.blockCount; block++) {
    if (!isReported(block, outline.blocks, isMain, isHidden)) continue;
    const row = rows.subarray(block * FEATURES.length, (block + 1) * FEATURES.length);
    const effects = effectsOf(trees, row).slice(0, MOST_REASONS);
    const path = paths[reasons.size]!;
    reasons.set(
      path,
      effects.map(({ feature, value, effect }) => ({ feature: FEATURES[feature]!, value, effect })),
    );
  }
  return reasons;
}

/** Mean of the leaves below a node; a level has `2 ** level` nodes side by side, breadth first. */
function meanBelow({ leaves }: BoostedTrees, tree: number, node: number, level: number): number {
  const width = TREE_LEAVES >> level;
  const first = tree * TREE_LEAVES + (node + 1 - (1 << level)) * width;
  let sum = 0;
  for (let leaf = first; leaf < first + width; leaf++) sum += leaves[leaf]!;
  return sum / width;
}
