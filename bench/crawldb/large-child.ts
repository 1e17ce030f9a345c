/** One operation on a large crawl db, in a process of its own; its task is the argument. Prints JSON. */
import { createReadStream, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Level } from 'level';
import { keepEngineLean } from '../../src/cli/process/lean-engine.ts';
import { defaultConfig } from '../../src/core/config/load.ts';
import type { CrawlDbPut, StoredLinks } from '../../src/core/ports/crawl-db.ts';
import type { GenerateOptions } from '../../src/core/steps/generate/generate.ts';
import { backupState, type Crawler, openCrawler } from '../../src/crawler/index.ts';
import { openOwnDb } from '../../src/operations/state/open-store.ts';
import { encodeRecord } from '../../src/store/files/segments/frame-log.ts';
import { createFileSegmentStore } from '../../src/store/files/segments/segment-store.ts';
import { ROW, rowRange } from '../../src/store/rows/codecs/keys.ts';
import { cpuUs } from '../harness/cost.ts';
import { silent as log, pluginsFile } from '../harness/places.ts';
import { BLOCK, blocksInOrder, datumOf, fetchedAt, linksOf, NOW, parsedAt } from './made-crawl.ts';
import { type Metered, startMeter } from './meter.ts';

export interface Task {
  readonly what: 'load' | 'inject' | 'rounds' | 'sweep' | 'dedup' | 'backup' | 'open' | 'rows';
  readonly dir: string;
  /** URLs of the made crawl: after a load, otherwise in the crawl db. */
  readonly urls: number;
  /** load: URLs before it. */
  readonly from?: number;
  /** inject: file of seeds. */
  readonly seeds?: string;
  /** rounds: how many, each with which options; the number of the first. */
  readonly rounds?: { readonly count: number; readonly first: number; readonly options: GenerateOptions };
}

export interface Done extends Metered {
  /** Units of work. */
  readonly count: number;
  /** Keys and values given to LevelDB. */
  readonly putBytes: number;
  /** rounds: the steps of each. */
  readonly steps?: readonly { readonly generateMs: number; readonly updatedbMs: number; readonly newUrls: number }[];
  /** rows: bytes of live rows by the letter of their kind, uncompressed and on disk. */
  readonly rows?: Readonly<Record<string, { readonly rows: number; readonly bytes: number; readonly disk: number }>>;
  readonly note?: string;
}

const clock = { now: () => NOW + performance.now(), sleep: async () => {} };
const task = JSON.parse(process.argv[2] ?? '{}') as Task;
const { dir, urls } = task;
/** Pages parsed anew get numbers beyond those of the made crawl. */
const FIRST_VISIT = 200_000_000;
const WINDOW = 1_000;
const ROUND = 1_000;

keepEngineLean();
const config = defaultConfig([
  'agent.contact=bench@example.org',
  'fetch.soft404=false',
  // Links to all sites are followed.
  `plugins.file=${pluginsFile(dir, (use) => (use === 'urlfilter-scope' ? null : use))}`,
]);
const open = (): Promise<Crawler> => openCrawler({ config, dir, log, clock });

type Result = Omit<Done, keyof Metered | 'putBytes'>;

/** Brings in records with all that follows from them, site after site, as a load of a dump does. */
async function load(from: number): Promise<Result> {
  const db = await openOwnDb({ config, dir, log, clock });
  let puts: CrawlDbPut[] = [];
  let links: StoredLinks[] = [];
  const flush = async (): Promise<void> => {
    await db.write({ puts, links });
    [puts, links] = [[], []];
  };
  for (const block of blocksInOrder(from / BLOCK, urls / BLOCK)) {
    for (let n = block * BLOCK; n < (block + 1) * BLOCK; n++) {
      const datum = datumOf(n, urls);
      puts.push({ datum, previous: null });
      const targets = linksOf(n, urls);
      if (targets !== null) links.push({ url: datum.url, targets });
      if (puts.length >= WINDOW) await flush();
    }
  }
  await flush();
  await db.close();
  return { count: urls - from };
}

async function inject(seeds: string): Promise<Result> {
  const crawler = await open();
  const lines = createInterface({ input: createReadStream(seeds), crlfDelay: Number.POSITIVE_INFINITY });
  const { injected } = await crawler.inject([{ name: 'seeds', lines }]);
  await crawler.close();
  return { count: injected };
}

/** A round with made answers: each page was modified or is new, and has links to known and to new pages. */
async function fetchMade(segmentId: string, round: number): Promise<void> {
  const store = createFileSegmentStore({
    dir: join(dir, 'segments'),
    log,
    warc: { software: 'bench', operator: '', maxFileBytes: 2 ** 30, gzipLevel: 1 },
  });
  const segment = await store.open(segmentId, 'write');
  for await (const { index, url, host } of segment.fetchList()) {
    const number = FIRST_VISIT + round * ROUND + index;
    await segment.addFetched({ index, url, host, outcome: fetchedAt(number), observation: null }, null);
    await segment.addParsed(index, encodeRecord(parsedAt(url, index, number, urls)));
  }
  await segment.setState('fetched');
  await segment.setState('parsed');
  await segment.close();
}

async function rounds({ count, first, options }: NonNullable<Task['rounds']>): Promise<Result> {
  const crawler = await open();
  const steps: { generateMs: number; updatedbMs: number; newUrls: number }[] = [];
  for (let round = first; round < first + count; round++) {
    let [segment, newUrls]: [string | null, number] = [null, 0];
    const generateUs = await cpuUs(async () => {
      ({ segment } = await crawler.generate(options));
    });
    if (segment === null) throw new Error('nothing was due');
    await fetchMade(segment, round);
    const updatedbUs = await cpuUs(async () => {
      ({ newUrls } = await crawler.updatedb({ orphans: 'off' }));
    });
    steps.push({ generateMs: generateUs / 1_000, updatedbMs: updatedbUs / 1_000, newUrls });
    rmSync(join(dir, 'segments', segment), { recursive: true, force: true });
  }
  await crawler.close();
  return { count: ROUND * count, steps };
}

async function sweep(): Promise<Result> {
  const crawler = await open();
  const { segment } = await crawler.generate({ topN: 1 });
  await fetchMade(segment as string, 9_999);
  const { orphans } = await crawler.updatedb({ orphans: 'mark' });
  await crawler.close();
  return { count: urls, note: `${orphans} orphans` };
}

async function dedup(): Promise<Result> {
  const crawler = await open();
  const prefer = ['score', 'https', 'shortest', 'oldest'] as const;
  const { pages, duplicates } = await crawler.dedup({ prefer: [...prefer], dryRun: false });
  await crawler.close();
  return { count: urls, note: `${duplicates} of ${pages} pages repeat another` };
}

async function backup(): Promise<Result> {
  const to = `${dir}-backup`;
  const summary = await backupState(dir, to, { log, clock });
  return { count: summary.rows };
}

async function rows(): Promise<Result> {
  const db = new Level<string, Buffer>(join(dir, 'db'), { keyEncoding: 'utf8', valueEncoding: 'buffer' });
  await db.open();
  const kinds: Record<string, { rows: number; bytes: number; disk: number }> = {};
  let count = 0;
  const native = db as unknown as { approximateSize(from: string, to: string): Promise<number> };
  const iterator = db.iterator({ highWaterMarkBytes: 1 << 18 });
  for (let batch = await iterator.nextv(WINDOW); batch.length > 0; batch = await iterator.nextv(WINDOW)) {
    for (const [key, value] of batch) {
      count++;
      kinds[key[0] as string] ??= { rows: 0, bytes: 0, disk: 0 };
      const kind = kinds[key[0] as string]!;
      kind.rows++;
      kind.bytes += Buffer.byteLength(key) + value.length;
    }
  }
  await iterator.close();
  for (const letter of new Set<string>(Object.values(ROW))) {
    const { from, to } = rowRange(letter as never);
    if (kinds[letter] !== undefined) kinds[letter].disk = await native.approximateSize(from, to);
  }
  await db.close();
  return { count, rows: kinds };
}

function countPuts(): void {
  const { batch } = Level.prototype;
  Level.prototype.batch = function (this: Level, ...args: []) {
    const native = batch.apply(this, args);
    if (args.length > 0) return native;
    const put = native.put.bind(native) as (key: string, value: Buffer) => unknown;
    return Object.assign(native, {
      put(key: string, value: Buffer) {
        putBytes += Buffer.byteLength(key) + value.length;
        put(key, value);
        return native;
      },
    });
  } as never;
}

async function run(): Promise<Result> {
  switch (task.what) {
    case 'load':
      return load(task.from ?? 0);
    case 'inject':
      return inject(task.seeds ?? '');
    case 'rounds':
      return rounds(task.rounds!);
    case 'sweep':
      return sweep();
    case 'dedup':
      return dedup();
    case 'backup':
      return backup();
    case 'open':
      await (await open()).close();
      return { count: urls };
    case 'rows':
      return rows();
  }
}

/** Bytes put in batches; those of deletions are few. */
let putBytes = 0;
countPuts();
const read = startMeter();
const result = await run();
const done: Done = { ...result, ...read(), putBytes };
process.stdout.write(`${JSON.stringify(done)}\n`);
