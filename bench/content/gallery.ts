/**
 * `node dist/bench/content/gallery.js --pages FOLDER.. --html FILE [--worst 20]`: the worst labelled pages as one HTML
 * file. Each block has its certainty and what decided, and is taken wrongly (red), missed (orange), or right.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { blockSection, escaped, htmlFile, isReadIn } from '../../src/cli/render/html/blocks-html.ts';
import { createMainContent } from '../../src/domain/page/content/main-content.ts';
import { pageBlocks } from '../../src/domain/page/content/page-blocks.ts';
import { contentReasons } from '../../src/domain/page/content/trees/content-reasons.ts';
import { readableText } from '../../src/domain/page/published/readable-text.ts';
import { TextSketch } from '../../src/domain/page/text/text-sketch.ts';
import { domOf, type LabelledPage, labelledPages, tapeOf } from './labelled-pages.ts';
import { type Score, ScoreTable } from './scores.ts';

const { values } = parseArgs({
  options: {
    pages: { type: 'string', multiple: true, default: [] },
    html: { type: 'string', default: 'gallery.html' },
    worst: { type: 'string', default: '20' },
  },
});
if (values.pages.length === 0) throw new Error('expected --pages FOLDER: labelled pages (see labelled-pages.ts)');
const mainContent = createMainContent();
const scores = new ScoreTable();

interface Judged {
  readonly page: LabelledPage;
  readonly score: Score;
}

const judged: Judged[] = labelledPages(values.pages).map((page) => ({
  page,
  score: scores.add([`${page.set} ${page.part}`], mainContent(tapeOf(page)).text, page.gold),
}));
const worst = judged.sort((a, b) => a.score.f1 - b.score.f1).slice(0, Number(values.worst));

/** A page with each block beside what the reference has of it. */
function section({ page, score }: Judged): string {
  const reading = readableText(domOf(page));
  const tape = tapeOf(page);
  const reasons = contentReasons(tape);
  const found = mainContent(tape);
  const read = new TextSketch(reading);
  const gold = new TextSketch(page.gold);
  const blocks = pageBlocks(found, found.outline.blockCount).list();
  const sections = blocks.map((block) => {
    const isGold = isReadIn(gold, block.text);
    const isTaken = block.type === 'main';
    const mark = isTaken === isGold ? '' : isTaken ? 'wrong' : 'missed';
    return blockSection({ ...block, reasons: reasons.get(block.path) ?? [], isRead: isReadIn(read, block.text), mark });
  });
  const [precision, recall, f1] = [score.precision, score.recall, score.f1].map((value) => value.toFixed(2));
  const byReading = scores.add(['by a reading mode'], reading, page.gold).f1.toFixed(2);
  return `<details><summary>${escaped(page.file)} · ${escaped(page.part)} · F1 ${f1} (precision ${precision}, recall ${recall}); reading mode ${byReading}</summary>
${sections.join('\n')}</details>`;
}

writeFileSync(
  values.html,
  htmlFile(
    `The ${worst.length} worst of ${judged.length} labelled pages`,
    `<h1>The ${worst.length} worst of ${judged.length} labelled pages</h1>
<p>Red: taken, and not in the reference. Orange: in the reference, and missed. R: a reading mode shows it.</p>
${worst.map(section).join('\n')}`,
  ),
);
process.stdout.write(`${scores}\n${values.html}: the ${worst.length} worst of ${judged.length} pages\n`);
