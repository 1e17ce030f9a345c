/**
 * `npm run bench:paper [-- --days N] [--svg DIR]`: the experiment of the paper, by the real crawler, with three
 * schedules.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { linePlot, plotFile } from '../plots/line-plot.ts';
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
  const visits = 60;
  const colours = ['#06c', '#0a7', '#c50', '#a3a'];
  const [least, most] = [0.25, 32];
  const plot = linePlot({
    caption: `Interval after each visit (log scale), schedule ${result.schedule}; faint: pages that change at random`,
    x: { ticks: [0, 20, 40, 60].map((at) => ({ at, label: at === 0 ? 'visit 0' : String(at) })) },
    y: {
      isLog: true,
      ticks: [
        { at: least, label: `${least} d` },
        ...PERIODS.map((at, i) => ({ at, label: `T = ${at} d`, colour: colours[i] as string })),
        { at: most, label: `${most} d` },
      ],
    },
    curves: result.pages.map(({ path, isRegular, intervals }, i) => ({
      label: path,
      colour: colours[i % 4] as string,
      isFaint: !isRegular,
      points: intervals.slice(0, visits).map((interval, visit) => [visit, Math.min(Math.max(interval, least), most)]),
    })),
  });
  return plotFile('Interval after each visit', [plot]);
}
