/**
 * `node dist/bench/content/train.js --pages FOLDER [--folds 5 [--shuffles 5]] [--out
 * src/domain/page/content/content-trees.ts]`: with --folds, cross-validates, repeated --shuffles times, and prints the
 * scores by type; with --out, writes trees trained on all pages. Made news pages in several languages are added to each
 * training set, with less weight; they are not scored.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { ContextReader } from '../../src/domain/page/content/block-context.ts';
import { blockFeatures } from '../../src/domain/page/content/block-features.ts';
import { type BoostedTrees, TREE_LEAVES, TREE_SPLITS } from '../../src/domain/page/content/content-model.ts';
import { FEATURES } from '../../src/domain/page/content/feature-columns.ts';
import { createMainContent } from '../../src/domain/page/content/main-content.ts';
import { OutlineReader } from '../../src/domain/page/content/outline.ts';
import { pageShape } from '../../src/domain/page/content/page-shape.ts';
import { seeded } from '../seeded.ts';
import { blockLabels, blockWeights } from './block-labels.ts';
import { BOOSTING, boost, type Samples } from './boosting.ts';
import { labelledPages, ScoreTable, tapeOf } from './labelled-pages.ts';
import { madePages } from './made-pages.ts';

interface Example {
  readonly rows: Float32Array;
  readonly labels: Float32Array;
  readonly weights: Float32Array;
}

const { values } = parseArgs({
  options: {
    pages: { type: 'string', default: '' },
    folds: { type: 'string' },
    shuffles: { type: 'string', default: '1' },
    out: { type: 'string' },
  },
});
/** Their layouts are few and alike where real pages differ. */
const MADE = { seed: 77, perLayout: 4, weight: 0.25 };

const outlines = new OutlineReader();
const contexts = new ContextReader();

function exampleOf<Page extends { readonly content: string; readonly gold: string }>(
  page: Page,
  weight: number,
): Example & { readonly page: Page } {
  const outline = outlines.read(tapeOf(page));
  const blocks = Array.from({ length: outline.blockCount }, (_, i) => outline.textOf(i));
  const shape = pageShape(outline);
  return {
    page,
    rows: blockFeatures(outline, shape, contexts.read(outline, shape)),
    labels: blockLabels(blocks, page.gold),
    weights: blockWeights(blocks, page.gold).map((each) => each * weight),
  };
}
const examples = labelledPages(values.pages).map((page) => exampleOf(page, 1));
const made = madePages(seeded(MADE.seed), MADE.perLayout).map((page) => exampleOf(page, MADE.weight));

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

/**
 * Places of the pages in an order of its own for each seed, those of a type side by side: folds get an equal share of
 * each type.
 */
function shuffled(seed: number): number[] {
  const random = seeded(seed);
  const rank = examples.map(() => random());
  const typeOf = (i: number): string => examples[i]?.page.type ?? '';
  return [...examples.keys()].sort((a, b) =>
    typeOf(a) === typeOf(b) ? (rank[a] as number) - (rank[b] as number) : typeOf(a) < typeOf(b) ? -1 : 1,
  );
}

if (values.folds !== undefined) {
  const folds = Number(values.folds);
  const shuffles = Number(values.shuffles);
  const table = new ScoreTable();
  for (let shuffle = 0; shuffle < shuffles; shuffle++) {
    const order = shuffled(1 + shuffle);
    for (let fold = 0; fold < folds; fold++) {
      const isJudged = new Set(order.filter((_, i) => i % folds === fold));
      const trees = boost(samplesOf([...examples.filter((_, i) => !isJudged.has(i)), ...made]), {
        ...BOOSTING,
        seed: shuffle + 1,
      });
      const find = createMainContent(trees);
      for (const i of isJudged) {
        const { page } = examples[i] as (typeof examples)[number];
        table.add(page.type, find(tapeOf(page)).text, page.gold);
      }
    }
  }
  process.stdout.write(`${shuffles} x ${folds} folds, each judged by trees learnt from the others\n${table}\n`);
}
if (values.out !== undefined) writeFileSync(values.out, sourceOf(boost(samplesOf([...examples, ...made]))));

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
 * Decision trees of the main content, written by \`node dist/bench/content/train.js --out\` (see bench/RESULTS.md); not
 * to be edited. Learnt from the ${examples.length} pages of the development split of the Web Content Extraction
 * Benchmark (Murrough Foley, CC BY 4.0) at hand, and from ${made.length} made ones in five languages (made-pages.ts).
 * The numbers before the colons are columns of FEATURES in feature-columns.ts.
 */
export const CONTENT_BASE = ${number(base)};

export const CONTENT_TREES: readonly string[] = [
${lines.join('\n')}
];
`;
}
