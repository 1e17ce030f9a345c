import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import type { Command } from 'commander';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createProgram } from '../../../src/cli/commands/all-commands.ts';
import { afterThisTest } from '../../support/ends.ts';
import { json, NO_STOPS, run, start } from '../../support/program.ts';
import { workDir } from '../../support/work-dir.ts';
import { createGate } from '../support/gate.ts';
import { type LocalSite, startSite } from '../support/local-site.ts';

const ALLOW = ['--allow', '127.0.0.1', '--delay', '0'];
let site: LocalSite;
let cwd = '';
let other = '';
let exported = '';
beforeAll(async () => {
  site = await startSite({ pages: 3 });
  [cwd, other] = [workDir(), workDir()];
  await run(['crawl', `${site.origin}/`, ...ALLOW, '--quiet', '--rounds', '2'], { cwd });
  exported = (await run(['db', 'export'], { cwd })).stdout;
  await run(['state', 'backup', join(other, 'backup')], { cwd });
  await run(['state', 'restore', join(other, 'backup'), '--dir', join(other, 'crawldb')]);
  writeFileSync(join(other, 'hosts.yaml'), 'hosts:\n  - match: a.example\n    cookies: true\n');
  writeFileSync(join(other, 'cookies.txt'), 'a.example\tFALSE\t/\tTRUE\t4102444800\tsession\tsecret\n');
  // A segment that is under way, so that nothing is left to be guessed by those that finish one.
  await run(['due', 'touch', `${site.origin}/`], { cwd });
  await run(['generate', '-D', 'generate.topN=1'], { cwd });
  await run(['fetch', ...ALLOW, '--quiet'], { cwd });
});
afterAll(() => site.close());

/** Every file below a folder, with the digest of its content. */
function digests(folder: string): Readonly<Record<string, string>> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  const digestOf = (path: string): string =>
    statSync(path).isFile() ? createHash('sha256').update(readFileSync(path)).digest('hex') : 'folder';
  return Object.fromEntries(names.map((name) => [name, digestOf(join(folder, name))]));
}

interface Case {
  readonly args: readonly string[];
  readonly input?: string;
  /** What the dry run says beyond `dryRun`; of an array, of its first element. */
  readonly says: Readonly<Record<string, unknown>>;
  readonly code?: number;
}

/** One for each command that knows `--dry-run`. */
const cases = (): readonly Case[] => [
  { args: ['init', '.'], says: { written: expect.arrayContaining(['conf/incrawl.yaml']) } },
  {
    args: ['crawl', 'https://new.example/', '--top-n', '5'],
    says: { inject: expect.objectContaining({ injected: 1 }) },
  },
  { args: ['inject', 'https://new.example/'], says: { injected: 1, kept: 0 } },
  { args: ['generate', '--add-days', '400'], says: { segment: null, urls: expect.arrayContaining([]) } },
  { args: ['parse'], says: { parsed: expect.any(Number) } },
  { args: ['updatedb'], says: { applied: 1 } },
  { args: ['due', 'sitemap', site.origin, ...ALLOW], says: { sitemaps: expect.any(Array) }, code: 1 },
  { args: ['due', 'touch', `${site.origin}/page/1`], says: { touched: 1 } },
  { args: ['due', 'retry', '--status', 'fetched'], says: { matched: expect.any(Number) } },
  { args: ['export', '-o', 'pages.jsonl'], says: { documents: expect.any(Number), bytes: expect.any(Number) } },
  { args: ['export', '--format', 'warc', '-o', 'archive/'], says: { documents: expect.any(Number) } },
  { args: ['dedup'], says: { marked: expect.any(Number) } },
  { args: ['duplicates', 'families', '--apply'], says: { families: expect.any(Number), removed: 0 } },
  { args: ['state', 'repair'], says: { sound: true } },
  { args: ['state', 'backup', 'backup'], says: { files: expect.any(Number), rows: expect.any(Number) } },
  { args: ['state', 'restore', join(other, 'backup'), '--dir', 'restored'], says: { rows: expect.any(Number) } },
  {
    args: ['db', 'import', '--merge'],
    input: exported,
    says: { records: expect.any(Number), merged: expect.any(Number) },
  },
  { args: ['db', 'merge', join(other, 'crawldb')], says: { records: expect.any(Number), segments: expect.any(Array) } },
  {
    args: ['db', 'repartition', '--nodes', 'a,b', '--out', 'shares'],
    says: { nodes: [expect.any(Object), expect.any(Object)] },
  },
  { args: ['state', 'prune', '--keep-days', '0'], says: { segments: expect.any(Array) } },
  { args: ['reparse'], says: { selected: expect.any(Number), differing: 0 } },
  {
    args: ['cookies', 'import', join(other, 'cookies.txt'), '--config', join(other, 'hosts.yaml')],
    says: { imported: 1 },
  },
  { args: ['cookies', 'clear'], says: { removed: 0 } },
  { args: ['packages', 'install', 'jieba'], says: { packages: expect.any(Array) } },
  { args: ['plugins', 'new', 'urlfilter-mine'], says: { files: expect.any(Array) } },
];

describe('--dry-run', () => {
  it('says what would be done, and changes not one byte; no temporary file is left', async () => {
    const before = [digests(cwd), digests(other)];
    const tmp = workDir();
    vi.stubEnv('TMPDIR', tmp);
    afterThisTest(vi.unstubAllEnvs);
    const check = async ({ args, says, input, code = 0 }: Case): Promise<void> => {
      const options = { cwd, code, ...(input === undefined ? {} : { input }) };
      const reported = await json<object>([...args, '--dry-run'], options);
      const first = Array.isArray(reported) ? (reported[0] as object) : reported;
      expect({ args, reported: first }).toMatchObject({ args, reported: { ...says, dryRun: true } });
    };
    // None is in another's way: all take the crawl as it is.
    await Promise.all(cases().map(check));
    expect([digests(cwd), digests(other)]).toEqual(before);
    expect(readdirSync(tmp)).toEqual([]);
  });

  it('predicts the result of the real run', async () => {
    const copy = workDir();
    await run(['state', 'restore', join(other, 'backup'), '--dir', join(copy, 'crawldb')]);
    for (const args of [
      ['inject', 'https://new.example/', `${site.origin}/`],
      ['due', 'touch', `${site.origin}/page/1`, 'https://unknown.example/'],
      ['db', 'merge', join(cwd, 'crawldb')],
    ]) {
      const predicted = await json<object>([...args, '--dry-run'], { cwd: copy });
      const done = await json<object>(args, { cwd: copy });
      expect(JSON.parse(JSON.stringify(predicted).replaceAll(',"dryRun":true', ''))).toEqual(done);
    }
  });

  it('makes no state directory, and needs none', async () => {
    const empty = workDir();
    for (const args of [
      ['inject', 'https://new.example/'],
      ['crawl', 'https://new.example/'],
      ['db', 'import'],
    ]) {
      const input = args[0] === 'db' ? exported : '';
      const { code, stdout } = await run([...args, '--dry-run'], { cwd: empty, input });
      expect(code).toBe(0);
      expect(stdout).toMatch(/^Dry run, nothing was changed:\n/);
    }
    expect(readdirSync(empty)).toEqual([]);
  });

  it('answers while a crawl runs', async () => {
    const gate = createGate();
    gate.closeAfter(0);
    const slow = await startSite({ pages: 3, gate });
    const dir = join(workDir(), 'held');
    const crawl = start(['crawl', `${slow.origin}/`, ...ALLOW, '--dir', dir]);
    await slow.seen(1);
    expect((await run(['inject', 'https://new.example/', '--dir', dir])).code).toBe(5);
    expect(await json(['inject', 'https://new.example/', '--dir', dir, '--dry-run'])).toMatchObject({
      injected: 1,
    });
    gate.open();
    crawl.stop();
    await crawl.finished;
    await slow.close();
  });
});

/** Commands that write nothing but standard output, and those that go to sites, which no copy can stand in for. */
const WITHOUT: Readonly<Record<string, string>> = {
  mirror: 'crawl --dry-run says what would be fetched; files are written only where their pages have changed',
  demo: 'a state of its own, thrown away',
  fetch: 'asks sites; generate --dry-run shows the list',
  schedule: 'runs for ever; crawl --dry-run shows its first round',
  watch: 'asks sites; --list shows the pages',
  work: 'shares its work with others; crawl --dry-run shows the first round',
  top: 'reads',
  serve: 'reads',
  'forecast plan': 'reads',
  'forecast simulate': 'reads',
  readdb: 'reads',
  readseg: 'reads',
  explain: 'reads',
  diff: 'reads',
  changes: 'reads',
  skipped: 'reads',
  'duplicates near': 'reads',
  'mr map': 'reads',
  'mr reduce': 'reads',
  'mr export': 'reads; writes a new folder alone',
  'state verify': 'reads',
  'db export': 'reads',
  'check url': 'reads',
  'check parse': 'reads',
  'check robots': 'reads',
  'check sitemap': 'reads',
  'cookies list': 'reads',
  'packages list': 'reads',
  'partitions list': 'reads',
  'plugins list': 'reads',
  'plugins test': 'reads',
  ...Object.fromEntries(
    ['pause', 'resume', 'stop', 'touch', 'inject', 'delay'].map((name) => [`ctl ${name}`, 'tells the crawl that runs']),
  ),
  config: 'reads',
  completion: 'reads',
  help: 'reads',
};

/** Need PostgreSQL: tried in partitions.test.ts and splits.test.ts of test/system/cli/cluster. */
const ON_SERVERS: readonly string[] = ['partitions move', 'partitions split'];

describe('parity', async () => {
  const stream = new PassThrough() as unknown as NodeJS.WriteStream;
  const { command: program } = await createProgram({
    argv: [],
    env: {},
    stdin: () => process.stdin,
    stdout: stream,
    stderr: stream,
    stops: NO_STOPS,
  });
  const leaves = (command: Command, path: string): [string, Command][] =>
    command.commands.length === 0
      ? [[path, command]]
      : command.commands.flatMap((each) => leaves(each, path === '' ? each.name() : `${path} ${each.name()}`));

  it('every command that writes has --dry-run and a case above; the others say why not', () => {
    const all = leaves(program, '');
    const dry = all
      .filter(([, command]) => command.options.some(({ long }) => long === '--dry-run'))
      .map(([name]) => name);
    expect(all.map(([name]) => name).sort()).toEqual([...dry, ...Object.keys(WITHOUT)].sort());
    const tried = cases().map(({ args }) => args);
    for (const name of dry.filter((each) => !ON_SERVERS.includes(each)))
      expect(
        tried.some((args) => `${args.join(' ')} `.startsWith(`${name} `)),
        name,
      ).toBe(true);
  });
});
