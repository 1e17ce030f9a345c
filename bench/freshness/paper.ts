import { percent, sum } from '../harness/cost.ts';
import { measurement } from '../harness/measurement.ts';
import { type PaperPage, type PaperResult, paperExperiment, settledAt } from './paper-experiment.ts';

const PERIODS = [1, 2, 7, 14];
const PAGES: readonly PaperPage[] = [true, false].flatMap((isRegular) =>
  PERIODS.map((periodDays) => ({ path: `/${isRegular ? 'regular' : 'random'}-${periodDays}`, periodDays, isRegular })),
);
/** Schedules with their first interval, days; the last one, which stays at it, is what the others are compared with. */
const SCHEDULES = { similarity: 4, freshness: 4, fixed: 0.5 };

/** The experiment of the paper, by the real crawler, with three schedules. */
export const paper = measurement('freshness', { days: 240, seed: 1 }, async (bench, { days, seed }) => {
  const results: PaperResult[] = [];
  for (const [schedule, intervalDays] of Object.entries(SCHEDULES))
    results.push(await paperExperiment({ schedule, pages: PAGES, days, seed, intervalDays }));
  const note = bench.question(`The published experiment, ${days} days, intervals in periods of change`);
  const fetchesOf = ({ pages }: PaperResult): number => sum(pages.map(({ fetches }) => fetches));
  const fixed = results.at(-1) as PaperResult;
  for (const result of results.slice(0, -1)) {
    const { schedule, pages } = result;
    bench.say(`${schedule}, ${days} days`);
    bench.table(
      ['page', 'period', 'interval', 'fetches', 'found', 'changes'],
      pages.map((page) => [
        ...[page.path, `${page.periodDays} d`, `${settledAt(page).toFixed(2)} T`],
        ...[page.fetches, page.found, page.changes].map(String),
      ]),
    );
    for (const isRegular of [true, false]) {
      const settled = pages.filter((page) => page.isRegular === isRegular).map(settledAt);
      const kind = `${schedule}, ${isRegular ? 'exact' : 'random'} changes`;
      note(`${kind}, least`, Math.min(...settled), 'T');
      note(`${kind}, most`, Math.max(...settled), 'T');
    }
    note(
      `fetches against a fixed interval of half a day, ${schedule}`,
      percent(fetchesOf(result), fetchesOf(fixed)),
      '%',
    );
  }
});
