import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { ReportedChange } from '../../../src/delivery/watch/receivers.ts';
import { type Finished, prepare, run, start } from '../../support/program.ts';
import { workDir } from '../../support/work-dir.ts';
import { type ChangingSite, startChangingSite } from '../support/changing-site.ts';

const WORDS = Array.from({ length: 120 }, (_, i) => `word${i % 60} of${i}`).join(' ');
const page = (price: string, more = ''): string =>
  `<!doctype html><html lang=en><title>Lamp</title><body><main><h1>A lamp</h1>${more}<p>${WORDS}</p><p class=price>${price}</p></main></body></html>`;
const STORM = '<p>A storm has closed the harbour, and all boats stay where they are until Monday.</p>';

const site: ChangingSite = await startChangingSite({});
afterAll(() => site.close());
const url = (path: string): string => `${site.origin}${path}`;
let cwd: string;
beforeEach(() => {
  cwd = workDir();
  site.pages.clear();
  site.pages.set('/lamp', page('12 EUR'));
  site.requests.length = 0;
});

const LOCAL = ['--allow', '127.0.0.1', '--delay', '0'];
const once = (...args: string[]): Promise<Finished> => run(['watch', ...args, '--once', ...LOCAL], { cwd });
const onceWith = async (...args: string[]): Promise<ReportedChange[]> =>
  (await once(...args, '--json')).stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as ReportedChange);

describe('watch', () => {
  it('reports a change once, with its words, and goes on without URLs', async () => {
    const first = await once(url('/lamp'));
    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(first.stdout).toMatch(/ UTC {2}http:\S+\/lamp {2}watching: Lamp\n$/);
    expect(await once()).toMatchObject({ code: 0, stdout: '', stderr: '' });
    site.pages.set('/lamp', page('12 EUR', STORM));
    const second = await once(url('/lamp'));
    expect(second.stdout).toMatch(/\/lamp {2}changed: Lamp\n {2}@@ body>main>p @@\n {2}\{\+A storm .*Monday\.\n/);
    expect(await once()).toMatchObject({ code: 0, stdout: '', stderr: '' });
    expect(site.requests.filter((each) => each === 'GET /lamp')).toHaveLength(4);
  });

  it('fetches the watched pages alone', async () => {
    site.pages.set('/lamp', `${page('12 EUR')}<a href=/other>more</a>`);
    site.pages.set('/other', page('1 EUR'));
    await once(url('/lamp'));
    await once();
    expect(new Set(site.requests)).toEqual(new Set(['GET /robots.txt', 'GET /lamp']));
  });

  it('leaves small changes to --any-change', async () => {
    await once(url('/lamp'));
    site.pages.set('/lamp', page('13 EUR'));
    expect(await once()).toMatchObject({ stdout: '', stderr: expect.stringContaining('has a small change') });
    site.pages.set('/lamp', page('14 EUR'));
    expect((await once('--any-change')).stdout).toContain('[-13 -]{+14 +}EUR');
  });

  it('watches a part of a page, and says when it vanishes and comes back', async () => {
    const [found] = await onceWith(url('/lamp'), '--select', '.price', '--select', '.sale');
    expect(found).toMatchObject({ kind: 'new', select: ['.price', '.sale'], missing: '.sale' });
    site.pages.set('/lamp', page('12 EUR', STORM));
    expect(await onceWith()).toEqual([]);
    site.pages.set('/lamp', page('13 EUR', STORM));
    expect(await onceWith()).toMatchObject([{ kind: 'modified', diff: '@@ body>main>p @@\n[-12 -]{+13 +}EUR' }]);
    site.pages.set('/lamp', page('13 EUR').replace('class=price', ''));
    expect(await onceWith()).toMatchObject([{ missing: '.price, .sale', diff: '@@ body>main>p @@\n[-13 EUR-]' }]);
    site.pages.set('/lamp', page('14 EUR'));
    expect(await onceWith()).toMatchObject([{ missing: '.sale', diff: '@@ body>main>p @@\n{+14 EUR+}' }]);
  });

  it('takes selectors of a seed file, and begins anew when they change', async () => {
    writeFileSync(join(cwd, 'pages.txt'), `${url('/lamp')}\tselect=.price\n`);
    expect(await onceWith('pages.txt')).toMatchObject([{ kind: 'new', select: ['.price'], missing: '' }]);
    expect(await onceWith(url('/lamp'))).toEqual([]);
    expect(await onceWith(url('/lamp'), '--select', 'h1')).toMatchObject([{ kind: 'new', select: ['h1'] }]);
  });

  it('follows redirects with the selectors of the page, also when these change', async () => {
    site.pages.set('/old', '/lamp');
    await once(url('/old'));
    expect(await onceWith(url('/old'), '--select', '.price')).toMatchObject([{ kind: 'new', target: url('/lamp') }]);
    site.pages.set('/lamp', page('12 EUR', STORM));
    expect(await onceWith()).toEqual([]);
    site.pages.set('/lamp', page('13 EUR', STORM));
    expect(await onceWith()).toMatchObject([{ url: url('/old'), diff: expect.stringContaining('[-12 -]{+13 +}EUR') }]);
  });

  it('reports pages that are gone, come back, move or cannot be read', async () => {
    site.pages.set('/old', '/lamp');
    expect(await onceWith(url('/old'), url('/none'))).toMatchObject([
      { kind: 'new', target: url('/lamp'), title: 'Lamp' },
      { kind: 'gone', problem: 'status 404' },
    ]);
    site.pages.set('/none', page('1 EUR'));
    site.pages.set('/second', page('12 EUR'));
    site.pages.set('/old', '/second');
    expect(await onceWith()).toMatchObject([{ kind: 'moved', target: url('/second') }, { kind: 'back' }]);
    site.pages.set('/none', 'http://127.0.0.1:1/');
    const failed = await once();
    expect(failed.stderr).toMatch(/\/none could not be read: address-blocked: .*It is asked again at each look/);
    expect((await once()).output).toBe('');
    expect(await onceWith()).toMatchObject([{ kind: 'failing', url: url('/none') }]);
  });

  it('reports a change that another crawl or a killed run has seen first', async () => {
    await once(url('/lamp'));
    site.pages.set('/lamp', page('12 EUR', STORM));
    await prepare(['due', 'touch', url('/lamp')], { cwd });
    await prepare(['crawl', '--depth', '1', ...LOCAL, '-q'], { cwd });
    site.pages.set('/lamp', page('12 EUR'));
    expect((await onceWith()).map(({ diff }) => diff.slice(0, 40))).toEqual([
      expect.stringContaining('{+A storm has'),
      expect.stringContaining('[-A storm has'),
    ]);
  });

  it('says that a page changed whose text it cannot read', async () => {
    site.types.set('/data', 'application/json');
    site.pages.set('/data', '{"a": 1}');
    const problem = 'its text cannot be read: no parser for application/json';
    expect(await onceWith(url('/data'))).toMatchObject([{ kind: 'new', problem }]);
    site.pages.set('/data', '{"a": 2}');
    expect(await onceWith()).toMatchObject([{ kind: 'modified', problem, places: null }]);
  });

  it('lists and removes pages', async () => {
    await once(url('/lamp'), url('/none'));
    expect(await run(['watch', '--remove', url('/none')], { cwd })).toMatchObject({ code: 0, stdout: '' });
    expect((await run(['watch', '--list'], { cwd })).stdout).toMatch(/^url .*\n\S+\/lamp +there .*\n$/);
    site.requests.length = 0;
    await once();
    expect(site.requests.filter((each) => each.endsWith('/none'))).toEqual([]);
  });

  it('goes on until a signal, and refuses a second one beside it', async () => {
    const first = start(['watch', url('/lamp'), '--every', '1s', ...LOCAL], { cwd });
    await first.saying(/watching: Lamp/);
    expect(await once(url('/lamp'))).toMatchObject({
      code: 5,
      stderr: expect.stringContaining('already runs a schedule or a watch'),
    });
    site.pages.set('/lamp', page('12 EUR', STORM));
    await first.saying(/changed: Lamp/);
    first.stop();
    expect(await first.finished).toMatchObject({ code: 0, stderr: expect.stringContaining('every 1s') });
  });
});

it('old versions are removed while a watch goes on, and the last one of a page is kept', async () => {
  let now = Date.now();
  const clock = { now: () => now, sleep: async () => {} };
  const days = async (count: number): Promise<string> => {
    now += count * 86_400_000;
    return (await run(['watch', url('/lamp'), '--once', ...LOCAL], { cwd, clock })).output;
  };
  await days(0);
  for (let looks = 0; looks < 6; looks++) expect(await days(7)).toBe('');
  expect(readdirSync(join(cwd, 'crawldb/segments')).length).toBeLessThan(7);
  site.pages.set('/lamp', page('12 EUR', STORM));
  expect(await days(60)).toContain('{+A storm has closed');
  expect(await run(['state', 'verify', '--deep'], { cwd })).toMatchObject({ code: 0 });
});

describe('watch --notify', () => {
  it('runs a command with the change, and sends mail by sendmail', async () => {
    const bin = join(cwd, 'bin');
    mkdirSync(bin);
    writeFileSync(join(bin, 'sendmail'), `#!/bin/sh\necho "$@" > '${cwd}/args'; cat > '${cwd}/mail'\n`);
    chmodSync(join(bin, 'sendmail'), 0o755);
    const env = { PATH: `${bin}:${process.env.PATH}` };
    const command = `cat >> '${cwd}/json'; printf '%s|' "$INCRAWL_KIND" "$INCRAWL_URL" "$INCRAWL_TITLE" "$INCRAWL_SUMMARY" "$INCRAWL_DIFF" >> '${cwd}/env'`;
    const args = ['watch', url('/lamp'), '--once', ...LOCAL, '--notify', command, '--notify', 'mailto:me@example.org'];
    await prepare(args, { cwd, env });
    site.pages.set('/lamp', page('12 EUR', STORM));
    await prepare(args, { cwd, env });
    await prepare(args, { cwd, env });
    const lines = readFileSync(join(cwd, 'json'), 'utf8').trim().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ kind: 'modified', url: url('/lamp'), seq: 2 }]);
    expect(readFileSync(join(cwd, 'env'), 'utf8')).toMatch(
      /^modified\|http:\S+\/lamp\|Lamp\|changed: Lamp\|@@ body>main>p @@\n\{\+A storm /,
    );
    expect(readFileSync(join(cwd, 'args'), 'utf8')).toBe('-t -i\n');
    expect(readFileSync(join(cwd, 'mail'), 'utf8')).toMatch(
      /^To: me@example\.org\nSubject: 127\.0\.0\.1:\d+: changed: Lamp\n/,
    );
  });

  it('a receiver that fails ends the look with 1, and gets the change at a later one', async () => {
    const command = `test -e '${cwd}/up' && cat >> '${cwd}/json'`;
    await once(url('/lamp'), '--notify', command);
    site.pages.set('/lamp', page('12 EUR', STORM));
    let now = Date.now();
    const sleep = async (ms: number): Promise<void> => {
      now += ms;
    };
    const clock = { now: () => now, sleep };
    const failed = await run(['watch', '--once', '--notify', command, ...LOCAL], { cwd, clock });
    expect(failed).toMatchObject({ code: 1, stderr: expect.stringMatching(/exit code 1; next attempt in \d+ s\n/) });
    expect(failed.stdout).toContain('changed: Lamp');
    writeFileSync(join(cwd, 'up'), '');
    expect(await once('--notify', command)).toMatchObject({ code: 0, stdout: '' });
    expect(readFileSync(join(cwd, 'json'), 'utf8')).toContain('"kind":"modified"');
  });

  it.each([
    ['mailto:me', 'expected mailto:person@example.org'],
    ['https://user:secret@example.org/', 'may not hold a user name'],
    [' ', 'expected a command'],
  ])('refuses %j', async (word, message) => {
    const refused = await once(url('/lamp'), '--notify', word);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
  });
});

it.each([
  [[], 'nothing is watched in crawldb so far'],
  [['example.org'], 'a URL begins with its scheme: https://example.org'],
  [['ftp://example.org/'], 'cannot be watched'],
  [['https://example.org/'], 'set agent.contact'],
  [['http://127.0.0.1/', '--select', 'div['], '"div[" is no CSS selector'],
  [['--select', 'p'], '--select goes with URLs'],
  [['http://127.0.0.1/', '--every', 'soon'], 'Expected a duration'],
  [['http://127.0.0.1/', '--every', '10ms'], 'Expected at least 1s'],
  [['--remove', 'https://example.org/'], 'is not watched'],
])('refuses %j', async (args, message) => {
  const refused = await once(...args);
  expect(refused).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(message) });
  expect((await run(['watch', '--list'], { cwd })).stderr).toContain('Nothing is watched');
});

it('refuses a state directory in which something else is crawled', async () => {
  await prepare(['crawl', url('/lamp'), ...LOCAL, '-q'], { cwd });
  expect(await once(url('/lamp'))).toMatchObject({ code: 2, stderr: expect.stringContaining('holds a crawl') });
});
