/**
 * `node dist/bench/content/score-made.js [--seed 1] [--pages 20]`: scores of the main content of made news pages, by
 * language and layout (made-pages.ts). The shipped trees were trained on these layouts with seed 77, so the scores do
 * not measure other layouts.
 */
import { parseArgs } from 'node:util';
import { createMainContent } from '../../src/domain/page/content/main-content.ts';
import { seeded } from '../seeded.ts';
import { tapeOf } from './labelled-pages.ts';
import { madePages } from './made-pages.ts';
import { ScoreTable } from './scores.ts';

const { values } = parseArgs({
  options: { seed: { type: 'string', default: '1' }, pages: { type: 'string', default: '20' } },
});
const mainContent = createMainContent();
const byLanguage = new ScoreTable();
const byLayout = new ScoreTable();
for (const { language, layout, content, gold } of madePages(seeded(Number(values.seed)), Number(values.pages))) {
  const { text } = mainContent(tapeOf({ content }));
  const [title = ''] = gold.split('\n');
  // The title counts for content on some pages and not on others; records have it anyway.
  const found = text.includes(title) ? text : `${title}\n${text}`;
  byLanguage.add([language, 'all'], found, gold);
  byLayout.add([layout, 'all'], found, gold);
}
process.stdout.write(`${byLanguage}\n\n${byLayout}\n`);
