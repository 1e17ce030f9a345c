/**
 * `npm run bench -- --only large [--sizes 1000000,10000000] [--state FOLDER] [--svg FILE]`: a crawl db on disk that
 * grows to each of the sizes; what its operations cost then. A state folder that is given is kept.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cli, timed } from '../questions/questions.ts';
import { type Cost, growthPlot, type Measured, millions } from './growth-plot.ts';
import type { Done, Task } from './large-child.ts';
import { BLOCK, seedOf, urlOf } from './made-crawl.ts';

const SEEDS = 100_000;
const ROUNDS = 4;
const ROUND = 1_000;
const MB = 2 ** 20;

export interface LargeOptions {
  /** URLs, in rising order. */
  readonly sizes: readonly number[];
  /** Absent: a temporary one. */
  readonly state?: string | undefined;
  /** File of the plot, written anew after each operation; absent: none. */
  readonly svg?: string | undefined;
}

export function benchLarge(say: (text: string) => void, { sizes, state, svg }: LargeOptions): void {
  const dir = state ?? mkdtempSync(join(tmpdir(), 'incrawl-bench-large-'));
  mkdirSync(dir, { recursive: true });
  const measured: Measured[] = [];
  try {
    let from = 0;
    /** URLs that the measurements have added so far. */
    let added = 0;
    for (const size of sizes) {
      const urls = size - (size % BLOCK);
      const costs: Record<string, Cost> = {};
      measured.push({ urls, costs });
      const onCost = (): void => {
        if (svg !== undefined) writeFileSync(svg, growthPlot(measured));
      };
      added = measure(say, dir, { from, added, urls, costs, onCost }) - urls;
      from = urls;
    }
  } finally {
    rmSync(`${dir}-backup`, { recursive: true, force: true });
    if (state === undefined) rmSync(dir, { recursive: true, force: true });
  }
}

interface Growing extends Measured {
  /** URLs before, and those that the measurements added to them. */
  readonly from: number;
  readonly added: number;
  /** Called with each cost that was added. */
  readonly onCost: () => void;
}

/** Returns the URLs in the crawl db. */
function measure(say: (text: string) => void, dir: string, { from, added, urls, costs, onCost }: Growing): number {
  say(`${millions(urls)} URLs`);
  const report = (name: string, done: Done, unit: string, note = done.note ?? ''): void => {
    costs[name] = { us: (1_000 * done.cpuMs) / done.count, mb: done.peakOwnMb };
    onCost();
    const written = `${megabytes(done.writtenBytes)} written${done.putBytes > 0 ? `, ${times(done.writtenBytes, done.putBytes)} what was put` : ''}`;
    say(
      `  ${name.padEnd(24)} ${costs[name].us.toFixed(1).padStart(8)} us CPU a ${unit}, ${(done.ms / 1_000).toFixed(1)} s in all; ` +
        `${done.peakOwnMb.toFixed(0)} MB own, ${done.peakRssMb.toFixed(0)} MB with mapped tables; ${written}${note === '' ? '' : `; ${note}`}`,
    );
  };
  /** URLs in the crawl db, with those that the measurements add. */
  let total = urls + added;
  const run = (task: Omit<Task, 'dir' | 'urls'>): Done => inChild({ ...task, dir, urls });
  const loaded = run({ what: 'load', from });
  report('load', loaded, 'URL');
  for (const order of ['sorted', 'random'] as const) {
    const done = run({ what: 'inject', seeds: seedFile(dir, urls, order) });
    total += done.count;
    report(`inject, ${order} order`, done, 'seed');
  }
  report('open and close', { ...run({ what: 'open' }), count: 1 }, 'time');
  const round = { topN: ROUND };
  const kinds = { generate: round, 'generate, budget': { ...round, budget: ROUND } };
  for (const [i, [name, options]] of Object.entries(kinds).entries()) {
    const first = (urls / BLOCK + i) * ROUNDS;
    const { steps = [], ...done } = run({ what: 'rounds', rounds: { count: ROUNDS, first, options } });
    total += steps.reduce((sum, { newUrls }) => sum + newUrls, 0);
    // The first round finds cold caches.
    const median = (of: (step: (typeof steps)[number]) => number): number =>
      steps
        .slice(1)
        .map(of)
        .sort((a, b) => a - b)[Math.floor((steps.length - 1) / 2)] ?? 0;
    const of = { ...done, count: ROUND, writtenBytes: 0, putBytes: 0 };
    const generate = { ms: median((step) => step.generate.ms), cpuMs: median((step) => step.generate.cpuMs) };
    report(name, { ...of, ...generate }, 'selected URL');
    if (i > 0) continue;
    const update = { ms: median((step) => step.updatedb.ms), cpuMs: median((step) => step.updatedb.cpuMs) };
    const { writtenBytes, putBytes } = done;
    const found = `${steps[0]?.newUrls} new URLs a round, bytes of ${ROUNDS} rounds`;
    report('updatedb', { ...of, ...update, writtenBytes, putBytes }, 'page', found);
  }
  for (const [name, args] of [
    ['readdb --url', ['--url', urlOf(Math.floor(urls / 2))]],
    ['readdb --stats', ['--stats']],
  ] as const) {
    const { cpuMs, wallMs, peakRss } = timed([cli, 'readdb', ...args, '--dir', dir]);
    costs[name] = { us: 1_000 * cpuMs, mb: peakRss };
    say(`  ${name.padEnd(24)} ${cpuMs.toFixed(0)} ms CPU, ${wallMs.toFixed(0)} ms; ${peakRss.toFixed(0)} MB`);
  }
  report('orphan sweep', { ...run({ what: 'sweep' }), count: total }, 'URL');
  report('dedup', { ...run({ what: 'dedup' }), count: total }, 'URL');
  report('backup', { ...run({ what: 'backup' }), count: total }, 'URL');
  rmSync(`${dir}-backup`, { recursive: true, force: true });
  const { rows = {}, ...passed } = run({ what: 'rows' });
  report('pass over all rows', { ...passed, count: total }, 'URL');
  const disk = folderBytes(join(dir, 'db'));
  const sum = (of: 'bytes' | 'disk'): number => Object.values(rows).reduce((bytes, kind) => bytes + kind[of], 0);
  const shares = Object.entries(rows).map(
    ([letter, kind]) => `${letter} ${(kind.bytes / total).toFixed(0)} (${(kind.disk / total).toFixed(0)})`,
  );
  say(
    `  ${millions(total)} URLs, each ${(sum('bytes') / total).toFixed(0)} bytes of rows, ${(disk / total).toFixed(0)} on disk; ` +
      `by kind of row, and on disk: ${shares.join(', ')}; ${readdirSync(join(dir, 'db')).length} files`,
  );
  return total;
}

const megabytes = (bytes: number): string => `${(bytes / MB).toFixed(0)} MB`;
const times = (a: number, b: number): string => `${(a / b).toFixed(1)} x`;

function inChild(task: Task): Done {
  const { stdout, status } = spawnSync(
    process.execPath,
    [fileURLToPath(new URL('./large-child.js', import.meta.url)), JSON.stringify(task)],
    { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] },
  );
  if (status !== 0) throw new Error(`${task.what} ended with exit code ${status}`);
  return JSON.parse(stdout) as Done;
}

function seedFile(dir: string, urls: number, order: 'sorted' | 'random'): string {
  const seeds = Array.from({ length: SEEDS }, (_, i) => seedOf(i, urls, `${order}-${urls}`));
  if (order === 'sorted') seeds.sort();
  const file = join(dir, 'bench-seeds.txt');
  writeFileSync(file, `${seeds.join('\n')}\n`);
  return file;
}

function folderBytes(dir: string): number {
  return readdirSync(dir).reduce((sum, name) => sum + statSync(join(dir, name)).size, 0);
}
