/**
 * `npm run bench -- --only NAME [OPTION ..] [--save]`: one measurement of the built crawler, its figures with PASS or
 * FAIL for each aim. `--save` puts them into `bench/results`; `npm run bench:report` makes the pages anew. Without
 * `--only` the quick ones run. `--help` names all, with their options and defaults.
 */
import { cpus, loadavg } from 'node:os';
import { join, resolve } from 'node:path';
import {
  benchOf,
  type Measurement,
  type Options,
  readOptions,
  rounded,
  type Said,
  UsageError,
} from './harness/measurement.ts';
import { loadWord, occasionIn } from './harness/occasion.ts';
import { type Figure, merged, readArea, writeArea } from './harness/results.ts';

const MEASUREMENTS: Readonly<Record<string, () => Promise<Measurement>>> = {
  crawl: async () => (await import('./crawl/crawls.ts')).crawl,
  readmit: async () => (await import('./crawl/crawls.ts')).readmit,
  growth: async () => (await import('./crawl/growth.ts')).growth,
  requests: async () => (await import('./crawl/requests.ts')).requests,
  inlinks: async () => (await import('./crawl/inlinks.ts')).inlinks,
  parse: async () => (await import('./crawl/parse.ts')).parse,
  peers: async () => (await import('./peers/peers.ts')).peers,
  rendering: async () => (await import('./peers/rendering.ts')).rendering,
  documents: async () => (await import('./content/documents.ts')).documents,
  train: async () => (await import('./content/train.ts')).train,
  metadata: async () => (await import('./content/metadata.ts')).metadata,
  structure: async () => (await import('./content/structure.ts')).structure,
  'noise-links': async () => (await import('./content/noise-links.ts')).noiseLinks,
  'seen-fp': async () => (await import('./urls/seen-fp.ts')).seenFp,
  'url-rules': async () => (await import('./urls/url-rules.ts')).urlRules,
  traps: async () => (await import('./urls/traps.ts')).traps,
  'near-tables': async () => (await import('./near/near-tables.ts')).nearTables,
  dedup: async () => (await import('./near/dedup.ts')).dedup,
  neardup: async () => (await import('./near/neardup.ts')).neardup,
  copies: async () => (await import('./near/copies.ts')).copies,
  changes: async () => (await import('./questions/changes.ts')).changes,
  questions: async () => (await import('./questions/questions.ts')).questions,
  'live-view': async () => (await import('./questions/live-view.ts')).liveView,
  large: async () => (await import('./crawldb/large.ts')).large,
  export: async () => (await import('./export/export.ts')).exports,
  paper: async () => (await import('./freshness/paper.ts')).paper,
  calibrate: async () => (await import('./freshness/calibrate.ts')).calibrate,
  mirror: async () => (await import('./mirror/mirror.ts')).mirror,
  histories: async () => (await import('./histories/histories.ts')).histories,
  workers: async () => (await import('./cluster/workers.ts')).workers,
  shared: async () => (await import('./cluster/shared-costs.ts')).shared,
  rehearsal: async () => (await import('./cluster/rehearsal.ts')).rehearsal,
  objects: async () => (await import('./cluster/objects.ts')).objects,
};
/** Those that need no data, no server and no other crawler, and end within minutes. */
const QUICK =
  'crawl readmit requests parse seen-fp near-tables dedup neardup changes questions live-view url-rules export traps'.split(
    ' ',
  );
const COMMON: Options = { only: '', save: false, help: false };

try {
  await main(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof UsageError)) throw error;
  process.stderr.write(`${error.message}\n`);
  process.exitCode = 2;
}

async function main(args: readonly string[]): Promise<void> {
  if (args.includes('--help')) return say(await helpText());
  const at = args.indexOf('--only');
  const names = at < 0 ? QUICK : [args[at + 1] ?? ''];
  const started = loadavg()[0] ?? 0;
  say(`Node ${process.version}, ${cpus().length} x ${cpus()[0]?.model ?? 'unknown CPU'}, load ${started.toFixed(1)}`);
  for (const name of names) {
    const { area, options, run } = await measurementOf(name);
    const { only: _, save, help: __, ...own } = readOptions(args, { ...options, ...COMMON });
    const said: Said[] = [];
    await run(
      benchOf(say, (figure) => said.push(figure)),
      own as never,
    );
    if (save === true) keep(area, said, args, started);
  }
}

async function measurementOf(name: string): Promise<Measurement> {
  const load = MEASUREMENTS[name];
  if (load === undefined)
    throw new UsageError(`--only ${name}: expected one of ${Object.keys(MEASUREMENTS).join(', ')}`);
  return load();
}

async function helpText(): Promise<string> {
  const lines = Object.entries(MEASUREMENTS).map(async ([name, load]) => {
    const options = Object.entries((await load()).options).map(([option, value]) =>
      typeof value === 'boolean' ? `[--${option}]` : `[--${option} ${String(value) || '..'}]`,
    );
    return `--only ${name} ${options.join(' ')}`;
  });
  return `npm run bench -- --only NAME [--save]\n${(await Promise.all(lines)).join('\n')}`;
}

/** Puts figures into the file of an area. @param load before the start */
function keep(area: string, said: readonly Said[], args: readonly string[], load: number): void {
  const folder = resolve('bench/results');
  const about = {
    command: ['npm run bench --', ...args.filter((arg) => arg !== '--save').map(withoutPlace)].join(' '),
    ...occasionIn(resolve('.')),
    load: loadWord(load),
  };
  const figures = said.map((figure): Figure => ({ ...figure, value: rounded(figure.value), ...about }));
  const known = readArea(folder, area);
  writeArea(folder, { ...known, figures: merged(known.figures, figures) });
  say(`${figures.length} figures put into ${join('bench/results', `${area}.json`)}`);
}

/** Where data and servers lie is of no use elsewhere. */
function withoutPlace(word: string): string {
  if (/:\/\//.test(word)) return 'URL';
  return word.startsWith('/') ? 'FOLDER' : word;
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
