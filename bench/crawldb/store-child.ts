/** Records of a crawl db in a LevelDB with other options: copied, read and added to. Its task is the argument. */
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { Level } from 'level';
import { mixed } from './made-crawl.ts';
import { type Metered, startMeter } from './meter.ts';

export interface StoreTask {
  /** LevelDB to copy. */
  readonly from: string;
  /** Folder of the copy, removed at the end. */
  readonly to: string;
  /** Of LevelDB. */
  readonly options: Readonly<Record<string, number | boolean>>;
}

export type StoreStep = 'copy' | 'read' | 'absent' | 'add' | 'scan';

export interface StoreDone {
  readonly rows: number;
  readonly diskBytes: number;
  readonly files: number;
  readonly steps: Readonly<Record<StoreStep, Metered & { readonly count: number }>>;
}

const WINDOW = 1_000;
const COPIED = 2_000_000;
const READS = 40_000;
const ADDED = 150_000;

const { from, to, options } = JSON.parse(process.argv[2] ?? '{}') as StoreTask;
const encodings = { keyEncoding: 'utf8', valueEncoding: 'buffer' } as const;
rmSync(to, { recursive: true, force: true });
const steps: Partial<Record<StoreStep, Metered & { count: number }>> = {};

async function step(name: StoreStep, run: () => Promise<number>): Promise<void> {
  const read = startMeter();
  const count = await run();
  steps[name] = { ...read(), count };
}

/** Some keys of records, from all over the db. */
const some: string[] = [];

async function copyRows(): Promise<number> {
  const [source, copy] = [new Level<string, Buffer>(from, encodings), opened()];
  await source.open();
  const iterator = source.iterator({ gte: 'u', lt: 'v', limit: COPIED, highWaterMarkBytes: 1 << 18 });
  let rows = 0;
  for (let batch = await iterator.nextv(WINDOW); batch.length > 0; batch = await iterator.nextv(WINDOW)) {
    await copy.batch(batch.map(([key, value]) => ({ type: 'put', key, value })));
    for (const [key] of batch) if (mixed(rows++) % 16 === 0) some.push(key);
  }
  await iterator.close();
  await source.close();
  await copy.close();
  return rows;
}

function opened(): Level<string, Buffer> {
  return new Level<string, Buffer>(to, { ...encodings, ...options });
}

/** Windows of keys from all over the db, each sorted, as the crawl db asks. */
function* windows(suffix: string): Generator<string[]> {
  for (let at = 0; at < READS; at += WINDOW) {
    const keys = Array.from({ length: WINDOW }, (_, i) => some[mixed(at + i) % some.length] + suffix);
    yield keys.sort();
  }
}

let rows = 0;
await step('copy', async () => {
  rows = await copyRows();
  return rows;
});
const diskBytes = readdirSync(to).reduce((sum, name) => sum + statSync(join(to, name)).size, 0);
const files = readdirSync(to).length;
const db = opened();
await step('read', async () => {
  for (const keys of windows('')) await db.getMany(keys);
  return READS;
});
await step('absent', async () => {
  for (const keys of windows('?absent')) await db.getMany(keys);
  return READS;
});
await step('add', async () => {
  const value = Buffer.alloc(90, 'a new record, as one that a link has led to ');
  for (let at = 0; at < ADDED; at += WINDOW) {
    const puts = Array.from({ length: WINDOW }, (_, i) => {
      const key = `${some[mixed(READS + at + i) % some.length]}?${at + i}`;
      return { type: 'put', key, value } as const;
    });
    await db.batch(puts);
  }
  await db.close();
  await db.open();
  return ADDED;
});
await step('scan', async () => {
  const iterator = db.iterator({ gte: 'u', lt: 'v', highWaterMarkBytes: 1 << 18 });
  let count = 0;
  for (let batch = await iterator.nextv(WINDOW); batch.length > 0; batch = await iterator.nextv(WINDOW)) {
    count += batch.length;
    if (count >= 1_000_000) break;
  }
  await iterator.close();
  return count;
});
await db.close();
rmSync(to, { recursive: true, force: true });
process.stdout.write(`${JSON.stringify({ rows, diskBytes, files, steps } as StoreDone)}\n`);
