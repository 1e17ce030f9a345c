import { createStopWords } from '../../src/core/plugin-host/api/stop-words.ts';
import { createMainContent } from '../../src/page/content/main-content.ts';
import { publishedContent } from '../../src/page/published/block-segmenter.ts';
import { createWordCutter } from '../../src/page/text/word-scan.ts';
import { cpuUs } from '../harness/cost.ts';
import { measurement } from '../harness/measurement.ts';
import { seeded } from '../harness/seeded.ts';
import { domOf, labelledPages, tapeOf } from './labelled-pages.ts';
import { madePages } from './made-pages.ts';
import { type Score, ScoreTable } from './scores.ts';

const OPTIONS = { pages: [] as string[], mode: 'improved', made: 0, seed: 1, worst: 0 };

/**
 * Main content of labelled pages by set and type or language, or of `--made N` made news pages a language and layout.
 * The shipped trees know the labelled pages, and the layouts of the made ones (with seed 77): `train` judges pages that
 * its trees have not seen.
 */
export const score = measurement('content', OPTIONS, async (bench, { pages, mode, made, seed, worst }) => {
  const table = new ScoreTable();
  const mainContent = createMainContent();
  if (made > 0) {
    for (const { language, layout, content, gold } of madePages(seeded(seed), made)) {
      const { text } = mainContent(tapeOf({ content }));
      const [title = ''] = gold.split('\n');
      // The title counts for content on some pages and not on others; records have it anyway.
      table.add(
        [`made ${language}`, `made ${layout}`, 'made'],
        text.includes(title) ? text : `${title}\n${text}`,
        gold,
      );
    }
    table.report(bench, 'Main content of made news pages');
    return;
  }
  const cut = createWordCutter();
  const stopWords = createStopWords()('en');
  const scores: { readonly name: string; readonly score: Score }[] = [];
  let us = 0;
  for (const page of labelledPages(pages)) {
    const dom = mode === 'published' ? domOf(page) : null;
    const tape = tapeOf(page);
    let text = '';
    us += await cpuUs(() => {
      text = (dom === null ? mainContent(tape) : publishedContent(dom, cut, stopWords)).text;
    });
    const own = table.add([page.set, `${page.set} ${page.part}`], text, page.gold);
    scores.push({ name: `${page.file} ${page.part}`, score: own });
  }
  const note = table.report(bench, `Main content of known labelled pages, ${mode}`);
  note('CPU of main content', us / scores.length / 1_000, 'ms');
  const rows = scores
    .sort((a, b) => a.score.f1 - b.score.f1)
    .slice(0, worst)
    .map(({ name, score: { precision, recall, f1 } }) => [
      name,
      ...[precision, recall, f1].map((each) => each.toFixed(2)),
    ]);
  if (rows.length > 0) bench.table(['worst', 'precision', 'recall', 'F1'], rows);
});
