/**
 * `node dist/bench/content/train.js --pages FOLDER [--pages FOLDER ..] [--judge] [--folds 4] [--out
 * src/domain/page/content/trees/content-trees.ts]`: learns the trees of the main content from sets of labelled pages.
 *
 * With --judge, each set is scored by trees learnt from the other sets; with --folds, all pages by trees learnt from
 * the pages of other sites; with --out, trees learnt from all pages are written. The same pages give the same trees,
 * byte for byte. Made news pages in several languages are added to each training set, with less weight; they are not
 * scored.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { createMainContent } from '../../src/domain/page/content/main-content.ts';
import type { BoostedTrees } from '../../src/domain/page/content/trees/content-model.ts';
import { seeded } from '../seeded.ts';
import { boost } from './boosting.ts';
import { type Example, exampleOf, samplesOf } from './examples.ts';
import { type LabelledPage, labelledPages, tapeOf } from './labelled-pages.ts';
import { madePages } from './made-pages.ts';
import { ScoreTable } from './scores.ts';
import { sourceOfTrees } from './tree-source.ts';

const { values } = parseArgs({
  options: {
    pages: { type: 'string', multiple: true, default: [] },
    judge: { type: 'boolean', default: false },
    folds: { type: 'string' },
    out: { type: 'string' },
  },
});
/** Their layouts are few and alike where real pages differ. */
const MADE = { seed: 77, perLayout: 4, weight: 0.25 };

const pages = labelledPages(values.pages);
const sizes = new Map<string, number>();
for (const { set } of pages) sizes.set(set, (sizes.get(set) ?? 0) + 1);
const largest = Math.max(...sizes.values());
/** Pages of a small set weigh more, and still less than the set would by itself: sets differ more than their pages. */
const examples = pages.map((page) => exampleOf(page, Math.sqrt(largest / (sizes.get(page.set) ?? 1))));
const made = madePages(seeded(MADE.seed), MADE.perLayout).map((page) => exampleOf(page, MADE.weight));

const learn = (from: readonly Example<LabelledPage>[]): BoostedTrees => boost(samplesOf([...from, ...made]));

/** Scores each group of pages by trees learnt from all others. */
function judged(title: string, groupOf: (page: LabelledPage) => string | number): void {
  const table = new ScoreTable();
  for (const group of new Set(pages.map(groupOf))) {
    const find = createMainContent(learn(examples.filter(({ page }) => groupOf(page) !== group)));
    for (const page of pages) {
      if (groupOf(page) !== group) continue;
      table.add([page.set, `${page.set} ${page.part}`], find(tapeOf(page)).text, page.gold);
    }
  }
  process.stdout.write(`${title}\n${table}\n`);
}

/** The fold of a site: the same in all sets, and whatever pages there are. */
function foldOf(site: string, folds: number): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(site)) hash = Math.imul(hash ^ byte, 0x01000193);
  return ((hash ^ (hash >>> 15)) >>> 0) % folds;
}

if (values.judge) judged('Each set by trees learnt from the other sets', ({ set }) => set);
if (values.folds !== undefined) {
  const folds = Number(values.folds);
  judged(`${folds} folds, each by trees learnt from the pages of other sites`, ({ site }) => foldOf(site, folds));
}
if (values.out !== undefined) {
  writeFileSync(
    values.out,
    sourceOfTrees(learn(examples), [...sizes].map(([set, size]) => `${size} of ${set}`).join(', ')),
  );
}
