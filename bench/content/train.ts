/**
 * `node dist/bench/content/train.js --pages FOLDER [--folds 5] [--out src/domain/page/content-trees.ts]`: with --folds, trees learnt from the
 * other pages judge each page, and the scores are printed by type; with --out, trees learnt from all pages are written.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { blockFeatures, FEATURES } from '../../src/domain/page/block-features.ts';
import { type BoostedTrees, TREE_LEAVES, TREE_SPLITS } from '../../src/domain/page/content-model.ts';
import { likelyBlocks } from '../../src/domain/page/main-content.ts';
import { type PageShape, pageShape } from '../../src/domain/page/page-shape.ts';
import { type Outline, outlineOf } from '../../src/domain/page/text-blocks.ts';
import { blockLabels, blockWeights } from './block-labels.ts';
import { boost, type Samples } from './boosting.ts';
import { domOf, type LabelledPage, labelledPages, ScoreTable } from './labelled-pages.ts';

interface Example {
  readonly page: LabelledPage;
  readonly outline: Outline;
  readonly shape: PageShape;
  readonly rows: Float32Array;
  readonly labels: Float32Array;
  readonly weights: Float32Array;
}

const { values } = parseArgs({
  options: { pages: { type: 'string', default: '' }, folds: { type: 'string' }, out: { type: 'string' } },
});
const examples = labelledPages(values.pages).map((page): Example => {
  const outline = outlineOf(domOf(page));
  const { blocks } = outline;
  const labels = blockLabels(blocks, page.gold);
  const shape = pageShape(outline);
  return {
    page,
    outline,
    shape,
    rows: blockFeatures(outline, shape),
    labels,
    weights: blockWeights(blocks, page.gold),
  };
});

function samplesOf(chosen: readonly Example[]): Samples {
  const columns = FEATURES.length;
  const size = chosen.reduce((sum, { labels }) => sum + labels.filter((label) => label >= 0).length, 0);
  const samples = {
    rows: new Float32Array(size * columns),
    labels: new Float32Array(size),
    weights: new Float32Array(size),
    columns,
  };
  let at = 0;
  for (const { rows, labels, weights } of chosen) {
    for (const [i, label] of labels.entries()) {
      if (label < 0) continue;
      samples.rows.set(rows.subarray(i * columns, (i + 1) * columns), at * columns);
      samples.labels[at] = label;
      samples.weights[at++] = weights[i] as number;
    }
  }
  return samples;
}

if (values.folds !== undefined) {
  const folds = Number(values.folds);
  const table = new ScoreTable();
  for (let fold = 0; fold < folds; fold++) {
    const trees = boost(samplesOf(examples.filter((_, i) => i % folds !== fold)));
    for (const { page, outline, shape, rows } of examples.filter((_, i) => i % folds === fold)) {
      const isMain = likelyBlocks(outline, shape, rows, trees);
      const kept = outline.blocks.filter((_, i) => isMain[i]);
      table.add(page.type, kept.map(({ text }) => text).join('\n'), page.gold);
    }
  }
  process.stdout.write(`${folds} folds, each judged by trees learnt from the others\n${table}\n`);
}
if (values.out !== undefined) writeFileSync(values.out, sourceOf(boost(samplesOf(examples))));

function sourceOf({ base, features, thresholds, leaves, count }: BoostedTrees): string {
  const number = (value: number): string => String(Number(value.toPrecision(6)));
  const lines = Array.from({ length: count }, (_, tree) => {
    const splits = Array.from({ length: TREE_SPLITS }, (_each, i) => {
      const at = tree * TREE_SPLITS + i;
      return `${features[at]}:${number(thresholds[at] as number)}`;
    });
    const values = [...leaves.slice(tree * TREE_LEAVES, (tree + 1) * TREE_LEAVES)].map((leaf) =>
      String(Number(leaf.toFixed(4))),
    );
    return `  '${splits.join(' ')} | ${values.join(' ')}',`;
  });
  return `/**
 * Decision trees of the main content, written by \`node dist/bench/content/train.js --out\` (see bench/RESULTS.md); not to be edited. Learnt from the
 * ${examples.length} pages of the development split of the Web Content Extraction Benchmark (Murrough Foley, CC BY 4.0) at hand. The numbers
 * before the colons are columns of FEATURES in block-features.ts.
 */
export const CONTENT_BASE = ${number(base)};

export const CONTENT_TREES: readonly string[] = [
${lines.join('\n')}
];
`;
}
