import { writeFileSync } from 'node:fs';
import { createMainContent } from '../../src/page/content/main-content.ts';
import type { BoostedTrees } from '../../src/page/content/trees/content-model.ts';
import { type Bench, measurement } from '../harness/measurement.ts';
import { seeded } from '../harness/seeded.ts';
import { boost } from './boosting.ts';
import { type Example, exampleOf, samplesOf } from './examples.ts';
import { type LabelledPage, labelledPages, tapeOf } from './labelled-pages.ts';
import { madePages } from './made-pages.ts';
import { ScoreTable } from './scores.ts';
import { sourceOfTrees } from './tree-source.ts';

/** Their layouts are few and alike where real pages differ. */
const MADE = { seed: 77, perLayout: 4, weight: 0.25 };

type Known = Example<LabelledPage>;

/**
 * Learns the trees of the main content from sets of labelled pages. With --judge, each set is scored by trees learnt
 * from the other sets; with --folds, all pages by trees learnt from the pages of other sites; with --out, trees learnt
 * from all pages are written. The same pages give the same trees, byte for byte. Made news pages in several languages
 * are added to each training set, with less weight; they are not scored.
 */
export const train = measurement(
  'content',
  { pages: [] as string[], judge: false, folds: 0, out: '' },
  (bench, { pages: folders, judge, folds, out }) => {
    const pages = labelledPages(folders);
    const sizes = new Map<string, number>();
    for (const { set } of pages) sizes.set(set, (sizes.get(set) ?? 0) + 1);
    const largest = Math.max(...sizes.values());
    // Pages of a small set weigh more, and still less than the set would by itself: sets differ more than their pages.
    const examples = pages.map((page) => exampleOf(page, Math.sqrt(largest / (sizes.get(page.set) ?? 1))));
    const made = madePages(seeded(MADE.seed), MADE.perLayout).map((page) => exampleOf(page, MADE.weight));
    const learn = (from: readonly Known[]): BoostedTrees => boost(samplesOf([...from, ...made]));
    if (judge) judged(bench, 'Main content, a set left out', examples, ({ set }) => set, learn);
    if (folds > 0)
      judged(
        bench,
        'Main content, all sets known but for the sites judged',
        examples,
        ({ site }) => foldOf(site, folds),
        learn,
      );
    if (out === '') return;
    const sets = [...sizes].map(([set, size]) => `${size} of ${set}`);
    writeFileSync(out, sourceOfTrees(learn(examples), sets.join(', ')));
  },
);

/** Scores each group of pages by trees learnt from all others. */
function judged(
  bench: Bench,
  title: string,
  examples: readonly Known[],
  groupOf: (page: LabelledPage) => string | number,
  learn: (from: readonly Known[]) => BoostedTrees,
): void {
  const table = new ScoreTable();
  for (const group of new Set(examples.map(({ page }) => groupOf(page)))) {
    const find = createMainContent(learn(examples.filter(({ page }) => groupOf(page) !== group)));
    for (const { page } of examples) {
      if (groupOf(page) !== group) continue;
      table.add([page.set, `${page.set} ${page.part}`], find(tapeOf(page)).text, page.gold);
    }
  }
  table.report(bench, title);
}

/** The fold of a site: the same in all sets, and whatever pages there are. */
function foldOf(site: string, folds: number): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(site)) hash = Math.imul(hash ^ byte, 0x01000193);
  return ((hash ^ (hash >>> 15)) >>> 0) % folds;
}
