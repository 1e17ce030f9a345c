/**
 * `npm run bench -- --only store --state FOLDER`: options of LevelDB, each against those of the crawl db in turn, on
 * the rows of a crawl db that `--only large --state FOLDER` has left.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { StoreDone, StoreStep, StoreTask } from './store-child.ts';

const KB = 1_024;
/**
 * Those of the crawl db, but for the tables that may be open: of two million records two thirds, as of all rows of a
 * crawl db of some five million URLs.
 */
const BASE = { cacheSize: 32 * KB * KB, writeBufferSize: 4 * KB * KB, maxOpenFiles: 74 };
const VARIANTS: Readonly<Record<string, StoreTask['options']>> = {
  'as shipped': BASE,
  'blocks of 16 KiB': { ...BASE, blockSize: 16 * KB },
  'tables of 8 MiB': { ...BASE, maxFileSize: 8 * KB * KB },
  'both of these': { ...BASE, blockSize: 16 * KB, maxFileSize: 8 * KB * KB },
  'cache of 128 MiB': { ...BASE, cacheSize: 128 * KB * KB },
  'write buffer of 16 MiB': { ...BASE, writeBufferSize: 16 * KB * KB },
  'no compression': { ...BASE, compression: false },
};
const TURNS = 2;

export function benchStore(say: (text: string) => void, state: string): void {
  const runs = new Map<string, StoreDone[]>();
  for (let turn = 0; turn < TURNS; turn++) {
    for (const [name, options] of Object.entries(VARIANTS)) {
      const done = [...(runs.get(name) ?? []), inChild(state, options)];
      runs.set(name, done);
      report(say, name, done);
    }
  }
}

/** The least CPU of the runs so far. */
function report(say: (text: string) => void, name: string, runs: readonly StoreDone[]): void {
  const [{ rows, diskBytes, files } = { rows: 1, diskBytes: 0, files: 0 }] = runs;
  const least = (step: StoreStep): string =>
    Math.min(...runs.map(({ steps }) => (1_000 * steps[step].cpuMs) / steps[step].count)).toFixed(1);
  const most = Math.min(...runs.map(({ steps }) => Math.max(...Object.values(steps).map((step) => step.peakOwnMb))));
  const written = Math.min(...runs.map(({ steps }) => steps.add.writtenBytes)) / KB / KB;
  say(
    `${name.padEnd(24)} us CPU: copy a record ${least('copy')}, read ${least('read')}, absent ${least('absent')}, ` +
      `add ${least('add')}, scan ${least('scan')}; ${(diskBytes / rows).toFixed(0)} bytes a record, ${files} files; ` +
      `added rows wrote ${written.toFixed(0)} MB; ${most.toFixed(0)} MB own`,
  );
}

function inChild(state: string, options: StoreTask['options']): StoreDone {
  const task: StoreTask = { from: join(state, 'db'), to: `${state}-store`, options };
  const child = fileURLToPath(new URL('./store-child.js', import.meta.url));
  const { stdout, status } = spawnSync(process.execPath, [child, JSON.stringify(task)], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status !== 0) throw new Error(`the copy ended with exit code ${status}`);
  return JSON.parse(stdout) as StoreDone;
}
