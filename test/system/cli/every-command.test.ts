import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createProgram } from '../../../src/cli/commands/all-commands.ts';
import { commandTree } from '../../../src/cli/completion/command-tree.ts';
import { type LocalSite, startSite } from '../../cli/support/local-site.ts';
import { NO_STOPS } from '../../support/program.ts';
import { workDir } from '../../support/work-dir.ts';
import { run, start } from '../support/binary.ts';

/** What each command of the built program does in its simplest use; the tests of commands in process show the rest. */
const cwd = workDir();
let site: LocalSite;
beforeAll(async () => {
  site = await startSite({ pages: 4 });
});
afterAll(() => site.close());

const LOCAL = ['--allow', '127.0.0.1', '--delay', '0'];
const seed = (): string => `${site.origin}/`;
const page = (): string => `${site.origin}/page/1`;

interface Use {
  readonly args: () => readonly string[];
  readonly says: RegExp | string;
  readonly code?: number;
  readonly input?: () => string;
}

const use = (says: RegExp | string, ...args: readonly (string | (() => string))[]): Use => ({
  args: () => args.map((arg) => (typeof arg === 'string' ? arg : arg())),
  says,
});

/** In the order in which one needs what the other has made. Shown by other tests of this suite: work, serve, top. */
const USES: Readonly<Record<string, Use>> = {
  init: use(/incrawl\.yaml/, 'init', '.'),
  inject: use(/1/, 'inject', seed),
  generate: use(/Segment .*: 1 URL/, 'generate'),
  fetch: use(/fetched +1/, 'fetch', ...LOCAL),
  parse: use(/: 1 page/, 'parse'),
  updatedb: use(/applied +1/, 'updatedb'),
  crawl: use(/nothing is due|Nothing is due/, 'crawl', ...LOCAL),
  'due touch': use(/1/, 'due', 'touch', page),
  schedule: use(/./, 'schedule', '--once', ...LOCAL),
  mirror: use(/copied: \d+ page/, 'mirror', page, 'copied', ...LOCAL, '--dir', 'mirrored'),
  watch: use(/watching/, 'watch', page, '--once', ...LOCAL, '--dir', 'watched'),
  reparse: use(/./, 'reparse'),
  // The site has none.
  'due sitemap': { ...use(/robots\.txt|sitemap/, 'due', 'sitemap', ...LOCAL), code: 1 },
  'forecast plan': use(/./, 'forecast', 'plan'),
  'forecast simulate': use(/adaptive/, 'forecast', 'simulate', '--schedule', 'adaptive'),
  readdb: use(/fetched/, 'readdb', '--stats'),
  readseg: use(/updated/, 'readseg', '--list'),
  explain: use(/next visit/, 'explain', page),
  // Its page has not changed.
  diff: { ...use(/a difference needs two/, 'diff', page), code: 1 },
  changes: use(/new/, 'changes', '--since', '1h'),
  skipped: use(/robots/, 'skipped'),
  'due retry': use(/./, 'due', 'retry', '--status', 'gone'),
  export: use(/"url"/, 'export', '--format', 'jsonl'),
  dedup: use(/./, 'dedup', '--dry-run'),
  'duplicates near': use(/./, 'duplicates', 'near', page),
  'duplicates families': use(/./, 'duplicates', 'families'),
  'mr export': use(/./, 'mr', 'export', 'signatures', '-o', 'signatures'),
  'mr map': { ...use(/^$/, 'mr', 'map', 'dedup'), input: () => '' },
  'mr reduce': { ...use(/^$/, 'mr', 'reduce', 'dedup'), input: () => '' },
  'state verify': use(/./, 'state', 'verify'),
  'state repair': use(/./, 'state', 'repair'),
  'state backup': use(/./, 'state', 'backup', 'copy'),
  'state restore': use(/./, 'state', 'restore', 'copy', '--dir', 'restored'),
  'db export': use(/"incrawl"/, 'db', 'export'),
  'db import': use(/record/, 'db', 'import', 'dump.jsonl', '--dir', 'imported'),
  'db merge': use(/./, 'db', 'merge', 'restored', '--dir', 'merged'),
  'db repartition': use(/one/, 'db', 'repartition', '--nodes', 'one,two', '--out', 'nodes', '--dir', 'imported'),
  'state prune': use(/./, 'state', 'prune', '--keep-days', '1'),
  'cookies list': use(/./, 'cookies', 'list'),
  // No entry of `hosts:` keeps cookies.
  'cookies import': { ...use(/./, 'cookies', 'import', 'cookies.txt'), code: 2 },
  'cookies clear': use(/./, 'cookies', 'clear'),
  'check url': use(/example\.org/, 'check', 'url', 'HTTP://Example.org:80/a/../b'),
  'check parse': use(/title/i, 'check', 'parse', page, ...LOCAL),
  'check robots': use(/allowed/i, 'check', 'robots', page, ...LOCAL),
  'check sitemap': use(/./, 'check', 'sitemap', 'sitemap.xml'),
  'plugins list': use(/parse-html/, 'plugins', 'list'),
  'plugins new': use(/parsefilter-mine/, 'plugins', 'new', 'parsefilter-mine'),
  'plugins test': use(/parsefilter-mine/, 'plugins', 'test', 'parsefilter-mine'),
  'packages list': use(/duckdb/, 'packages', 'list'),
  config: use(/fetch/, 'config'),
  completion: use(/complete/, 'completion', 'bash'),
  help: use(/state/i, 'help', 'states'),
  demo: use(/day/, 'demo', '--rounds', '2'),
};

/** By which test the built program is run as these. */
const ELSEWHERE = new Set([
  ...['work', 'serve', 'top', 'packages install', 'partitions list', 'partitions move', 'partitions split'],
  ...['pause', 'resume', 'stop', 'touch', 'inject', 'delay'].map((name) => `ctl ${name}`),
]);

describe('the built program', () => {
  it('is tried with every command', async () => {
    const streams = { stdout: process.stdout, stderr: process.stderr };
    const program = await createProgram({ argv: [], env: {}, stdin: () => process.stdin, ...streams, stops: NO_STOPS });
    const leaves = (node: ReturnType<typeof commandTree>): string[] =>
      node.children.length === 0 ? [node.path.join(' ')] : node.children.flatMap(leaves);
    const missing = leaves(commandTree(program.command)).filter(
      (name) => !(name in USES) && !ELSEWHERE.has(name) && !name.endsWith(' help'),
    );
    expect(missing).toEqual([]);
  });

  it('prepares files that further commands read', async () => {
    writeFileSync(join(cwd, 'cookies.txt'), '# Netscape HTTP Cookie File\n');
    const url = '<url><loc>https://example.org/a</loc></url>';
    writeFileSync(
      join(cwd, 'sitemap.xml'),
      `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${url}</urlset>`,
    );
  });

  it.each(Object.entries(USES))('%s', async (name, { args, says, code = 0, input }) => {
    const { stdout, stderr, ...ended } = await run(args(), { cwd, ...(input && { input: input() }) });
    expect({ ...ended, stderr: ended.code === code ? '' : stderr }).toEqual({ code, stderr: '' });
    expect(stdout + stderr).toMatch(says);
    if (name === 'db export') writeFileSync(join(cwd, 'dump.jsonl'), stdout);
  });

  it('serve answers, and ends at a signal', async () => {
    const { child, finished } = start(['serve', '--port', '0', '--json'], { cwd });
    const line = await new Promise<string>((resolve) => child.stdout?.once('data', resolve));
    const { url } = JSON.parse(line) as { readonly url: string };
    expect(await (await fetch(new URL('/healthz', url))).text()).not.toBe('');
    const top = await run(['top', '--once'], { cwd });
    expect(top).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('Neither a crawl nor a scheduler is running'),
    });
    child.kill('SIGTERM');
    expect((await finished).code).toBe(0);
  });
});
