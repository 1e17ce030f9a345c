import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CLI } from '../../../../bench/harness/places.ts';
import { NO_HADOOP, startCluster } from './hadoop-cluster.ts';
import { startSite } from './similar-site.ts';

const PAGES = 1_500;
const REDUCERS = 3;
/** So that each job has several mappers. */
const SHARDS = 4;
/** A job takes some minutes, most of which is the start of JVMs. */
const PATIENCE_MS = 30 * 60_000;

/** Jobs with the folder of their input, and what their mapper is given. */
const JOBS = {
  dedup: { input: 'signatures', query: null },
  'dedup-incoming': { input: 'signatures', query: 'signatures/_query.tsv.gz' },
  linkclusters: { input: 'links', query: null },
} as const;
type Job = keyof typeof JOBS;
const NAMES = Object.keys(JOBS) as Job[];

const folder = mkdtempSync(join(tmpdir(), 'incrawl-hadoop-'));
/** The segment that is the new batch. */
let batch = '';

/** Runs the built program in the folder; `input` is a command of the shell whose output it reads. */
function incrawl(args: readonly string[], input?: string): string {
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

const jsonOf = <Shape>(...args: readonly string[]): Shape => JSON.parse(incrawl([...args, '--json'])) as Shape;
const linesIn = (text: string): string[] => text.split('\n').slice(0, -1);

/** Lines that Hadoop has written, sorted; not its marks and sums. */
const linesOf = (job: Job): string[] =>
  readdirSync(join(folder, `${job}.out`))
    .filter((name) => name.startsWith('part-'))
    .flatMap((name) => linesIn(readFileSync(join(folder, `${job}.out`, name), 'utf8')))
    .sort();

async function crawl(): Promise<void> {
  const site = await startSite(PAGES);
  const defined = ['dedup.mode=off', 'fetch.concurrency=16'].flatMap((key) => ['-D', key]);
  const options = ['--allow', '127.0.0.0/8', '--delay', '0', '--quiet', ...defined];
  // This process serves the site meanwhile.
  const child = spawn(process.execPath, [CLI, 'crawl', ...site.seeds, ...options], { cwd: folder, stdio: 'ignore' });
  const [code] = (await once(child, 'exit')) as [number | null];
  await site.close();
  if (code !== 0) throw new Error(`the crawl ended with ${code}`);
}

function exportAll(): void {
  const segments = jsonOf<{ id: string }[]>('readseg', '--list');
  batch = segments[Math.floor(segments.length / 2)]!.id;
  for (const [input, options] of [
    ['signatures', ['--incoming', batch, '--scope', 'all']],
    ['links', []],
  ] as const) {
    const { lines } = jsonOf<{ lines: number }>('mr', 'export', input, '-o', `${input}-whole`, ...options);
    const shards = ['--shard-lines', String(Math.ceil(lines / SHARDS))];
    incrawl(['mr', 'export', input, '-o', input, ...shards, ...options]);
  }
}

async function runJobs(): Promise<void> {
  const cluster = await startCluster(folder);
  try {
    await cluster.fs('-put', join(folder, 'signatures'), join(folder, 'links'), '/');
    for (const job of NAMES) {
      const { input, query } = JOBS[job];
      const step = (half: string): string => `${process.execPath} ${CLI} mr ${half} ${job}`;
      await cluster.run({
        input: `/${input}`,
        output: `/${job}`,
        mapper: query === null ? step('map') : `${step('map')} --query _query.tsv.gz`,
        reducer: step('reduce'),
        reducers: REDUCERS,
        ...(query !== null && { file: join(folder, query) }),
      });
      await cluster.fs('-get', `/${job}`, join(folder, `${job}.out`));
    }
  } finally {
    await cluster.stop();
  }
}

/** A copy of the crawl, on which a command works. */
function copied(name: string): string {
  rmSync(join(folder, name), { recursive: true, force: true });
  cpSync(join(folder, 'crawldb'), join(folder, name), { recursive: true });
  return name;
}

const recordsOf = (dir: string): string[] =>
  linesIn(incrawl(['readdb', '--dump', '--format', 'jsonl', '--dir', dir])).sort();

/** Near duplicates and link families of a crawl under Hadoop Streaming, from export to effect, beside incrawl alone. */
describe.skipIf(NO_HADOOP !== null)(
  `HDFS and YARN on this machine${NO_HADOOP === null ? '' : ` (skipped: ${NO_HADOOP})`}`,
  { timeout: PATIENCE_MS },
  () => {
    beforeAll(async () => {
      await crawl();
      exportAll();
      await runJobs();
    }, PATIENCE_MS);
    afterAll(() => rmSync(folder, { recursive: true, force: true }));

    it.each(NAMES)('%s gives the lines that pipes and GNU sort give', (job) => {
      const { input, query } = JOBS[job];
      const options = query === null ? '' : `--query ${query}`;
      const map = `'${process.execPath}' '${CLI}' mr map ${job} ${options}`;
      const piped = incrawl(['mr', 'reduce', job], `gzip -cd ${input}/${input}-*.gz | ${map} | sort`);
      expect(linesOf(job).length).toBeGreaterThan(0);
      expect(linesOf(job)).toEqual(linesIn(piped).sort());
    });

    it('linkclusters gives the families that incrawl finds alone', () =>
      expect(linesOf('linkclusters')).toEqual(linesIn(incrawl(['duplicates', 'families', '--format', 'tsv'])).sort()));

    it.each([
      ['dedup', () => []],
      ['dedup-incoming', () => ['--incoming', batch]],
    ] as const)('%s: dedup --apply leaves the records that dedup leaves alone', (job, more) => {
      const command = ['dedup', '--scope', 'all', ...more()];
      const [here, there] = [copied('here'), copied('there')];
      expect(jsonOf<{ marked: number }>(...command, '--dir', here).marked).toBeGreaterThan(0);
      incrawl([...command, '--apply', `${job}.out`, '--dir', there]);
      expect(recordsOf(there)).toEqual(recordsOf(here));
    });

    it('duplicates families --apply keeps the noise families that incrawl keeps alone', () => {
      const [here, there] = [copied('here'), copied('there')];
      incrawl(['duplicates', 'families', '--apply', '--dir', here]);
      incrawl(['duplicates', 'families', '--apply', '-', '--dir', there], 'cat linkclusters.out/part-*');
      const keptIn = (dir: string) =>
        jsonOf<{ appliedAt?: string }[]>('duplicates', 'families', '--applied', '--dir', dir).map(
          ({ appliedAt: _, ...family }) => family,
        );
      expect(keptIn(here).length).toBeGreaterThan(0);
      expect(keptIn(there)).toEqual(keptIn(here));
    });
  },
);
