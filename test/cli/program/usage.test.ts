import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { exitCodeOf } from '../../../src/render/exit.ts';
import { type Finished, json, prepare, run } from '../../support/program.ts';
import { workDir } from '../../support/work-dir.ts';

it.each(['ENOSPC', 'EDQUOT'])('%s, which ends the writing of any file, is a full disk', (code) => {
  expect(exitCodeOf(Object.assign(new Error(`${code}: write`), { code, syscall: 'write' }))).toBe(3);
});

function expectRefusal({ code, stdout, stderr }: Finished, words: readonly string[]): void {
  expect(stderr).toContain('incrawl:');
  for (const each of words) expect(stderr).toContain(each);
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
}

describe('usage and configuration', () => {
  it.each([
    [['crawl', '--roundz', '3'], "unknown option '--roundz'", 'Did you mean --rounds?'],
    [['crwl'], "unknown command 'crwl'", 'Did you mean crawl?'],
    [['verify'], "unknown command 'verify'", 'Did you mean state verify?'],
    [['touch', 'http://example.org/'], "unknown command 'touch'", 'Did you mean due touch or ctl touch?'],
    [['crawl', '-D', 'fetch.dely=0'], '-D fetch.dely: unknown key, did you mean fetch.delay?', ''],
    [['crawl', '--delay', 'soon'], '--delay fetch.delay: expected a duration', 'got "soon"'],
    [['config', '--config', 'absent.yaml'], 'absent.yaml: no such file', ''],
    [['plugins', 'nwe', 'x'], 'too many arguments', ''],
    [['crawl', '--rounds', '0'], 'Expected a whole number, at least 1.', ''],
    [['forecast', 'plan', '--days', '99999999'], 'Expected a whole number, 1 to 3650.', ''],
    [['duplicates', 'near', '-k', '99', 'http://example.org/'], 'Expected a whole number, 0 to 64.', ''],
    [['generate', '--add-days', '-1'], 'Expected a number of days, at least 0.', ''],
    [['generate', '--status', 'fetchd'], 'Did you mean fetched?', ''],
    [['generate', '--min-interval', 'soon'], 'Expected a duration such as', ''],
    [['inject'], 'missing required argument', ''],
    [['inject', '-', '--update', '--overwrite'], 'cannot be used with', ''],
    [['inject', 'absent.txt'], 'no such seed file: absent.txt', ''],
    [['db', 'import', 'absent.jsonl'], 'no such file: absent.jsonl', ''],
    [['crawl', 'example.org/news'], 'a URL begins with its scheme: https://example.org/news', ''],
    [['readdb', '--due', '--hosts'], '--due and --hosts are two questions', ''],
    [['readdb', '--stats', '--host', 'x'], 'not of --stats', ''],
    [['readdb', '--prefix', 'example.org/news'], 'the beginning of a URL, with scheme and host', ''],
    [['readdb', '--prefix', ''], 'the beginning of a URL, with scheme and host', ''],
    [['readdb', '--host', 'https://example.org/'], 'Expected a host such as', ''],
    [['readdb', '--domain', ''], 'Expected a domain such as', ''],
    [['due', 'retry', '--host', ''], 'Expected a host such as', ''],
    [['forecast', 'simulate', '--host', ''], 'Expected a host such as', ''],
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
    expect((await json(['config'], { cwd }))['fetch.maxRedirects']).toBe(20);
    const { stdout } = await run(['config', '--origin'], { cwd, env: { NO_COLOR: '1' } });
    expect(stdout).toMatch(/^fetch\.concurrency +7 +incrawl\.yaml:2:16$/m);
  });

  it('writes a configuration with its schema, the plugin list and seeds, and keeps what is there', async () => {
    const cwd = workDir();
    const first = await json<{ written: string[] }>(['init', 'site'], { cwd });
    expect(first.written).toEqual(
      [
        'conf/incrawl.yaml',
        'conf/incrawl.schema.json',
        'conf/plugins.yaml',
        'conf/url-rules.txt',
        'seeds/example.txt',
      ].map((each) => join('site', each)),
    );
    writeFileSync(join(cwd, 'site', 'seeds', 'example.txt'), 'mine');
    expect(await json(['init', 'site'], { cwd })).toMatchObject({ written: [], kept: first.written });
    expect(readFileSync(join(cwd, 'site', 'seeds', 'example.txt'), 'utf8')).toBe('mine');
    expect(existsSync(join(cwd, 'site', 'crawldb'))).toBe(false);
    expect(await json(['config', '--origin'], { cwd: join(cwd, 'site') })).toMatchObject({
      'fetch.delay': { value: '5s' },
    });
  });

  it('says what to type after "init": in the new folder, as the program was started', async () => {
    const cwd = workDir();
    const commandIn = (folder: string): string => `node ${relative(folder, join(cwd, 'main.js'))}`;
    const lines = async (...args: string[]) => (await run(['init', ...args], { cwd, commandIn })).stdout.split('\n');
    expect((await lines('my crawl')).slice(-3)).toEqual(["  cd 'my crawl'", '  node ../main.js crawl seeds', '']);
    expect((await lines()).slice(-3)).toEqual([
      'Next: set agent.contact in conf/incrawl.yaml, put your URLs in seeds/example.txt, then',
      '  node main.js crawl seeds',
      '',
    ]);
  });

  it('reads the URL rules that "init" writes', async () => {
    const cwd = workDir();
    await run(['init'], { cwd });
    const check = () => json<{ reason: string | null }>(['check', 'url', 'https://a.example/shop/1'], { cwd });
    expect(await check()).toMatchObject({ reason: null });
    const rules = join(cwd, 'conf', 'url-rules.txt');
    writeFileSync(rules, `-/shop/\n${readFileSync(rules, 'utf8')}`);
    expect(await check()).toMatchObject({ reason: 'rule line 1: -/shop/' });
  });

  it
    .skipIf(process.platform !== 'linux')
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
    [['crawl', '\u001b[31mevil\u202e']],
    [['crawl', '--config', '\u001b[31mevil\u202e']],
    [['readdb', '--\u001b[31mevil\u202e']],
    [['readdb', '--limit', '\u001b[31mevil\u202e']],
    [['\u001b[31mevil\u202e']],
  ] as const)('%j: what a terminal obeys does not come back in the message', async (args) => {
    const { code, stdout, stderr } = await run(args, { cwd: workDir() });
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

  it('a crawl that knows no URL says what is missing', async () => {
    const cwd = workDir();
    const absent = await run(['crawl'], { cwd });
    expect(absent).toMatchObject({ code: 2, stderr: expect.stringContaining('crawldb holds no crawl') });
    expect(readdirSync(cwd)).toEqual([]);
    await run(['inject', 'no-url:'], { cwd, input: '' });
    // A folder that is there already stays, and the empty crawl in it.
    mkdirSync(join(cwd, 'crawldb'));
    await run(['inject', '-'], { cwd, input: 'mailto:a@example.org\n' });
    const { code, stderr } = await run(['crawl'], { cwd });
    expect(code).toBe(1);
    expect(stderr).toContain('The crawl db is empty. Give seeds: incrawl crawl https://example.org/\n');
  });

  it('files that cannot be opened are named in a sentence', async () => {
    const cwd = workDir();
    await run(['inject', 'http://example.org/'], { cwd });
    const message = async (...args: string[]) => (await run(args, { cwd })).stderr;
    const absent = join(cwd, 'absent');
    expect(await message('export', '--format', 'jsonl', '-o', join(absent, 'pages.jsonl'))).toBe(
      `incrawl: there is no folder ${absent}; create it first\n`,
    );
    expect(await message('state', 'backup', join(cwd, 'incrawl.yaml', 'x'), '--config', absent)).toContain(
      'no such file',
    );
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
      ['kafka', 'brokers and a topic: kafka://host:9092/topic'],
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
});
