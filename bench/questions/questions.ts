import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defaultConfig } from '../../src/core/config/load.ts';
import { type CrawlDatum, newDatum, type Visit } from '../../src/core/domain/crawl/states/datum.ts';
import { DAY_MS, HOUR_MS } from '../../src/core/domain/time.ts';
import { openCrawler } from '../../src/crawler/index.ts';
import { openLevelCrawlDb } from '../../src/store/leveldb/open-rows.ts';
import { DB_FORMAT_VERSION } from '../../src/store/rows/format.ts';
import { cheapest } from '../harness/cost.ts';
import { type Bench, measurement, type Note } from '../harness/measurement.ts';
import { CLI, silent, withFolder } from '../harness/places.ts';
import { type Cost, nodeCost } from '../harness/processes.ts';
import { seeded } from '../harness/seeded.ts';

const URLS = 1_000_000;
const RUNS = 4;
/** CPU of a question beyond Node's start. */
export const AIM = '<= 150';

/** One domain of a hundred thousand pages on five hosts, the others of a thousand pages each. */
export function urlOf(n: number): string {
  if (n < 100_000) return `https://www${n % 5}.large.example/section/${n % 97}/page-${n}.html`;
  return `https://site${n % 900}.example/section/${n % 97}/page-${n}.html`;
}

function datumOf(n: number, now: number): CrawlDatum {
  const url = urlOf(n);
  const datum = newDatum({
    url,
    now: now - 60 * DAY_MS,
    intervalMs: 30 * DAY_MS,
    score: 1 / (1 + (n % 97)),
    depth: n % 12,
  });
  if (n % 5 === 4) return datum;
  const isChanging = n % 10 < 3;
  const visits: Visit[] = [0, 1, 2, 3].map((i) => ({
    at: now - (40 - 10 * i) * DAY_MS,
    outcome: i === 0 ? 'new' : isChanging && i === 2 ? 'modified' : 'unchanged-304',
    distance: null,
    elapsedMs: i === 0 ? null : 10 * DAY_MS,
    bytes: i === 0 ? 36_000 : 0,
    intervalMs: 10 * DAY_MS,
  }));
  const isGone = n % 401 === 0;
  return {
    ...datum,
    state: isGone ? 'gone' : 'fetched',
    lastFetchAt: now - 10 * DAY_MS,
    nextFetchAt: now + (((n * 7_919) % 1_000) - 100) * HOUR_MS,
    schedule: {
      intervalMs: (1 + (n % 60)) * DAY_MS,
      belief: { changes: 0.5 + (n % 37), watchedMs: (7 + (n % 61)) * DAY_MS, newUrls: 0, noise: 0.1, mostMs: null },
    },
    failures: n % 503 === 0 ? 3 : 0,
    httpStatus: isGone ? 404 : 200,
    contentType: n % 50 === 7 ? 'application/pdf' : 'text/html; charset=utf-8',
    validators: {
      etag: `"${n.toString(16)}-5f3a"`,
      lastModified: 'Tue, 14 Nov 2023 22:13:20 GMT',
      contentLength: 36_864,
    },
    digest: n.toString(16).padStart(32, '0'),
    signature: n.toString(16).padStart(16, '0'),
    signatureName: 'simhash64/1',
    title: `Page ${n} of a site with a title of the usual length`,
    visits,
  };
}

/** State directory with the crawl db of all benchmarks of questions; built by the first run, reused by later ones. */
export async function stateFolder({ say }: Bench): Promise<string> {
  const dir = join(tmpdir(), `incrawl-bench-questions-${DB_FORMAT_VERSION}`);
  const done = join(dir, 'built');
  if (existsSync(done)) return dir;
  say(`building ${URLS} records in ${dir}, once`);
  rmSync(dir, { recursive: true, force: true });
  mkdirSync(dir, { recursive: true });
  const now = Date.now();
  const db = await openLevelCrawlDb({ dir: join(dir, 'db'), log: silent });
  for (let start = 0; start < URLS; start += 1_000) {
    const puts = Array.from({ length: 1_000 }, (_, i) => ({ datum: datumOf(start + i, now), previous: null }));
    await db.write({ puts });
  }
  await db.close();
  // Makes the filter of seen URLs and the tables of signatures, which commands that write would make.
  await (await openCrawler({ config: defaultConfig(), dir, log: silent })).close();
  writeFileSync(done, '');
  return dir;
}

/** The least cost of several runs of a command. */
export const ask = (...args: readonly string[]): Promise<Cost> => cheapest(RUNS, () => nodeCost([CLI, ...args]));

/** CPU of Node that does nothing, ms. */
export const startOfNode = async (): Promise<number> => (await cheapest(RUNS, () => nodeCost(['-e', '0']))).cpuMs;

export const questions = measurement('crawldb', {}, async (bench) => {
  const dir = await stateFolder(bench);
  const some = urlOf(Math.floor(seeded(1)() * URLS));
  const note = bench.question("Questions to 1 M URLs, CPU beyond Node's start");
  const node = await startOfNode();
  const asked: readonly (readonly [what: string, aim: string | undefined, args: readonly string[]])[] = [
    ['counts per state', AIM, ['--stats']],
    ['one URL', AIM, ['--url', some]],
    ['the next 50 due', AIM, ['--due', '--limit', '50']],
    ['all gone pages of a host', AIM, ['--host', 'www1.large.example', '--status', 'gone']],
    [
      'the 20 most changing pages of a domain',
      AIM,
      ['--domain', 'large.example', '--top-n', '20', '--sort', 'changesPerDay'],
    ],
    // Without an aim of their own.
    ['failing pages of a domain', undefined, ['--where', 'domain = large.example and failures >= 3']],
    ['URLs by domain', undefined, ['--stats', '--by', 'domain', '--limit', '20']],
    ['all of the due index, --stats --full', undefined, ['--stats', '--full']],
    ['a pass over the records, --where without an index', undefined, ['--where', 'title ~ "no such title"']],
  ];
  for (const [what, aim, args] of asked) {
    const { cpuMs } = await ask('readdb', ...args, '--dir', dir);
    note(what, cpuMs - node, 'ms', aim);
  }
  await askCommands(note, dir, some, node);
  await measureInject(note);
});

/** Whole commands, with the start of Node. */
async function askCommands(note: Note, dir: string, url: string, node: number): Promise<void> {
  const commands: readonly (readonly [aimMs: number, args: readonly string[]])[] = [
    [500, ['readdb', '--top-n', '20']],
    [500, ['readdb', '--sample', '10']],
    [500, ['forecast', 'plan']],
    [2_000, ['generate', '--dry-run']],
  ];
  for (const [aimMs, args] of commands) {
    const { cpuMs } = await ask(...args, '--dir', dir);
    note(`${args.join(' ')}, whole command`, cpuMs, 'ms', `<= ${aimMs}`);
  }
  const record = (await ask('readdb', '--url', url, '--dir', dir)).cpuMs;
  const explained = (await ask('explain', url, '--dir', dir)).cpuMs;
  note('explain', explained - node, 'ms', AIM);
  note('explain against readdb --url', explained / record, 'x', '<= 1.5');
}

/** Hosts of the injected seeds, which come in an order without system, as from a web archive. */
const SEED_HOSTS = 3_000;

const measureInject = (note: Note): Promise<void> =>
  withFolder(async (folder) => {
    const seeds = join(folder, 'seeds.txt');
    const lines = Array.from({ length: URLS }, (_, i) => {
      const n = (i * 7_919) % URLS;
      return `https://www.site${n % SEED_HOSTS}.example.com/section/${n % 97}/page-${n}.html\n`;
    });
    writeFileSync(seeds, lines.join(''));
    const { cpuMs, peakMb } = await nodeCost([CLI, 'inject', seeds, '--dir', join(folder, 'state')]);
    note('inject of 1 M seeds in random order, 3,000 hosts', cpuMs / 1_000, 's', '<= 40');
    note('peak memory of inject, 3,000 hosts', peakMb, 'MB', '<= 300');
  });
