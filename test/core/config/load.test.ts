import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { defaultConfig, type LoadConfigOptions, loadConfig } from '../../../src/core/config/load.ts';
import { CrawlError } from '../../../src/core/domain/errors.ts';

let cwd = '';
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'incrawl-config-'));
  mkdirSync(join(cwd, 'conf'));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const write = (path: string, text: string): void => writeFileSync(join(cwd, path), text);

async function faults(options: LoadConfigOptions): Promise<string[]> {
  const error = await loadConfig({ cwd, ...options }).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(CrawlError);
  expect((error as CrawlError).code).toBe('config-invalid');
  return (error as CrawlError).message.split('\n');
}

describe('where the configuration comes from', () => {
  it('is complete without any file', async () => {
    const { config, file, origins } = await loadConfig({ cwd });
    expect(file).toBeNull();
    expect(config.fetch.delayMs).toBe(5_000);
    expect(config.http.maxBodyBytes).toBe(2 * 1024 ** 2);
    expect(config.plugins.file).toBe(join(cwd, 'conf', 'plugins.yaml'));
    expect(config.agent.version).toMatch(/^\d+\.\d+/);
    expect(origins.get('fetch.delay')).toEqual({ value: '5s', origin: 'default' });
  });

  it('prefers conf/incrawl.yaml to incrawl.yaml, and a named file to both', async () => {
    write('incrawl.yaml', 'fetch: {concurrency: 1}');
    expect((await loadConfig({ cwd })).config.fetch.concurrency).toBe(1);
    write('conf/incrawl.yaml', 'fetch: {concurrency: 2}');
    expect((await loadConfig({ cwd })).config.fetch.concurrency).toBe(2);
    write('mine.yaml', 'fetch: {concurrency: 3}');
    expect((await loadConfig({ cwd, file: 'mine.yaml' })).config.fetch.concurrency).toBe(3);
  });

  it('knows the origin of each value: default, file with position, command line', async () => {
    write('conf/incrawl.yaml', '# mine\nfetch:\n  delay: 2s\n  concurrency: 9\n');
    const { origins } = await loadConfig({ cwd, overrides: ['fetch.concurrency=10'] });
    expect(origins.get('fetch.delay')).toEqual({ value: '2s', origin: 'conf/incrawl.yaml:3:10' });
    expect(origins.get('fetch.concurrency')).toEqual({ value: 10, origin: '-D' });
    expect(origins.get('fetch.maxRedirects')).toEqual({ value: 20, origin: 'default' });
  });

  it('lets later overrides win, and carries the origin that an override brings', async () => {
    const overrides = ['fetch.delay=1s', { key: 'fetch.delay', value: '0', origin: '--delay' }];
    const { config, origins } = await loadConfig({ cwd, overrides });
    expect(config.fetch.delayMs).toBe(0);
    expect(origins.get('fetch.delay')).toEqual({ value: '0s', origin: '--delay' });
  });

  it('accepts sections without keys, dotted keys, and keys in milliseconds', async () => {
    write('conf/incrawl.yaml', 'http:\nfetch.maxRedirects: 7\nfetch:\n  delayMs: 250\nparse: {}\n');
    const { config } = await loadConfig({ cwd });
    expect(config.fetch.maxRedirects).toBe(7);
    expect(config.fetch.delayMs).toBe(250);
  });

  it('goes on with a section that is begun again', async () => {
    write(
      'conf/incrawl.yaml',
      'fetch:\n  #delay: 5s\nhttp:\n  headTimeout: 9s\nfetch:\n  delay: 2s\nfetch.maxRedirects: 7\nhttp:\n',
    );
    const { config, origins } = await loadConfig({ cwd });
    expect(config.fetch).toMatchObject({ delayMs: 2_000, maxRedirects: 7 });
    expect(config.http.headTimeoutMs).toBe(9_000);
    expect(origins.get('fetch.delay')).toEqual({ value: '2s', origin: 'conf/incrawl.yaml:6:10' });
  });

  it('accepts an empty file', async () => {
    write('conf/incrawl.yaml', '# nothing yet\n');
    expect((await loadConfig({ cwd })).config.fetch.concurrency).toBe(50);
  });

  it('reads -D by the kind of the key', async () => {
    const overrides = [
      'http.allowAddresses=127.0.0.1, localhost:8080',
      'agent.contact=ops@example.org',
      'agent.version=1.0',
      'updatedb.additions=false',
      'schedule.goneIntervals=[1d, 2d]',
      'fetch.auditShare=0.5',
      'fetch.probe=off',
    ];
    const { config } = await loadConfig({ cwd, overrides });
    expect(config.http.allowAddresses).toEqual(['127.0.0.1', 'localhost:8080']);
    expect(config.agent).toMatchObject({ contact: 'ops@example.org', version: '1.0' });
    expect(config.updatedb.additions).toBe(false);
    expect(config.schedule.goneIntervalsMs).toEqual([86_400_000, 172_800_000]);
    expect(config.fetch).toMatchObject({ auditShare: 0.5, probe: 'off' });
  });

  it('finds the plugin list beside the configuration file', async () => {
    write('conf/incrawl.yaml', '');
    write('conf/plugins.yaml', 'plugins: []');
    expect((await loadConfig({ cwd })).config.plugins.file).toBe(join(cwd, 'conf', 'plugins.yaml'));
    expect(await faults({ overrides: ['plugins.file=other.yaml'] })).toEqual([
      `-D plugins.file: expected a file, there is none at ${join(cwd, 'conf', 'other.yaml')}`,
    ]);
  });

  it('freezes the configuration to its depth', () => {
    const config = defaultConfig(['fetch.delay=0']);
    expect(Object.isFrozen(config) && Object.isFrozen(config.fetch)).toBe(true);
    expect(Object.isFrozen(config.schedule.goneIntervalsMs)).toBe(true);
  });
});

describe('faults', () => {
  it('names file, line, column and the near key', async () => {
    write('conf/incrawl.yaml', `${'#\n'.repeat(10)}fetch:\n    dely: 1s\n`);
    expect(await faults({})).toEqual(['conf/incrawl.yaml:12:5 fetch.dely: unknown key, did you mean fetch.delay?']);
  });

  it('lists every fault of the file and of the command line, each with what was expected', async () => {
    const text = [
      'fetch:',
      '  delay: soon',
      '  concurency: 3',
      '  probe: heads',
      '  auditShare: 2',
      'http:',
      '  maxBodyBytes: 2 bananas',
      '  timeout: 30000',
      '  allowAddresses: 127.0.0.1',
      'fetsh: {}',
      'log: info',
      'generate: {topN: 1.5}',
      'updatedb: {additions: maybe}',
    ].join('\n');
    write('conf/incrawl.yaml', text);
    const list = await faults({
      overrides: ['delay=1s', 'fetch.timeout=1s', 'nonsense', 'schedule.goneIntervals=1d,x'],
    });
    expect(list).toHaveLength(15);
    for (const [part, ...words] of [
      ['conf/incrawl.yaml:2:10 fetch.delay:', 'expected a duration such as', '0s to 1h', 'got "soon"'],
      ['conf/incrawl.yaml:3:3 fetch.concurency:', 'did you mean fetch.concurrency?'],
      ['conf/incrawl.yaml:4:10 fetch.probe:', 'expected one of auto, head, headers, off', 'got "heads"'],
      ['conf/incrawl.yaml:5:15 fetch.auditShare:', 'expected a number (0 to 1)', 'got 2'],
      ['conf/incrawl.yaml:7:17 http.maxBodyBytes:', 'expected a size such as', 'got "2 bananas"'],
      ['conf/incrawl.yaml:8:12 http.timeout:', 'got 30000 (a bare number counts seconds)'],
      ['conf/incrawl.yaml:9:19 http.allowAddresses:', 'expected a list'],
      ['conf/incrawl.yaml:10:1 fetsh:', 'unknown key, did you mean fetch?'],
      ['conf/incrawl.yaml:11:1 log:', 'expected keys below this section'],
      ['conf/incrawl.yaml:12:18 generate.topN:', 'expected a whole number of URLs'],
      ['conf/incrawl.yaml:13:23 updatedb.additions:', 'expected true or false', 'got "maybe"'],
      ['-D delay:', 'did you mean fetch.delay?'],
      ['-D fetch.timeout:', 'did you mean http.timeout?'],
      ['-D nonsense:', 'expected key=value'],
      ['-D schedule.goneIntervals[1]:', 'expected a duration', 'got "x"'],
    ] as const) {
      const line = list.find((each) => each.startsWith(part));
      expect(line, `a line that begins with ${part} in\n${list.join('\n')}`).toBeDefined();
      for (const word of words) expect(line).toContain(word);
    }
  });

  it.each([
    ['schedule.interval=1s', '-D schedule.interval: expected a value between schedule.minInterval'],
    ['schedule.minInterval=100d', '-D schedule.minInterval: expected at most schedule.maxInterval (30d)'],
    ['schedule.retryInterval=60d', '-D schedule.retryInterval: expected at most schedule.maxRetryInterval (30d)'],
    ['agent.name=in crawl', '-D agent.name: expected a product token'],
    ['agent.contact=me\r\nX-Evil: 1', '-D agent.contact: expected a mail address or a URL'],
    ['fetch.__proto__=1', '-D fetch.__proto__: unknown key'],
    ['__proto__.delay=1', '-D __proto__.delay: unknown key'],
  ])('refuses %j', async (override, message) => {
    expect((await faults({ overrides: [override] }))[0]).toContain(message);
  });

  it('says where an alias leads nowhere, most often a pattern without its quotes', async () => {
    write('incrawl.yaml', 'schedule:\n  bounds: [*.example.org]\nfetch: *shared\n');
    const quotes = 'text that begins with "*" needs quotes';
    expect(await faults({})).toEqual([
      `incrawl.yaml:2:12 *.example.org: there is no anchor &.example.org; ${quotes}`,
      `incrawl.yaml:3:8 *shared: there is no anchor &shared; ${quotes}`,
    ]);
    write('incrawl.yaml', 'http:\n  allowAddresses: &own [*own]\n');
    expect(await faults({})).toEqual([`incrawl.yaml:2:25 *own: the alias stands in what it names; ${quotes}`]);
  });

  it('refuses aliases of aliases that make too much of a few lines, and follows others', async () => {
    const nine = (text: string): string => `[${Array(9).fill(text).join(', ')}]`;
    write('incrawl.yaml', `a: &a ${nine('x')}\nb: &b ${nine('*a')}\nc: &c ${nine('*b')}\nd: ${nine('*c')}\n`);
    expect((await faults({}))[0]).toContain('incrawl.yaml:4:4 d: ');
    write('incrawl.yaml', 'http:\n  timeout: &long 30s\n  headTimeout: *long\n');
    expect((await loadConfig({ cwd })).config.http).toMatchObject({ timeoutMs: 30_000, headTimeoutMs: 30_000 });
  });

  it.each([
    ['nested lists', `a: ${'['.repeat(3000)}${']'.repeat(3000)}`, 'nested too deeply: expected at most 64 levels'],
    ['nested maps', Array.from({ length: 70 }, (_, i) => `${' '.repeat(i)}k:`).join('\n'), 'nested too deeply'],
    [
      'merges of merges',
      `k: &k0 {x: 1}\n${Array.from({ length: 2000 }, (_, i) => `k${i}: &k${i + 1} {<<: *k${i}}\n`).join('')}`,
      'too many aliases: expected at most 100',
    ],
  ])('refuses %s beyond measure in one line', async (_name, text, message) => {
    write('incrawl.yaml', text);
    const lines = await faults({});
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatch(/^incrawl\.yaml:\d+:\d+ /);
    expect(lines[0]).toContain(message);
  });

  it.each([
    ['in its section', 'fetch:\n  delay: 1s\n  delay: 2s\n', '3:3 fetch.delay', 'lines 2 and 3'],
    [
      'in a section begun again',
      'fetch:\n  delay: 1s\nhttp:\nfetch: {delay: 1s}\n',
      '4:9 fetch.delay',
      'lines 2 and 4',
    ],
    ['with its dotted name', 'fetch.delay: 1s\nfetch:\n  delay: 2s\n', '3:3 fetch.delay', 'lines 1 and 3'],
    ['in milliseconds', 'fetch:\n  delay: 1s\n\nfetch:\n  delayMs: 2\n', '5:3 fetch.delay', 'lines 2 and 5'],
    ['as a list', 'hosts:\n  - match: a.example\nhosts:\n  - match: b.example\n', '3:1 hosts', 'lines 1 and 3'],
    [
      'in an entry',
      'hosts:\n  - match: a.example\n  - match: b.example\n    delay: 1s\n    delay: 1s\n',
      '5:5 hosts[1].delay',
      'lines 4 and 5',
    ],
    [
      'deep in an entry',
      'hosts:\n  - match: a.example\n    credentials: { basic: { user: a, user: b } }\n',
      '3:38 hosts[0].credentials.basic.user',
      'line 3',
    ],
  ])('names a key that is given twice %s, and both lines', async (_, text, place, lines) => {
    write('conf/incrawl.yaml', text);
    expect(await faults({})).toEqual([`conf/incrawl.yaml:${place}: given twice, on ${lines}; keep one of them`]);
  });

  it('quotes no more than the beginning of what it did not expect', async () => {
    write('incrawl.yaml', `[a] ] ${'x'.repeat(100_000)}`);
    const lines = await faults({});
    expect(lines[1]).toMatch(/^incrawl\.yaml:1:7 Unexpected scalar.*"x+\.\.$/);
    expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(400);
    write('incrawl.yaml', `*${'x'.repeat(100_000)}`);
    const [alias] = await faults({});
    expect(alias).toMatch(/there is no anchor &x+\.\.; text that begins with "\*" needs quotes$/);
    expect(alias?.length).toBeLessThan(1_000);
  });

  it('lists no more than twenty faults of the form', async () => {
    write('incrawl.yaml', `fetch:\n${Array.from({ length: 500 }, (_, i) => `  delay: ${i}`).join('\n')}`);
    const lines = await faults({});
    expect(lines).toHaveLength(21);
    expect(lines.at(-1)).toBe('incrawl.yaml: 479 more');
  });

  it('says where YAML itself is broken, and which file is missing', async () => {
    write('conf/incrawl.yaml', 'fetch:\n  delay: [1s\n');
    expect((await faults({}))[0]).toMatch(/^conf\/incrawl\.yaml:\d+:\d+ /);
    expect((await faults({ file: 'absent.yaml' }))[0]).toContain('absent.yaml: no such file');
    write('conf/incrawl.yaml', '- a list\n');
    expect((await faults({}))[0]).toContain('conf/incrawl.yaml:1:1 expected sections');
  });
});
