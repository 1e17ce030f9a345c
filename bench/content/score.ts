/**
 * `node dist/bench/content/score.js --pages FOLDER [--pages FOLDER ..] [--mode improved|published] [--worst N]`: scores
 * of the main content of labelled pages by set and type or language, and its CPU. The shipped trees know these pages:
 * train.ts judges pages that its trees have not seen.
 */
import { parseArgs } from 'node:util';
import { createMainContent } from '../../src/domain/page/content/main-content.ts';
import { publishedContent } from '../../src/domain/page/published/published-blocks.ts';
import { createWordCutter } from '../../src/domain/page/text/word-scan.ts';
import { createStopWords } from '../../src/plugin-host/api/stop-words.ts';
import { domOf, labelledPages, tapeOf } from './labelled-pages.ts';
import { type Score, ScoreTable } from './scores.ts';

const { values } = parseArgs({
  options: {
    pages: { type: 'string', multiple: true, default: [] },
    mode: { type: 'string', default: 'improved' },
    worst: { type: 'string', default: '0' },
  },
});
const mainContent = createMainContent();
const cut = createWordCutter();
const stopWords = createStopWords()('en');
const table = new ScoreTable();
const scores: { readonly file: string; readonly part: string; readonly score: Score }[] = [];
let cpuUs = 0;
let chars = 0;
for (const page of labelledPages(values.pages)) {
  const dom = values.mode === 'published' ? domOf(page) : null;
  const tape = tapeOf(page);
  chars += page.content.length;
  const before = process.cpuUsage();
  const { text } = dom === null ? mainContent(tape) : publishedContent(dom, cut, stopWords);
  const { user, system } = process.cpuUsage(before);
  cpuUs += user + system;
  const score = table.add([page.set, `${page.set} ${page.part}`], text, page.gold);
  scores.push({ file: page.file, part: page.part, score });
}
const perPage = (sum: number): string => (sum / scores.length / 1_000).toFixed(2);
process.stdout.write(`${table}\n${perPage(cpuUs)} ms CPU a page of ${perPage(chars)} thousand characters\n`);
for (const { file, part, score } of scores.sort((a, b) => a.score.f1 - b.score.f1).slice(0, Number(values.worst))) {
  const [precision, recall, f1] = [score.precision, score.recall, score.f1].map((value) => value.toFixed(2));
  process.stdout.write(`${file} ${part.padEnd(14)} P ${precision} R ${recall} F ${f1}\n`);
}
