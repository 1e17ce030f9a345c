import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inTurn } from '../harness/cost.ts';
import { measurement } from '../harness/measurement.ts';
import { dataAt } from '../harness/places.ts';
import { nodeCost } from '../harness/processes.ts';
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
const STEPS: Readonly<Record<StoreStep, string>> = {
  copy: 'copy',
  read: 'read',
  absent: 'absent key',
  add: 'add',
  scan: 'scan',
};
const CHILD = fileURLToPath(new URL('./store-child.js', import.meta.url));

/**
 * Options of LevelDB, each against those of the crawl db in turn, on the rows of a crawl db that `large --state FOLDER`
 * has left; the least of the turns.
 */
export const store = measurement('crawldb', { state: '' }, async ({ question }, { state }) => {
  const folder = dataAt(state, '--state FOLDER', 'the folder that --only large --state FOLDER has left');
  const runs = await inTurn(Object.keys(VARIANTS), TURNS, async (name) => {
    const task: StoreTask = { from: join(folder, 'db'), to: `${folder}-store`, options: VARIANTS[name] ?? {} };
    return JSON.parse((await nodeCost([CHILD, JSON.stringify(task)])).stdout) as StoreDone;
  });
  const note = question('Options of LevelDB, two million records, tables open for two thirds, a record');
  for (const [name, own] of runs) {
    const least = (of: (run: StoreDone) => number): number => Math.min(...own.map(of));
    for (const [step, metric] of Object.entries(STEPS) as [StoreStep, string][])
      note(
        `${metric}, ${name}`,
        least(({ steps }) => (1_000 * steps[step].cpuMs) / steps[step].count),
        'us',
      );
    note(
      `bytes a record, ${name}`,
      least(({ diskBytes, rows }) => diskBytes / rows),
      'B',
    );
    note(
      `files, ${name}`,
      least(({ files }) => files),
      'files',
    );
    note(`written for added rows, ${name}`, least(({ steps }) => steps.add.writtenBytes) / KB / KB, 'MB');
    note(
      `memory, ${name}`,
      least(({ steps }) => Math.max(...Object.values(steps).map((step) => step.peakOwnMb))),
      'MB',
    );
  }
});
