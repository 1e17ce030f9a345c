import { spawn } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exitCodeOf } from '../../../src/cli/exit.ts';
import { type Finished, json, prepare, run } from '../../support/program.ts';
import { workDir } from '../../support/work-dir.ts';
import { BINARY } from '../../system/support/binary.ts';

function writePluginList(cwd: string, plugin: string): void {
  const others = ['protocol-http', 'parse-html', 'signature-simhash', 'schedule-freshness'];
  mkdirSync(join(cwd, 'conf'), { recursive: true });
  const lines = [...others, plugin].map((name) => `  - ${name}\n`);
  writeFileSync(join(cwd, 'conf', 'plugins.yaml'), `plugins:\n${lines.join('')}`);
}

it.each(['ENOSPC', 'EDQUOT'])('%s, which ends the writing of any file, is a full disk', (code) => {
  expect(exitCodeOf(Object.assign(new Error(`${code}: write`), { code, syscall: 'write' }))).toBe(3);
});

function expectRefusal({ code, stdout, stderr }: Finished, words: readonly string[]): void {
  expect(stderr).toContain('incrawl:');
  for (const each of words) expect(stderr).toContain(each);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
}

describe.concurrent('usage and configuration', () => {
  it.each([
    [['crawl', '--roundz', '3'], "unknown option '--roundz'", 'Did you mean --rounds?'],
    [['crwl'], "unknown command 'crwl'", 'Did you mean crawl?'],
    [['crawl', '-D', 'fetch.dely=0'], '-D fetch.dely: unknown key, did you mean fetch.delay?', ''],
    [['crawl', '--delay', 'soon'], '--delay fetch.delay: expected a duration', 'got "soon"'],
    [['config', '--config', 'absent.yaml'], 'absent.yaml: no such file', ''],
  ] as const)('%j, started as a program, is refused with exit code 2', async (args, first, second) => {
    expectRefusal(await run(args, { cwd: workDir() }), [first, second]);
  });

  it.each([
    [['plugins', 'nwe', 'x'], 'too many arguments', ''],
    [['crawl', '--rounds', '0'], 'Expected a whole number, at least 1.', ''],
    [['plan', '--days', '99999999'], 'Expected a whole number, 1 to 3650.', ''],
    [['near', '-k', '99', 'http://example.org/'], 'Expected a whole number, 0 to 64.', ''],
    [['generate', '--add-days', '-1'], 'Expected a number of days, at least 0.', ''],
    [['generate', '--status', 'fetchd'], 'Did you mean fetched?', ''],
    [['generate', '--min-interval', 'soon'], 'Expected a duration such as', ''],
    [['inject'], 'missing required argument', ''],
    [['inject', '-', '--update', '--overwrite'], 'cannot be used with', ''],
    [['inject', 'absent.txt'], 'no such seed file: absent.txt', ''],
    [['import-db', 'absent.jsonl'], 'no such file: absent.jsonl', ''],
    [['crawl', 'example.org/news'], 'a URL begins with its scheme: https://example.org/news', ''],
    [['readdb', '--due', '--hosts'], '--due and --hosts are two questions', ''],
    [['readdb', '--stats', '--host', 'x'], 'not of --stats', ''],
    [['readdb', '--prefix', 'example.org/news'], 'the beginning of a URL, with scheme and host', ''],
    [['readdb', '--prefix', ''], 'the beginning of a URL, with scheme and host', ''],
    [['readdb', '--host', 'https://example.org/'], 'Expected a host such as', ''],
    [['readdb', '--domain', ''], 'Expected a domain such as', ''],
    [['retry', '--host', ''], 'Expected a host such as', ''],
    [['simulate', '--host', ''], 'Expected a host such as', ''],
    [['readseg', '--list', '--dump'], 'exclude each other', ''],
    [['check', 'url'], 'expected one input', ''],
  ] as const)('%j is refused with exit code 2', async (args, first, second) => {
    expectRefusal(await run(args, { cwd: workDir() }), [first, second]);
  });

  it('lists all faults of the configuration file with their positions', async () => {
    const cwd = workDir();
    mkdirSync(join(cwd, 'conf'));
    writeFileSync(join(cwd, 'conf', 'incrawl.yaml'), 'fetch:\n  dely: 1s\nhttp:\n  timeout: x\n');
    const { code, stderr } = await run(['config'], { cwd });
    expect(code).toBe(2);
    expect(stderr).toContain('conf/incrawl.yaml:2:3 fetch.dely: unknown key, did you mean fetch.delay?');
    expect(stderr).toContain('conf/incrawl.yaml:4:12 http.timeout: expected a duration');
  });

  it('prints the configuration in effect and the source of each value', async () => {
    const cwd = workDir();
    writeFileSync(join(cwd, 'incrawl.yaml'), 'fetch:\n  concurrency: 7\n');
    const shown = await json(['config', '--origin', '-D', 'fetch.delay=2'], { cwd });
    expect(shown['fetch.concurrency']).toEqual({ value: 7, origin: 'incrawl.yaml:2:16' });
    expect(shown['fetch.delay']).toEqual({ value: '2s', origin: '-D' });
    expect((await json(['config'], { cwd }))['fetch.window']).toBe(2000);
    const { stdout } = await run(['config', '--origin'], { cwd, env: { NO_COLOR: '1' } });
    expect(stdout).toMatch(/^fetch\.concurrency +7 +incrawl\.yaml:2:16$/m);
  });

  it('writes a configuration with its schema, the plugin list and seeds, and keeps what is there', async () => {
    const cwd = workDir();
    const first = await json<{ written: string[] }>(['init', 'site'], { cwd });
    expect(first.written).toEqual(
      ['conf/incrawl.yaml', 'conf/incrawl.schema.json', 'conf/plugins.yaml', 'seeds/example.txt'].map((each) =>
        join('site', each),
      ),
    );
    writeFileSync(join(cwd, 'site', 'seeds', 'example.txt'), 'mine');
    expect(await json(['init', 'site'], { cwd })).toMatchObject({ written: [], kept: first.written });
    expect(readFileSync(join(cwd, 'site', 'seeds', 'example.txt'), 'utf8')).toBe('mine');
    expect(existsSync(join(cwd, 'site', 'crawldb'))).toBe(false);
    expect(await json(['config', '--origin'], { cwd: join(cwd, 'site') })).toMatchObject({
      'fetch.delay': { value: '5s' },
    });
  });

  it
    .skipIf(!existsSync('/proc/self'))
    .each([[['init', '/proc/incrawl/x']], [['schedule', '--once', '--dir', '/proc/incrawl/x']]])(
    'ends where no folder can be made: %j',
    async (args) => {
      const cwd = workDir();
      expect(await run(args, { cwd })).toMatchObject({
        code: 1,
        stderr: expect.stringContaining('/proc/incrawl'),
      });
    },
  );

  it.each([
    [['crawl', '\u001b[31mevil\u202e'], run],
    [['crawl', '--config', '\u001b[31mevil\u202e'], run],
    [['readdb', '--\u001b[31mevil\u202e'], run],
    [['readdb', '--limit', '\u001b[31mevil\u202e'], run],
    [['\u001b[31mevil\u202e'], run],
  ] as const)('%j: what a terminal obeys does not come back in the message', async (args, by) => {
    const { code, stdout, stderr } = await by(args, { cwd: workDir() });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('\\x1b[31mevil\\u202e');
    expect(stderr).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u202e]/);
  });

  it('a message does not grow with what was typed, and still says what was wrong', async () => {
    const cwd = workDir();
    await prepare(['inject', 'http://example.org/'], { cwd });
    const { code, stderr } = await run(['readdb', '--url', `http://example.org/${'a'.repeat(100_000)}`], { cwd });
    expect(code).toBe(1);
    expect(stderr.length).toBeLessThan(2_000);
    expect(stderr).toContain('longer than 2048 characters');
  });

  it.skipIf(process.platform === 'win32').each([['--help'], ['--version'], ['help'], ['config']])(
    '%s into a file that cannot grow ends with an error that says so, once',
    async (command) => {
      const cwd = workDir();
      const child = spawn('sh', ['-c', `ulimit -f 0; exec "$0" "$1" ${command} > out`, process.execPath, BINARY], {
        cwd,
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      let stderr = '';
      child.stderr.on('data', (text) => {
        stderr += text;
      });
      const code = await new Promise((resolve) => child.on('close', resolve));
      expect(code).toBe(1);
      expect(stderr).toMatch(/^incrawl: EFBIG: [^\n]*\n$/);
    },
  );

  it('a rejection that a plugin does not handle is reported with its file, without a stack', async () => {
    const cwd = workDir();
    mkdirSync(join(cwd, 'conf', 'plugins', 'urlfilter-stray'), { recursive: true });
    const letGo = (body: string): void =>
      writeFileSync(
        join(cwd, 'conf', 'plugins', 'urlfilter-stray', 'plugin.ts'),
        `import { definePlugin } from 'incrawl/plugin';
      async function ask(): Promise<void> { ${body} }
      export default definePlugin({ name: 'urlfilter-stray', api: 1, setup: () => ({ filter: () => { void ask(); return { accept: true }; } }) });
      `,
      );
    letGo("throw new Error('boom');");
    writePluginList(cwd, 'urlfilter-stray');
    const { code, stderr } = await run(['inject', 'http://example.org/'], { cwd });
    expect(stderr).toMatch(
      /^incrawl: \S+plugins\/urlfilter-stray\/plugin\.ts:2:\d+: an error that the plugin did not handle: boom\n$/,
    );
    expect(code).toBe(1);
    expect((await run(['verify'], { cwd })).code).toBe(0);
    // Where Node's own code threw it, whose places look a little like paths.
    letGo("await (await import('node:fs/promises')).open('/nowhere/at-all');");
    expect(await run(['inject', 'http://example.org/'], { cwd })).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^incrawl: \S+plugins\/urlfilter-stray\/plugin\.ts:2:\d+: an error that the plugin did not handle: ENOENT[^\n]*\n$/,
      ),
    });
  });

  it('an error of a plugin package is reported with its file, also one of a package that it needs', async () => {
    const cwd = workDir();
    const needed = join(cwd, 'node_modules', 'needed');
    const plugin = join(cwd, 'node_modules', 'urlfilter-packaged');
    for (const folder of [needed, plugin]) mkdirSync(folder, { recursive: true });
    writeFileSync(join(needed, 'index.js'), `export const ask = async () => { throw new Error('boom'); };`);
    writeFileSync(
      join(plugin, 'index.js'),
      `import { ask } from 'needed';
      export default { name: 'urlfilter-packaged', api: 1, setup: () => ({ filter: () => { setTimeout(ask); return { accept: true }; } }) };
      `,
    );
    // As most packages without CommonJS say it: for import alone.
    const manifest = (name: string) =>
      JSON.stringify({ name, version: '1.0.0', type: 'module', exports: { '.': { import: './index.js' } } });
    writeFileSync(join(needed, 'package.json'), manifest('needed'));
    writeFileSync(join(plugin, 'package.json'), manifest('urlfilter-packaged'));
    writePluginList(cwd, 'urlfilter-packaged');
    const { code, stderr } = await run(['inject', 'http://example.org/'], { cwd });
    expect(stderr).toMatch(/^incrawl: \S+\/needed\/index\.js:1:\d+: an error that the plugin did not handle: boom\n$/);
    expect(code).toBe(1);
  });

  it.each([
    [
      'never answers',
      'new Promise(() => {})',
      'the work stands still before its end: a promise of a plugin never settles',
    ],
    [
      'ends the process',
      'process.exit(0)',
      'process.exit() was called before the work was done: plugins must not call it',
    ],
  ])('a plugin that %s does not end the work in silence, nor as if it were done', async (_what, does, words) => {
    const cwd = workDir();
    const plugin = join(cwd, 'conf', 'plugins', 'urlfilter-odd');
    mkdirSync(plugin, { recursive: true });
    writeFileSync(
      join(plugin, 'plugin.mjs'),
      `export default { name: 'urlfilter-odd', api: 1, setup: () => ${does} };`,
    );
    writePluginList(cwd, 'urlfilter-odd');
    for (const args of [
      ['inject', 'http://example.org/'],
      ['plugins', 'test', 'urlfilter-odd'],
    ]) {
      const { code, stdout, stderr } = await run(args, { cwd });
      expect(stderr).toContain(`incrawl: ${words}`);
      expect(stdout).toBe('');
      expect(code).toBe(1);
    }
  });

  it('a crawl that knows no URL says what is missing', async () => {
    const cwd = workDir();
    const absent = await run(['crawl'], { cwd });
    expect(absent).toMatchObject({ code: 2, stderr: expect.stringContaining('crawldb holds no crawl') });
    expect(readdirSync(cwd)).toEqual([]);
    await run(['inject', 'no-url:'], { cwd, input: '' });
    await run(['inject', '-'], { cwd, input: 'mailto:a@example.org\n' });
    const { code, stderr } = await run(['crawl'], { cwd });
    expect(code).toBe(1);
    expect(stderr).toContain('The crawl db is empty. Give seeds: incrawl crawl https://example.org/\n');
  });

  it.skipIf(process.getuid?.() === 0)(
    'answers where it may read but not write, and says so where it would write (not for root, who may)',
    async () => {
      const dir = join(workDir(), 'crawldb');
      await run(['inject', 'http://example.org/', '--dir', dir]);
      const [db, lock] = [join(dir, 'db'), join(dir, 'db', 'LOCK')];
      for (const [path, mode] of [
        [lock, 0o444],
        [db, 0o555],
        [dir, 0o555],
      ] as const)
        chmodSync(path, mode);
      for (const question of [['readdb', '--stats'], ['explain', 'http://example.org/'], ['plan'], ['export']])
        expect(await run([...question, '--dir', dir])).toMatchObject({ code: 0, stderr: '' });
      const { code, stderr } = await run(['inject', 'http://example.org/x', '--dir', dir]);
      expect({ code, stderr }).toEqual({
        code: 1,
        stderr: expect.stringMatching(/^incrawl: the crawl db cannot be written \(.*\)\n$/),
      });
      for (const path of [dir, db]) chmodSync(path, 0o755);
    },
  );

  it('files that cannot be opened are named in a sentence', async () => {
    const cwd = workDir();
    await run(['inject', 'http://example.org/'], { cwd });
    const message = async (...args: string[]) => (await run(args, { cwd })).stderr;
    const absent = join(cwd, 'absent');
    expect(await message('export', '--format', 'jsonl', '-o', join(absent, 'pages.jsonl'))).toBe(
      `incrawl: there is no folder ${absent}; create it first\n`,
    );
    expect(await message('backup', join(cwd, 'incrawl.yaml', 'x'), '--config', absent)).toContain('no such file');
  });

  it('readdb --host of a host that is known with another port names the port', async () => {
    const dir = join(workDir(), 'crawldb');
    await run(['inject', 'http://127.0.0.1:8051/', 'http://127.0.0.10:8052/', '--dir', dir]);
    const note = 'The crawl db has 127.0.0.1 with other ports: --host 127.0.0.1:8051\n';
    for (const question of [['--dump', '--format', 'csv'], ['--due'], []]) {
      const { stderr } = await run(['readdb', ...question, '--host', '127.0.0.1', '--dir', dir]);
      expect(stderr.endsWith(note)).toBe(true);
    }
    expect((await run(['readdb', '--host', '127.0.0.1:8051', '--dir', dir])).stderr).toBe('');
  });

  it('explain takes a URL; for any other text it is wrong usage, in one sentence', async () => {
    const dir = join(workDir(), 'crawldb');
    await run(['inject', 'http://example.org/', '--dir', dir]);
    expect(await run(['explain', 'not-a-url', '--dir', dir])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/^incrawl: not an absolute URL, expected http:\/\/host\/path, found "not-a-url"\n/),
    });
    expect(await run(['explain', 'ftp://example.org/', '--dir', dir])).toMatchObject({ code: 0 });
    const { dueByDay, due } = JSON.parse((await run(['readdb', '--stats', '--json', '--dir', dir])).stdout);
    expect([due, dueByDay[0]]).toEqual([1, 1]);
  });

  it('an export without the place that its format needs is wrong usage, and leaves nothing', async () => {
    const cwd = workDir();
    await prepare(['inject', 'http://example.org/'], { cwd });
    expect(await run(['export', '--format', 'parquet'], { cwd })).toMatchObject({
      code: 2,
      stderr: 'incrawl: --format parquet needs --output, a file\n',
    });
    for (const [format, needs] of [
      ['tree', 'a folder'],
      ['opensearch', 'the URL of an index'],
      ['solr', 'the URL of a core or collection'],
      ['sqlite', 'a file'],
      ['webhook', 'a URL'],
    ] as const) {
      const { code, stderr } = await run(['export', '--format', format], { cwd });
      expect([code, stderr]).toEqual([2, `incrawl: --format ${format} needs --output, ${needs}\n`]);
    }
    expect(readdirSync(cwd)).toEqual(['crawldb']);
  });

  it('plugins list shows the exporters that need no line in the list', async () => {
    const plugins = await json<{ name: string; onDemand: boolean }[]>(['plugins', 'list'], { cwd: workDir() });
    const namesOf = (onDemand: boolean): string[] =>
      plugins.filter((each) => each.onDemand === onDemand).map(({ name }) => name);
    expect(namesOf(true)).toContain('exporter-warc');
    expect(namesOf(false)).toContain('exporter-jsonl');
    expect(new Set(plugins.map(({ name }) => name)).size).toBe(plugins.length);
  });

  it('prints version and help on stdout, and help on stderr when nothing was asked', async () => {
    expect(await run(['--version'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
      stderr: '',
    });
    expect(await run(['crawl', '--help'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Examples:'),
      stderr: '',
    });
    expect(await run([])).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('Usage: incrawl') });
  });

  it.skipIf(!existsSync('/dev/full'))('says when stdout cannot be written (needs /dev/full): exit code 3', async () => {
    const full = openSync('/dev/full', 'w');
    const child = spawn(process.execPath, [BINARY, 'config'], { stdio: ['ignore', full, 'pipe'], cwd: workDir() });
    let stderr = '';
    child.stderr?.on('data', (text) => {
      stderr += String(text);
    });
    const code = await new Promise((resolve) => child.on('close', resolve));
    closeSync(full);
    expect({ code, stderr }).toEqual({ code: 3, stderr: expect.stringMatching(/^incrawl: ENOSPC/) });
  });

  it('ends quietly when the reader of stdout has closed the pipe', async () => {
    const child = spawn(process.execPath, [BINARY, 'config'], { stdio: ['ignore', 'pipe', 'pipe'], cwd: workDir() });
    child.stdout.destroy();
    let stderr = '';
    child.stderr.on('data', (text) => {
      stderr += String(text);
    });
    const code = await new Promise((resolve) => child.on('close', resolve));
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });
});
