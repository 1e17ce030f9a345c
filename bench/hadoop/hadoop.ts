import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type Bench, measurement, type Note } from '../harness/measurement.ts';
import { CLI, withFolder } from '../harness/places.ts';
import { fetchHadoop, type MiniCluster, partsOf, startCluster } from './cluster.ts';
import { startSite } from './site.ts';

type Say = Bench['say'];

const REDUCERS = 3;
/** So that each job has several mappers. */
const SHARDS = 4;

/**
 * Near duplicates and link families of a crawl under a real Hadoop Streaming, from export to effect, against what
 * incrawl finds alone. Needs Maven and Java 17; the packages of Hadoop stay in the folder of `--state`, if one is
 * named.
 */
export const hadoop = measurement('duplicates', { pages: 6_000, state: '' }, ({ say, question }, { pages, state }) =>
  withFolder(async (folder) => {
    const jars = state === '' ? join(folder, 'jars') : state;
    let cluster: MiniCluster | null = null;
    try {
      fetchHadoop(jars);
      await crawl(folder, pages, say);
      const segment = exportAll(folder, say);
      const start = performance.now();
      cluster = await startCluster(jars, folder);
      say(`HDFS and YARN started in ${secondsSince(start)}`);
      await cluster.fs('-put', join(folder, 'signatures'), join(folder, 'links'), '/');
      const query = join(folder, 'signatures', '_query.tsv.gz');
      await runJob(cluster, folder, { job: 'dedup', input: '/signatures' }, say);
      await runJob(cluster, folder, { job: 'dedup-incoming', input: '/signatures', query }, say);
      await runJob(cluster, folder, { job: 'linkclusters', input: '/links' }, say);
      await cluster.stop();
      cluster = null;
      const note = question(
        `Under Hadoop, HDFS and YARN on one machine, a crawl of ${pages.toLocaleString('en')} pages`,
      );
      compareLines(folder, note);
      compareCrawls(folder, segment, note);
      compareFamilies(folder, note);
    } finally {
      await cluster?.stop();
    }
  }),
);

const secondsSince = (start: number): string => `${((performance.now() - start) / 1_000).toFixed(1)} s`;

/** Runs the built program in the folder; `input` is a command of the shell whose output it reads. */
function incrawl(folder: string, args: readonly string[], input?: string): string {
  const own = [process.execPath, CLI, ...args].map((word) => `'${word}'`).join(' ');
  const { status, stdout, stderr } = spawnSync('sh', ['-c', input === undefined ? own : `${input} | ${own}`], {
    cwd: folder,
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
    env: { ...process.env, LC_ALL: 'C' },
  });
  if (status !== 0) throw new Error(`incrawl ${args.join(' ')} ended with ${status}: ${stderr}`);
  return stdout;
}

const jsonOf = <Shape>(folder: string, args: readonly string[]): Shape =>
  JSON.parse(incrawl(folder, [...args, '--json'])) as Shape;

async function crawl(folder: string, pages: number, say: Say): Promise<void> {
  const site = await startSite(pages);
  try {
    const options = [
      '--allow',
      '127.0.0.0/8',
      '--delay',
      '0',
      '--quiet',
      '-D',
      'dedup.mode=off',
      '-D',
      'fetch.concurrency=16',
    ];
    // This process serves the site meanwhile.
    const child = spawn(process.execPath, [CLI, 'crawl', ...site.seeds, ...options], { cwd: folder, stdio: 'ignore' });
    const [code] = (await once(child, 'exit')) as [number | null];
    if (code !== 0) throw new Error(`the crawl ended with ${code}`);
  } finally {
    await site.close();
  }
  const stats = jsonOf<{ urls: number }>(folder, ['readdb', '--stats']);
  say(`crawled ${stats.urls.toLocaleString('en')} URLs of 3 hosts`);
}

interface Exported {
  readonly files: number;
  readonly lines: number;
  readonly bytes: number;
  readonly query?: number;
  readonly short?: number;
}

/** @returns the segment that is the new batch */
function exportAll(folder: string, say: Say): string {
  const segments = jsonOf<{ id: string }[]>(folder, ['readseg', '--list']);
  const batch = segments[Math.floor(segments.length / 2)]!.id;
  for (const [input, options] of [
    ['signatures', ['--incoming', batch, '--scope', 'all']],
    ['links', []],
  ] as const) {
    const first = jsonOf<Exported>(folder, ['mr', 'export', input, '-o', 'whole', ...options]);
    rmSync(join(folder, 'whole'), { recursive: true });
    const lines = String(Math.ceil(first.lines / SHARDS));
    const start = performance.now();
    const {
      files,
      bytes,
      query = 0,
      short = 0,
    } = jsonOf<Exported>(folder, [...['mr', 'export', input, '-o', input, '--shard-lines', lines], ...options]);
    const also = input === 'signatures' ? `, ${query} of them in the query set, ${short} left out as short` : '';
    say(`${input}: ${first.lines} lines in ${files} files, ${bytes} bytes, ${secondsSince(start)}${also}`);
  }
  return batch;
}

interface Asked {
  readonly job: string;
  readonly input: string;
  readonly query?: string;
}

async function runJob(cluster: MiniCluster, folder: string, { job, input, query }: Asked, say: Say): Promise<void> {
  const start = performance.now();
  const step = (half: string): string => `${process.execPath} ${CLI} mr ${half} ${job}`;
  const mapper = query === undefined ? step('map') : `${step('map')} --query _query.tsv.gz`;
  const output = `/${job}`;
  const file = query === undefined ? {} : { file: query };
  await cluster.run({ input, output, mapper, reducer: step('reduce'), reducers: REDUCERS, ...file });
  await cluster.fs('-get', output, join(folder, `${job}.out`));
  say(`${job} under Hadoop: ${linesOf(folder, job).length} lines, ${secondsSince(start)}`);
}

/** Output of a job, sorted. */
const linesOf = (folder: string, job: string): string[] =>
  partsOf(join(folder, `${job}.out`))
    .flatMap((file) => sortedLines(readFileSync(file, 'utf8')))
    .sort();

const sortedLines = (text: string): string[] => text.split('\n').slice(0, -1).sort();

/** The same jobs by pipes and GNU sort. */
function compareLines(folder: string, note: Note): void {
  const shards = { dedup: 'signatures', 'dedup-incoming': 'signatures', linkclusters: 'links' };
  for (const [job, input] of Object.entries(shards)) {
    const query = job === 'dedup-incoming' ? `--query ${input}/_query.tsv.gz` : '';
    const map = `'${process.execPath}' '${CLI}' mr map ${job} ${query}`;
    const piped = incrawl(folder, ['mr', 'reduce', job], `gzip -cd ${input}/${input}-*.gz | ${map} | sort`);
    const expected = sortedLines(piped);
    note(`lines of ${job}`, expected.length, 'lines', '>= 1');
    note(`lines of ${job} that differ from GNU sort`, differing(expected, linesOf(folder, job)), 'lines', '= 0');
  }
  const built = sortedLines(incrawl(folder, ['duplicates', 'families', '--format', 'tsv']));
  const others = differing(built, linesOf(folder, 'linkclusters'));
  note('lines of linkclusters that differ from incrawl alone', others, 'lines', '= 0');
}

/** Lines that only one of both has. */
function differing(a: readonly string[], b: readonly string[]): number {
  const [inA, inB] = [new Set(a), new Set(b)];
  return a.filter((line) => !inB.has(line)).length + b.filter((line) => !inA.has(line)).length;
}

/** The crawl after each command alone, and after the same with the files of Hadoop. */
function compareCrawls(folder: string, segment: string, note: Note): void {
  const all = ['dedup', '--scope', 'all'];
  const pairs: readonly (readonly [string, readonly string[], readonly string[]])[] = [
    ['dedup', all, ['--apply', 'dedup.out']],
    ['dedup --incoming', [...all, '--incoming', segment], ['--apply', 'dedup-incoming.out']],
  ];
  for (const [name, command, applied] of pairs) {
    const [here, there] = [copied(folder, 'here'), copied(folder, 'there')];
    const { marked } = jsonOf<{ marked: number }>(folder, [...command, '--dir', here]);
    incrawl(folder, [...command, ...applied, '--dir', there]);
    note(`marked by ${name}`, marked, 'records', '>= 1');
    const others = differing(recordsOf(folder, here), recordsOf(folder, there)) / 2;
    note(`records that differ after ${name} --apply from ${name} alone`, others, 'records', '= 0');
  }
}

function copied(folder: string, name: string): string {
  rmSync(join(folder, name), { recursive: true, force: true });
  cpSync(join(folder, 'crawldb'), join(folder, name), { recursive: true });
  return name;
}

const recordsOf = (folder: string, dir: string): string[] =>
  incrawl(folder, ['readdb', '--dump', '--format', 'jsonl', '--dir', dir]).split('\n');

/** The noise families that a crawl keeps, of its own run and of the files of Hadoop. */
function compareFamilies(folder: string, note: Note): void {
  const [here, there] = [copied(folder, 'here'), copied(folder, 'there')];
  incrawl(folder, ['duplicates', 'families', '--apply', '--dir', here]);
  incrawl(folder, ['duplicates', 'families', '--apply', '-', '--dir', there], 'cat linkclusters.out/part-*');
  const [alone = [], applied = []] = [here, there].map((dir) =>
    jsonOf<{ domain: string; first: string; appliedAt?: string }[]>(folder, [
      'duplicates',
      'families',
      '--applied',
      '--dir',
      dir,
    ]).map(({ appliedAt: _, ...family }) => JSON.stringify(family)),
  );
  note('noise families kept', alone.length, 'families', '>= 1');
  note('noise families that differ after duplicates families --apply', differing(alone, applied), 'families', '= 0');
}
