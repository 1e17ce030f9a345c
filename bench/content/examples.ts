/** Blocks of pages as rows to learn from. */
import { ContextReader, FEATURES } from '../../src/page/content/block-context.ts';
import { blockFeatures } from '../../src/page/content/block-features.ts';
import { OutlineReader } from '../../src/page/content/outline.ts';
import { pageShape } from '../../src/page/content/page-shape.ts';
import { blockLabels, blockWeights } from './block-labels.ts';
import type { Samples } from './boosting.ts';
import { tapeOf } from './labelled-pages.ts';

export interface Example<Page> {
  readonly page: Page;
  readonly rows: Float32Array;
  readonly labels: Float32Array;
  readonly weights: Float32Array;
}

const outlines = new OutlineReader();
const contexts = new ContextReader();

/** @param weight of the page */
export function exampleOf<Page extends { readonly content: string; readonly gold: string }>(
  page: Page,
  weight: number,
): Example<Page> {
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

/** The labelled blocks of all pages. */
export function samplesOf(examples: readonly Example<unknown>[]): Samples {
  const columns = FEATURES.length;
  const size = examples.reduce((sum, { labels }) => sum + labels.filter((label) => label >= 0).length, 0);
  const samples = {
    rows: new Float32Array(size * columns),
    labels: new Float32Array(size),
    weights: new Float32Array(size),
    columns,
  };
  let at = 0;
  for (const { rows, labels, weights } of examples) {
    for (const [i, label] of labels.entries()) {
      if (label < 0) continue;
      samples.rows.set(rows.subarray(i * columns, (i + 1) * columns), at * columns);
      samples.labels[at] = label;
      samples.weights[at++] = weights[i]!;
    }
  }
  return samples;
}
