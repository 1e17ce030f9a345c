import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { median, sum } from '../harness/cost.ts';
import { type Bench, measurement, type Note } from '../harness/measurement.ts';
import { CLI, withFolder } from '../harness/places.ts';
import { nodeCost } from '../harness/processes.ts';
import type { Done, Task } from './large-child.ts';
import { BLOCK, seedOf, urlOf } from './made-crawl.ts';

const SEEDS = 100_000;
const ROUNDS = 4;
const ROUND = 1_000;
const CHILD = fileURLToPath(new URL('./large-child.js', import.meta.url));

const millions = (urls: number): string => `${+(urls / 1e6).toFixed(2)} M URLs`;

/** A crawl db on disk that grows to each of the sizes; what its operations cost then. */
export const large = measurement('crawldb', { sizes: [1_000_000, 10_000_000] }, (bench, { sizes }) =>
  withFolder(async (folder) => {
    const dir = join(folder, 'state');
    mkdirSync(dir);
    let from = 0;
    /** URLs that the measurements have added so far. */
    let added = 0;
    for (const size of sizes) {
      const urls = size - (size % BLOCK);
      added = (await measure(bench, dir, { from, added, urls })) - urls;
      from = urls;
    }
  }),
);

interface Growing {
  /** URLs before, and those that the measurements added to them. */
  readonly from: number;
  readonly added: number;
  readonly urls: number;
}

/** What a process has done, with its peak memory. */
type Measured = Done & { readonly peakMb: number };

/** What CPU, memory and written bytes of an operation are called in the figures. */
const taker =
  (note: Note, size: string) =>
  (
    name: string,
    each: string,
    { cpuMs, count, peakOwnMb, peakMb }: Pick<Measured, 'cpuMs' | 'count' | 'peakOwnMb' | 'peakMb'>,
    written?: Done,
  ): void => {
    const us = (1_000 * cpuMs) / count;
    const isLong = us >= 10_000;
    note(`${name}${each === '' ? '' : `, a ${each}`}, ${size}`, isLong ? us / 1_000 : us, isLong ? 'ms' : 'us');
    note(`memory of ${name}, mapped tables apart, ${size}`, peakOwnMb, 'MB');
    note(`memory of ${name}, with mapped tables, ${size}`, peakMb, 'MB');
    if (written !== undefined && written.putBytes > 0)
      note(`written in multiples of the rows put, ${name}, ${size}`, written.writtenBytes / written.putBytes, 'x');
  };

/** Returns the URLs in the crawl db. */
async function measure({ say, question }: Bench, dir: string, { from, added, urls }: Growing): Promise<number> {
  const size = millions(urls);
  const note = question('Large crawl dbs, a tenth of the URLs fetched, 60 links each');
  const take = taker(note, size);
  /** URLs in the crawl db, with those that the measurements add. */
  let total = urls + added;
  const run = async (task: Omit<Task, 'dir' | 'urls'>): Promise<Measured> => {
    const { stdout, peakMb } = await nodeCost([CHILD, JSON.stringify({ ...task, dir, urls })]);
    return { ...(JSON.parse(stdout) as Done), peakMb };
  };
  const loaded = await run({ what: 'load', from });
  take('load', 'URL', loaded, loaded);
  for (const order of ['sorted', 'random'] as const) {
    const done = await run({ what: 'inject', seeds: seedFile(dir, urls, order) });
    total += done.count;
    take(`inject of ${order} seeds`, 'seed', done, done);
  }
  take('opening and closing', '', { ...(await run({ what: 'open' })), count: 1 });
  const round = { topN: ROUND };
  const kinds = { 'generate of 1,000': round, 'generate of 1,000 with a budget': { ...round, budget: ROUND } };
  for (const [i, [name, options]] of Object.entries(kinds).entries()) {
    const first = (urls / BLOCK + i) * ROUNDS;
    const done = await run({ what: 'rounds', rounds: { count: ROUNDS, first, options } });
    const { steps = [] } = done;
    total += sum(steps.map(({ newUrls }) => newUrls));
    // The first round finds cold caches.
    const medianMs = (step: 'generateMs' | 'updatedbMs'): number => median(steps.slice(1).map((each) => each[step]));
    take(name, '', { ...done, cpuMs: medianMs('generateMs'), count: 1 });
    if (i === 0) take('updatedb', 'page', { ...done, cpuMs: medianMs('updatedbMs'), count: ROUND }, done);
  }
  for (const [name, args] of [
    ['readdb --url', ['--url', urlOf(Math.floor(urls / 2))]],
    ['readdb --stats', ['--stats']],
  ] as const) {
    const { cpuMs, peakMb } = await nodeCost([CLI, 'readdb', ...args, '--dir', dir]);
    take(name, '', { cpuMs, count: 1, peakOwnMb: peakMb, peakMb });
  }
  for (const [what, name] of Object.entries({ sweep: 'orphan sweep', dedup: 'dedup', backup: 'backup' } as const)) {
    const done = await run({ what: what as Task['what'] });
    take(name, 'URL', { ...done, count: total }, done);
    if (done.note !== undefined) say(done.note);
  }
  rmSync(`${dir}-backup`, { recursive: true, force: true });
  const { rows = {} } = await run({ what: 'rows' });
  const files = readdirSync(join(dir, 'db'));
  note(`bytes a URL, rows, ${size}`, sum(Object.values(rows).map(({ bytes }) => bytes)) / total, 'B');
  note(`bytes a URL, disk, ${size}`, sum(files.map((name) => statSync(join(dir, 'db', name)).size)) / total, 'B');
  const shares = Object.entries(rows).map(
    ([letter, kind]) => `${letter} ${(kind.bytes / total).toFixed(0)} (${(kind.disk / total).toFixed(0)})`,
  );
  say(`bytes a URL by kind of row, and on disk: ${shares.join(', ')}; ${files.length} files`);
  return total;
}

function seedFile(dir: string, urls: number, order: 'sorted' | 'random'): string {
  const seeds = Array.from({ length: SEEDS }, (_, i) => seedOf(i, urls, `${order}-${urls}`));
  if (order === 'sorted') seeds.sort();
  const file = join(dir, 'bench-seeds.txt');
  writeFileSync(file, `${seeds.join('\n')}\n`);
  return file;
}
