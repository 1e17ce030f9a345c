/**
 * `npm run bench:paper [-- --days N] [--svg DIR]`: the experiment of the paper, by the real crawler, with three
 * schedules.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type PaperPage, type PaperResult, paperExperiment, settledAt } from './paper-experiment.ts';

const { values } = parseArgs({
  options: {
    days: { type: 'string', default: '240' },
    seed: { type: 'string', default: '1' },
    svg: { type: 'string' },
  },
});
const days = Number(values.days);
const PERIODS = [1, 2, 7, 14];
const pages: PaperPage[] = [true, false].flatMap((isRegular) =>
  PERIODS.map((periodDays) => ({ path: `/${isRegular ? 'regular' : 'random'}-${periodDays}`, periodDays, isRegular })),
);
const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

const results: PaperResult[] = [];
for (const [schedule, intervalDays] of [
  ['similarity', 4],
  ['freshness', 4],
  ['fixed', 0.5],
] as const) {
  results.push(await paperExperiment({ schedule, pages, days, seed: Number(values.seed), intervalDays }));
}
for (const result of results) {
  say(`\n${result.schedule}, ${days} days`);
  say('  page            period  interval settles at  fetches  visits that found a change, of changes');
  for (const page of result.pages) {
    const ratio = settledAt(page);
    say(
      `  ${page.path.padEnd(14)}  ${String(page.periodDays).padStart(4)} d  ${(ratio * page.periodDays).toFixed(2).padStart(7)} d = ${ratio.toFixed(2)} T  ${String(page.fetches).padStart(6)}  ${page.found} of ${page.changes}`,
    );
  }
}
const total = (result: PaperResult): number => result.pages.reduce((sum, page) => sum + page.fetches, 0);
const fixed = results.find(({ schedule }) => schedule === 'fixed') as PaperResult;
say('');
for (const result of results) {
  if (result !== fixed)
    say(
      `${result.schedule}: ${total(result)} fetches where a fixed interval of half a day takes ${total(fixed)} (${((100 * total(result)) / total(fixed)).toFixed(0)} %)`,
    );
}
if (values.svg !== undefined) {
  for (const result of results) {
    if (result !== fixed) writeFileSync(join(values.svg, `paper-${result.schedule}.svg`), drawing(result));
  }
}

/** Interval against visit, one line a page, on a logarithmic scale; dashed: the true periods. */
function drawing(result: PaperResult): string {
  const width = 760;
  const visits = 60;
  const x = (visit: number): number => 60 + (visit * (width - 180)) / visits;
  const y = (interval: number): number => 300 - 60 * Math.log2(Math.min(Math.max(interval, 0.25), 32) / 0.5);
  const colours = ['#06c', '#0a7', '#c50', '#a3a'];
  const lines = result.pages.map((page, i) => {
    const points = page.intervals
      .slice(0, visits)
      .map((interval, visit) => `${x(visit).toFixed(1)},${y(interval).toFixed(1)}`);
    const dash = page.isRegular ? '' : ' stroke-opacity="0.4"';
    return `<polyline points="${points.join(' ')}" fill="none" stroke="${colours[i % 4]}" stroke-width="1.5"${dash}/>`;
  });
  const periods = PERIODS.map(
    (period, i) =>
      `<line x1="60" x2="${width - 110}" y1="${y(period)}" y2="${y(period)}" stroke="${colours[i]}" stroke-dasharray="4 4"/><text x="${width - 100}" y="${y(period) + 4}" fill="${colours[i]}">T = ${period} d</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="360" font-family="sans-serif" font-size="13"><title>Interval after each visit</title><rect width="${width}" height="360" fill="#fff"/><text x="20" y="20">Interval after each visit (log scale), schedule ${result.schedule}; faint: pages that change at random</text>${periods.join('')}${lines.join('')}<text x="60" y="345">visit 0</text><text x="${x(visits) - 40}" y="345">visit ${visits}</text></svg>\n`;
}
