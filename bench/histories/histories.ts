import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { percent } from '../harness/cost.ts';
import { type Bench, measurement, type Note, UsageError } from '../harness/measurement.ts';
import { dataAt } from '../harness/places.ts';
import { drawing } from './drawing.ts';
import { familiesOf } from './families.ts';
import { type Figures, meanOf } from './figures.ts';
import { type JudgedReplay, judgedReplay } from './judged-replay.ts';
import { packsIn, readPack } from './pack.ts';
import { VARIANTS, type Variant } from './served-site.ts';
import { rowsOf, tableOf } from './table.ts';
import { type Truth, truthOf } from './truth.ts';

const OPTIONS = {
  data: '',
  /** Sites; all of them if empty. */
  site: [] as string[],
  variant: ['honest'],
  /** Share of the pages that each run may fetch; 0: all. */
  budget: 0,
  set: [] as string[],
  curve: '',
  svg: '',
  json: '',
  // The address is part of each URL, by which visits are spread: another one gives other figures.
  listen: ['127.0.0.1:47080'],
  seed: 1,
  'keep-open': false,
};
type Asked = Parameters<Parameters<typeof measurement<typeof OPTIONS>>[2]>[1];

/**
 * Replays recorded years of sites through the crawler on a simulated clock, and compares what it saw with what really
 * happened, beside baselines: figures at each address of `--listen`, and their mean. `--curve KEY=VALUE,..` replays
 * with each value of a setting as well: the curve of the crawler in the plots of `--svg`. `--keep-open` opens the
 * crawler once, not for each run: three times as fast. A folder of a history has `steps.jsonl.gz`, `links.jsonl.gz`,
 * and
 * `bodies.xz` (read by the program xz) or `bodies.gz`.
 */
export const histories = measurement('freshness', OPTIONS, async (bench, asked) => {
  const results: object[] = [];
  const variants = variantsOf(asked);
  for (const folder of foldersOf(asked)) {
    const truth = truthOf(readPack(folder));
    for (const variant of variants) results.push(await replayed(bench, truth, variant, asked));
  }
  if (asked.json !== '') writeFileSync(asked.json, `${JSON.stringify(results, null, 1)}\n`);
});

function foldersOf({ data, site, budget }: Asked): string[] {
  if (!(budget >= 0 && budget <= 1)) throw new UsageError('--budget: expected a share from 0 to 1');
  const folders = packsIn(dataAt(data, '--data FOLDER', 'a folder of histories'));
  const names = folders.map((folder) => basename(folder));
  const unknown = site.find((name) => !names.includes(name));
  if (unknown !== undefined) throw new UsageError(`--site ${unknown}: there are ${names.join(', ')}`);
  return folders.filter((folder) => site.length === 0 || site.includes(basename(folder)));
}

function variantsOf({ variant }: Asked): Variant[] {
  const unknown = variant.find((name) => !VARIANTS.some((each) => each === name));
  if (unknown !== undefined) throw new UsageError(`--variant ${unknown}: expected ${VARIANTS.join(', ')}`);
  return VARIANTS.filter((each) => variant.includes(each));
}

async function replayed(bench: Bench, truth: Truth, variant: Variant, asked: Asked): Promise<object> {
  const { name, steps, daysPerStep } = truth.history;
  const site = `${name}, ${variant}`;
  const budget = asked.budget === 0 ? null : asked.budget;
  const families = familiesOf(truth, budget);
  const replays = await replaysOf(truth, variant, asked.set, asked);
  const own = replays.map(({ listen, figures, calibration }) => ({
    policy: replays.length === 1 ? 'incrawl' : `incrawl at ${listen}`,
    figures,
    calibration,
  }));
  const points = [{ policy: 'incrawl', figures: meanOf(own.map(({ figures }) => figures)) }];
  for (const setting of settingsOf(asked.curve)) {
    const others = await replaysOf(truth, variant, [...asked.set, setting], asked);
    points.push({ policy: `incrawl, ${setting}`, figures: meanOf(others.map(({ figures }) => figures)) });
  }
  const rows = rowsOf(own, families, points.slice(1));
  const seconds = replays.map((each) => each.seconds.toFixed(1)).join(', ');
  bench.say(`${site}: ${steps.length} runs, ${daysPerStep} d apart, replayed in ${seconds} s`);
  bench.say(tableOf(site, rows));
  for (const each of replays) bench.say(restOf(each));
  const way = [variant === 'honest' ? '' : `, ${variant}`, budget === null ? '' : `, a budget of ${budget}`].join('');
  take(bench.question('Recorded years of sites'), name + way, points[0]!.figures);
  if (asked.svg !== '') {
    const drawn = drawing({ title: site, own: points.map(({ figures }) => figures), families });
    writeFileSync(join(asked.svg, `histories-${name}-${variant}.svg`), drawn);
  }
  const baselines = rows.slice(own.length);
  return { site: name, variant, budget, settings: asked.set, replays, points, baselines, families };
}

function take(
  note: Note,
  site: string,
  { pageRequests, freshMajor, seen, changes, within7, notLive, lagP50 }: Figures,
): void {
  note(`${site}, page requests`, pageRequests, 'requests');
  note(`${site}, fresh`, freshMajor);
  note(`${site}, changes seen, of ${changes}`, seen, 'changes');
  note(`${site}, changes seen within 7 days`, within7, 'changes');
  note(`${site}, not live`, percent(notLive), '%', '<= 15');
  if (lagP50 !== null) note(`${site}, days until half of the changes are seen`, lagP50, 'days');
}

interface ListenedReplay extends JudgedReplay {
  readonly listen: string;
}

/** A replay at each address. */
async function replaysOf(
  truth: Truth,
  variant: Variant,
  settings: readonly string[],
  asked: Asked,
): Promise<ListenedReplay[]> {
  const replays: ListenedReplay[] = [];
  for (const listen of asked.listen) {
    const [address = '', port = '0'] = listen.split(':');
    const local = { address, port: Number(port), seed: asked.seed, keepsOpen: asked['keep-open'] };
    const budget = asked.budget === 0 ? null : asked.budget;
    replays.push({ listen, ...(await judgedReplay(truth, { variant, budget, settings, ...local })) });
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

/** What the table has no column for. */
function restOf({ requests, reported, judgement, bodyBytes }: JudgedReplay): string {
  const kinds = Object.entries(requests.laterByKind).map(([kind, count]) => `${kind} ${count}`);
  return [
    `  after the first run, requests by kind: ${kinds.join(', ')}; bodies ${(bodyBytes / 1e6).toFixed(1)} MB`,
    `  reported changes: ${reported.right} right, ${reported.wrong} wrong, ${reported.unreported} of ${reported.found} found not reported`,
    `  at the end: ${judgement.missedAtEnd} pages missed, ${judgement.ghosts} copies of removed files\n`,
  ].join('\n');
}
