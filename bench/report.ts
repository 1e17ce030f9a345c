/** `npm run bench:report`: writes `bench/RESULTS.md`, and a page an area, from the figures in `bench/results`. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { growthPlot } from './crawl/growth-plot.ts';
import { longRunFigures, parseLongRuns } from './harness/long-runs.ts';
import { type Area, byQuestion, type Figure, isMissed, LONG_RUNS, readAreas } from './harness/results.ts';

/** What the first screen answers: its words, and the figure by area, question and metric. */
const HEADLINES: readonly (readonly [words: string, area: string, question: string, metric: string])[] = [
  ['CPU a page, 5,000 pages of 36 KB', 'peers', '5,000 pages of 36 KB', 'CPU a page'],
  ['peak memory of that crawl', 'peers', '5,000 pages of 36 KB', 'peak memory'],
  ['CPU a page, 400 real-sized pages', 'peers', '400 real-sized pages', 'CPU a page, real-sized'],
  ['second crawl, 5 % changed: CPU against the full one', 'crawls', 'Two crawls', 'CPU of the second crawl against'],
  ['its body bytes against those of the changed pages', 'crawls', 'Two crawls', 'body bytes of the second crawl'],
  ['second crawl of an application that a browser renders: CPU', 'peers', 'Rendering', 'CPU of the second crawl'],
  [
    'changes of a real site seen within 7 days, of 545',
    'freshness',
    'Recorded years of sites',
    'Incubator, changes seen within 7',
  ],
  ['main content of unseen English news, F1', 'content', 'Main content, a set left out', 'F1 of English news'],
  ['one of 1,000,000 URLs asked for, CPU', 'crawldb', 'Questions', 'one URL'],
  ['kills survived with the same end, of 1,000', 'torture', 'A crawl that is killed', 'kills in the n-th call'],
];
const COLUMNS: readonly (readonly [heading: string, programs: readonly (string | undefined)[]])[] = [
  ['incrawl', [undefined]],
  ['Crawlee', ['Crawlee']],
  ['Scrapy', ['Scrapy']],
  ['Nutch', ['Nutch', "Nutch's rule"]],
  ['HTTrack', ['HTTrack']],
];

const number = (value: number): string => value.toLocaleString('en', { maximumFractionDigits: 4 });

function textOf({ value, unit }: Figure): string {
  const text = typeof value === 'number' ? number(value) : value.map(number).join(' to ');
  return unit === '' ? text : `${text} ${unit}`;
}

const aimOf = (figure: Figure): string =>
  figure.aim === undefined ? '' : `${figure.aim}${isMissed(figure) ? ', **missed**' : ''}`;

function whenOf({ date, load, machine: { cores, memory, node }, commit }: Figure): string {
  const machine = [`${cores} cores`, ...(memory === undefined ? [] : [`${memory} GB`]), `Node ${node}`];
  return [date, load, ...machine, commit].join(', ');
}

const row = (cells: readonly string[]): string => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
const table = (heading: readonly string[], rows: readonly (readonly string[])[]): string[] => [
  row(heading),
  `|${'---|'.repeat(heading.length)}`,
  ...rows.map(row),
];

/** One metric, one value, one command a row, under the heading of each question. */
export function pageOf({ area, title, about, plots, notes, figures }: Area): string {
  const lines = [`# ${title}`, '', ...about, ...(about.length > 0 ? [''] : [])];
  lines.push(`Made from [${area}.json](${area}.json) by \`npm run bench:report\`. [All areas](../RESULTS.md).`, '');
  for (const [question, own] of byQuestion(figures)) {
    const note = notes[question] ?? [];
    const counted = [...new Set(own.flatMap(({ counts }) => Object.keys(counts ?? {})))];
    const rows = own.map((figure) => {
      const metric = figure.program === undefined ? figure.metric : `${figure.program}: ${figure.metric}`;
      const counts = counted.map((name) => number(figure.counts?.[name] ?? 0));
      return [metric, textOf(figure), ...counts, aimOf(figure), `\`${figure.command}\``, whenOf(figure)];
    });
    lines.push(`## ${question}`, '', ...note, ...(note.length > 0 ? [''] : []));
    lines.push(...table(['metric', 'value', ...counted, 'aim', 'command', 'measured'], rows), '');
  }
  for (const { file, caption } of plots) lines.push(`![${caption}](../plots/${file})`);
  return `${lines.join('\n').trimEnd()}\n`;
}

/** The first screen: ten questions beside other crawlers, and the areas. */
export function overviewOf(areas: readonly Area[]): string {
  const rows = HEADLINES.map(([words, name, question, metric]) => {
    const area = areas.find((each) => each.area === name);
    const own = (area?.figures ?? []).filter((each) => each.question.startsWith(question));
    const first = own.find((each) => each.metric.startsWith(metric) && each.program === undefined);
    if (first === undefined) throw new Error(`bench/results/${name}.json has no figure "${metric}" of "${question}"`);
    const cells = COLUMNS.map(([, programs]) => {
      const figure = own.find((each) => each.metric === first.metric && programs.includes(each.program));
      return figure === undefined ? '' : textOf(figure);
    });
    return [`[${words}](results/${name}.md)`, ...cells, aimOf(first), `${first.date}, ${first.load}`];
  });
  const pages = areas.map(({ area, title, figures }) => {
    const aims = figures.filter((figure) => figure.aim !== undefined);
    const missed = aims.filter(isMissed).length;
    return [`[${title}](results/${area}.md)`, String(figures.length), String(aims.length), String(missed)];
  });
  return [
    '# Results',
    '',
    'Two cores of a shared virtual machine, Node 20. CPU is that of the whole process, all threads counted. Figures move',
    'by a fifth from run to run, and by half when others use the machine, which is marked as busy: compare within a run.',
    'Nutch stands for its rule of intervals; it was not run, as it needs a Hadoop. Why things are as they are:',
    '[decisions](../docs/decisions/README.md).',
    '',
    ...table(['question', ...COLUMNS.map(([heading]) => heading), 'aim', 'measured'], rows),
    '',
    '![Changes of text seen within seven days, by page requests](../docs/images/changes-seen.svg)',
    '',
    ...table(['area', 'figures', 'with an aim', 'aims missed'], pages),
    '',
    'Made from [results](results) by `npm run bench:report`; [CONTRIBUTING](../CONTRIBUTING.md#measure) says how a figure',
    'is added.',
    '',
  ].join('\n');
}

/** Areas of a folder; that of the torture has the sums of its long runs, too. */
export function reportedAreas(folder: string): Area[] {
  const file = join(folder, LONG_RUNS);
  const sums = existsSync(file) ? longRunFigures(parseLongRuns(readFileSync(file, 'utf8'), file)) : [];
  return readAreas(folder).map((area) =>
    area.area === 'torture' ? { ...area, figures: [...area.figures, ...sums] } : area,
  );
}

/** Texts of all pages by their paths below `bench`. */
export const pagesOf = (areas: readonly Area[]): ReadonlyMap<string, string> =>
  new Map([
    ['RESULTS.md', overviewOf(areas)],
    ...areas.map((area) => [`results/${area.area}.md`, pageOf(area)] as const),
  ]);

/** Plots that are drawn from kept figures, by their paths below `bench`. */
export const plotsOf = (areas: readonly Area[]): ReadonlyMap<string, string> =>
  new Map([['plots/growth.svg', growthPlot(areas.flatMap(({ figures }) => figures))]]);

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const bench = resolve('bench');
  const areas = reportedAreas(join(bench, 'results'));
  for (const [path, text] of [...pagesOf(areas), ...plotsOf(areas)]) writeFileSync(join(bench, path), text);
}
