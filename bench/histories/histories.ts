import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mean, percent } from '../harness/cost.ts';
import { type Bench, measurement, type Note, UsageError } from '../harness/measurement.ts';
import { dataAt } from '../harness/places.ts';
import { visitByInterval } from './baselines.ts';
import { drawing } from './drawing.ts';
import { atEqualRequests, baselineFigures, type Family, familiesOf } from './families.ts';
import { type Figures, meanOf } from './figures.ts';
import { type JudgedReplay, judgedReplay } from './judged-replay.ts';
import { packsIn, readPack } from './pack.ts';
import { VARIANTS } from './served-site.ts';
import { type Truth, truthOf } from './truth.ts';

const OPTIONS = {
  data: '',
  variant: 'honest',
  /** Share of the pages that each run may fetch; 0: all. */
  budget: 0,
  curve: '',
  svg: '',
  // The address is part of each URL, by which visits are spread: another one gives other figures.
  listen: ['127.0.0.1:47080'],
};
type Asked = Parameters<Parameters<typeof measurement<typeof OPTIONS>>[2]>[1];

/**
 * Replays recorded years of sites through the crawler on a simulated clock, and compares what it saw with what really
 * happened, beside baselines: means over the addresses of `--listen`. `--curve KEY=VALUE,..` replays with each value of
 * a setting as well: the curve of the crawler in the plots of `--svg`. A folder of a history has `steps.jsonl.gz`,
 * `links.jsonl.gz`, and `bodies.xz` (read by the program xz) or `bodies.gz`.
 */
export const histories = measurement('freshness', OPTIONS, async (bench, asked) => {
  if (!(asked.budget >= 0 && asked.budget <= 1)) throw new UsageError('--budget: expected a share from 0 to 1');
  for (const folder of packsIn(dataAt(asked.data, '--data FOLDER', 'a history, or a folder of histories')))
    await replayed(bench, truthOf(readPack(folder)), asked);
});

async function replayed(bench: Bench, truth: Truth, asked: Asked): Promise<void> {
  const { name, steps, daysPerStep } = truth.history;
  const { variant, budget, curve, svg } = asked;
  const families = familiesOf(truth, budget || null);
  const replays = await replaysOf(truth, [], asked);
  const own = [meanOf(replays.map(({ figures }) => figures))];
  for (const setting of settingsOf(curve))
    own.push(meanOf((await replaysOf(truth, [setting], asked)).map(({ figures }) => figures)));
  bench.say(`${name}, ${variant}: ${steps.length} runs, ${daysPerStep} d apart`);
  const way = [variant === 'honest' ? '' : `, ${variant}`, budget === 0 ? '' : `, a budget of ${budget}`].join('');
  const note = bench.question('Recorded years of sites');
  takeOwn(note, name + way, truth, own[0] as Figures, families);
  takeBeliefs(bench.question('Beliefs at the end of the recorded years'), name + way, replays);
  const title = `${name}, ${variant}`;
  if (svg !== '') writeFileSync(join(svg, `histories-${name}-${variant}.svg`), drawing({ title, own, families }));
}

/** Figures of the crawler, and those of the baselines at as many page requests. */
function takeOwn(note: Note, site: string, truth: Truth, own: Figures, families: readonly Family[]): void {
  const fixed = baselineFigures(truth, visitByInterval(truth.history, 30, 'fixed'));
  note(`${site}, page requests`, own.pageRequests, 'requests');
  note(`${site}, page requests against a fixed interval of 30 days`, own.pageRequests / fixed.pageRequests, 'x');
  note(`${site}, not live`, percent(own.notLive), '%', '<= 15');
  const equal = families.map((family) => [family.name, atEqualRequests(family, Math.round(own.pageRequests))] as const);
  for (const [program, figures] of [[undefined, own] as const, ...equal]) {
    if (figures === null) continue;
    const take = (metric: string, value: number | null, unit?: string): void => {
      if (value !== null) note(`${site}, ${metric}`, value, unit, undefined, program);
    };
    take('fresh', figures.freshMajor);
    take(`changes seen, of ${figures.changes}`, figures.seen, 'changes');
    take('changes seen within 7 days', figures.within7, 'changes');
    take('days until half of the changes are seen', figures.lagP50, 'days');
    take('days until nine tenths of the changes are seen', figures.lagP90, 'days');
  }
}

/** What the crawler believes and reports beside what is true, and what it requested besides pages. */
function takeBeliefs(note: Note, site: string, replays: readonly JudgedReplay[]): void {
  const take = (metric: string, unit: string, of: (replay: JudgedReplay) => number | null): void => {
    const values = replays.map(of).filter((value) => value !== null);
    if (values.length > 0) note(`${metric}, ${site}`, mean(values), unit);
  };
  take('freshness believed', '', ({ calibration }) => calibration.believedFresh);
  take('freshness that was true', '', ({ calibration }) => calibration.trueFresh);
  take('substantive changes a day believed', '', ({ calibration }) => calibration.believedPerDay);
  take('substantive changes a day that came', '', ({ calibration }) => calibration.truePerDay);
  take('reports of the change feed that are right', 'reports', ({ reported }) => reported.right);
  take('reports of the change feed that are wrong', 'reports', ({ reported }) => reported.wrong);
  take('changes of bodies not reported', 'changes', ({ reported }) => reported.unreported);
  take('requests for dead links and gone pages', 'requests', ({ laterByKind }) => laterByKind.missing ?? 0);
  take('pages marked as duplicates', 'pages', ({ duplicates }) => duplicates);
}

/** A replay at each address. */
async function replaysOf(truth: Truth, settings: readonly string[], asked: Asked): Promise<JudgedReplay[]> {
  const variant = VARIANTS.find((each) => each === asked.variant);
  if (variant === undefined) throw new UsageError(`--variant ${asked.variant}: expected ${VARIANTS.join(', ')}`);
  const replays: JudgedReplay[] = [];
  for (const listen of asked.listen) {
    const [address = '', port = '0'] = listen.split(':');
    replays.push(
      await judgedReplay(truth, { variant, budget: asked.budget || null, settings, address, port: Number(port) }),
    );
  }
  return replays;
}

/** `KEY=VALUE` of each value that `--curve` names. */
function settingsOf(curve: string): string[] {
  if (curve === '') return [];
  const [key = '', list = ''] = curve.split(/=(.*)/s);
  if (key === '' || list === '') throw new UsageError(`--curve ${curve}: expected KEY=VALUE,VALUE,..`);
  return list.split(',').map((value) => `${key}=${value}`);
}
