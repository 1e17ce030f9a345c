/**
 * `npm run bench -- --only hadoop [--pages N] [--state FOLDER]`: near duplicates and link families of a crawl under a
 * real Hadoop Streaming, from export to effect, against what incrawl finds alone. Needs Maven and Java 17; the packages
 * of Hadoop stay in FOLDER, if one is named.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fetchHadoop, type MiniCluster, partsOf, startCluster } from './cluster.ts';
import { startSite } from './site.ts';

type Say = (text: string) => void;
type Verdict = (isGood: boolean, text: string) => void;

const MAIN = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));
const REDUCERS = 3;
/** So that each job has several mappers. */
const SHARDS = 4;

export async function benchHadoop(say: Say, verdict: Verdict, pages: number, state?: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'incrawl-hadoop-'));
  const jars = state ?? join(folder, 'jars');
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
    compareLines(folder, verdict);
    compareCrawls(folder, segment, say, verdict);
    compareFamilies(folder, say, verdict);
  } finally {
    await cluster?.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

const secondsSince = (start: number): string => `${((performance.now() - start) / 1_000).toFixed(1)} s`;

/** Runs the built program in the folder; `input` is a command of the shell whose output it reads. */
function incrawl(folder: string, args: readonly string[], input?: string): string {
  const own = [process.execPath, MAIN, ...args].map((word) => `'${word}'`).join(' ');
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
    const child = spawn(process.execPath, [MAIN, 'crawl', ...site.seeds, ...options], { cwd: folder, stdio: 'ignore' });
    const [code] = (await once(child, 'exit')) as [number | null];
    if (code !== 0) throw new Error(`the crawl ended with ${code}`);
  } finally {
    site.close();
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
  const step = (half: string): string => `${process.execPath} ${MAIN} mr ${half} ${job}`;
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
function compareLines(folder: string, verdict: Verdict): void {
  const shards = { dedup: 'signatures', 'dedup-incoming': 'signatures', linkclusters: 'links' };
  for (const [job, input] of Object.entries(shards)) {
    const query = job === 'dedup-incoming' ? `--query ${input}/_query.tsv.gz` : '';
    const map = `'${process.execPath}' '${MAIN}' mr map ${job} ${query}`;
    const piped = incrawl(folder, ['mr', 'reduce', job], `gzip -cd ${input}/${input}-*.gz | ${map} | sort`);
    const [expected, got] = [sortedLines(piped), linesOf(folder, job)];
    verdict(
      expected.length > 0 && isSame(expected, got),
      `${job}: ${got.length} lines of Hadoop are those of GNU sort`,
    );
  }
  const built = sortedLines(incrawl(folder, ['linkclusters', '--format', 'tsv']));
  verdict(isSame(built, linesOf(folder, 'linkclusters')), 'linkclusters: lines of Hadoop are those of incrawl alone');
}

const isSame = (a: readonly string[], b: readonly string[]): boolean => a.join('\n') === b.join('\n');

/** The crawl after each command alone, and after the same with the files of Hadoop. */
function compareCrawls(folder: string, segment: string, say: Say, verdict: Verdict): void {
  const all = ['dedup', '--scope', 'all'];
  const pairs: readonly (readonly [string, readonly string[], readonly string[]])[] = [
    ['dedup', all, ['--apply', 'dedup.out']],
    ['dedup --incoming', [...all, '--incoming', segment], ['--apply', 'dedup-incoming.out']],
  ];
  for (const [name, command, applied] of pairs) {
    const [here, there] = [copied(folder, 'here'), copied(folder, 'there')];
    const start = performance.now();
    const alone = jsonOf<{ marked: number }>(folder, [...command, '--dir', here]);
    const between = performance.now();
    incrawl(folder, [...command, ...applied, '--dir', there]);
    say(
      `${name}: ${alone.marked} marked; alone ${((between - start) / 1_000).toFixed(1)} s, applied ${secondsSince(between)}`,
    );
    const isEqual = recordsOf(folder, here) === recordsOf(folder, there);
    verdict(alone.marked > 0 && isEqual, `${name}: the crawl after --apply is the crawl after ${name} alone`);
  }
}

function copied(folder: string, name: string): string {
  rmSync(join(folder, name), { recursive: true, force: true });
  cpSync(join(folder, 'crawldb'), join(folder, name), { recursive: true });
  return name;
}

const recordsOf = (folder: string, dir: string): string =>
  incrawl(folder, ['readdb', '--dump', '--json', '--dir', dir]);

/** The noise families that a crawl keeps, of its own run and of the files of Hadoop. */
function compareFamilies(folder: string, say: Say, verdict: Verdict): void {
  const [here, there] = [copied(folder, 'here'), copied(folder, 'there')];
  incrawl(folder, ['linkclusters', '--apply', '--dir', here]);
  incrawl(folder, ['linkclusters', '--apply', '-', '--dir', there], 'cat linkclusters.out/part-*');
  const [alone, applied] = [here, there].map((dir) =>
    jsonOf<{ domain: string; first: string; appliedAt?: string }[]>(folder, ['linkclusters', '--applied', '--dir', dir])
      .map(({ appliedAt: _, ...family }) => JSON.stringify(family))
      .sort(),
  );
  say(`linkclusters: ${alone!.length} noise families kept`);
  verdict(
    alone!.length > 0 && isSame(alone!, applied!),
    'linkclusters: --apply keeps the families that it keeps alone',
  );
}
