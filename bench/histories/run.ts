/**
 * `npm run bench:histories -- --data FOLDER [--site NAME] [--variant honest|deploy|dynamic] [--budget SHARE]
 * [--set KEY=VALUE] [--curve KEY=VALUE,..] [--svg FOLDER] [--json FILE] [--listen ADDRESS:PORT] [--seed N]
 * [--keep-open]`: replays recorded years of sites through the crawler on a simulated clock, and compares what it saw
 * with what really happened, beside baselines. `--site`, `--variant` and `--set` may be repeated, and `--listen`, too:
 * figures at each address, and their mean. `--curve` replays with each value of a setting as well: the curve of the
 * crawler in the plots of `--svg`. `--keep-open` opens the crawler once, not for each run: three times as fast. A
 * folder of a history has `steps.jsonl.gz`, `links.jsonl.gz`, and `bodies.xz` (read by the program xz) or `bodies.gz`.
 */
import { writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { drawing } from './drawing.ts';
import { type Family, familiesOf } from './families.ts';
import { meanOf } from './figures.ts';
import { type JudgedReplay, judgedReplay } from './judged-replay.ts';
import { packsIn, readPack } from './pack.ts';
import { VARIANTS, type Variant } from './served-site.ts';
import { rowsOf, tableOf } from './table.ts';
import { type Truth, truthOf } from './truth.ts';

const { values } = parseArgs({
  options: {
    data: { type: 'string' },
    site: { type: 'string', multiple: true },
    variant: { type: 'string', multiple: true, default: ['honest'] },
    budget: { type: 'string' },
    set: { type: 'string', multiple: true, default: [] },
    curve: { type: 'string' },
    svg: { type: 'string' },
    json: { type: 'string' },
    // The address is part of each URL, by which visits are spread: another one gives other figures.
    listen: { type: 'string', multiple: true, default: ['127.0.0.1:47080'] },
    seed: { type: 'string', default: '1' },
    'keep-open': { type: 'boolean', default: false },
  },
});
const say = (text: string): void => {
  process.stdout.write(`${text}\n`);
};

interface ListenedReplay extends JudgedReplay {
  readonly listen: string;
}

const budget = values.budget === undefined ? null : Number(values.budget);
const results: object[] = [];

try {
  for (const folder of foldersAsked()) {
    const truth = truthOf(readPack(folder));
    const families = familiesOf(truth, budget);
    for (const variant of variantsAsked()) await replayed(truth, families, variant);
  }
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(results, null, 1)}\n`);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

function foldersAsked(): string[] {
  if (values.data === undefined) throw new Error('--data FOLDER is needed: the folder of the histories');
  if (budget !== null && !(budget > 0 && budget <= 1)) throw new Error('--budget: expected a share from 0 to 1');
  const folders = packsIn(values.data);
  const names = folders.map((folder) => basename(folder));
  const unknown = values.site?.find((name) => !names.includes(name));
  if (unknown !== undefined) throw new Error(`--site ${unknown}: there are ${names.join(', ')}`);
  return folders.filter((folder) => values.site?.includes(basename(folder)) ?? true);
}

function variantsAsked(): Variant[] {
  const unknown = values.variant.find((name) => !VARIANTS.some((variant) => variant === name));
  if (unknown !== undefined) throw new Error(`--variant ${unknown}: expected ${VARIANTS.join(', ')}`);
  return VARIANTS.filter((variant) => values.variant.includes(variant));
}

async function replayed(truth: Truth, families: readonly Family[], variant: Variant): Promise<void> {
  const { name, steps, daysPerStep } = truth.history;
  const site = `${name}, ${variant}`;
  const replays = await replaysOf(truth, variant, values.set);
  const own = replays.map(({ listen, figures, calibration }) => ({
    policy: replays.length === 1 ? 'incrawl' : `incrawl at ${listen}`,
    figures,
    calibration,
  }));
  const points = [{ policy: 'incrawl', figures: meanOf(own.map(({ figures }) => figures)) }];
  for (const setting of settingsOfCurve()) {
    const others = await replaysOf(truth, variant, [...values.set, setting]);
    points.push({ policy: `incrawl, ${setting}`, figures: meanOf(others.map(({ figures }) => figures)) });
  }
  const rows = rowsOf(own, families, points.slice(1));
  const seconds = replays.map((each) => each.seconds.toFixed(1)).join(', ');
  say(`${site}: ${steps.length} runs, ${daysPerStep} d apart, replayed in ${seconds} s`);
  say(tableOf(site, rows));
  for (const each of replays) say(restOf(each));
  const baselines = rows.slice(own.length);
  results.push({ site: name, variant, budget, settings: values.set, replays, points, baselines, families });
  if (values.svg === undefined) return;
  const drawn = drawing({ title: site, own: points.map(({ figures }) => figures), families });
  writeFileSync(join(values.svg, `histories-${name}-${variant}.svg`), drawn);
}

/** A replay at each address. */
async function replaysOf(truth: Truth, variant: Variant, settings: string[]): Promise<ListenedReplay[]> {
  const replays: ListenedReplay[] = [];
  for (const listen of values.listen) {
    const [address = '', port = '0'] = listen.split(':');
    const local = { address, port: Number(port), seed: Number(values.seed), keepsOpen: values['keep-open'] };
    replays.push({ listen, ...(await judgedReplay(truth, { variant, budget, settings, ...local })) });
  }
  return replays;
}

/** `KEY=VALUE` of each value that `--curve` names. */
function settingsOfCurve(): string[] {
  if (values.curve === undefined) return [];
  const [key = '', list = ''] = values.curve.split(/=(.*)/s);
  if (key === '' || list === '') throw new Error(`--curve ${values.curve}: expected KEY=VALUE,VALUE,..`);
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
