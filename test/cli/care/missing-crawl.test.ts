import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { clockByHand } from '../../support/clock-by-hand.ts';
import { json, prepare, run, start } from '../../support/program.ts';
import { workDir } from '../../support/work-dir.ts';
import { type ChangingSite, startChangingSite } from '../support/changing-site.ts';

const URL_ASKED = 'http://127.0.0.1:1/';

/** Every command that reads a crawl, or changes one that must be there. */
const READERS: readonly (readonly string[])[] = [
  ['readdb'],
  ['readdb', '--dump', '--format', 'csv'],
  ['readdb', '--seen'],
  ['readseg'],
  ['readseg', '--get', URL_ASKED],
  ['explain', URL_ASKED],
  ['changes'],
  ['changes', '--since', '0', '--webhook', URL_ASKED],
  ['diff', URL_ASKED],
  ['export'],
  ['export', '--dry-run'],
  ['db', 'export'],
  ['forecast', 'plan'],
  ['forecast', 'simulate'],
  ['duplicates', 'near', URL_ASKED],
  ['skipped'],
  ['skipped', '--counts'],
  ['duplicates', 'families'],
  ['dedup'],
  ['dedup', '--dry-run'],
  ['state', 'prune', '--keep-days', '1'],
  ['generate'],
  ['generate', '--dry-run'],
  ['fetch'],
  ['parse'],
  ['updatedb'],
  ['due', 'retry', '--host', 'other.example'],
  ['due', 'touch', URL_ASKED],
  ['due', 'sitemap'],
  ['db', 'repartition', '--nodes', 'a,b', '--out', 'parts'],
  ['state', 'verify'],
  ['state', 'repair'],
  ['state', 'backup', 'copy'],
];

describe('a state directory that holds no crawl', () => {
  it.each(READERS.map((args) => [args.join(' '), args] as const))('%s refuses it', async (_, args) => {
    const cwd = workDir();
    const absent = await run([...args, '--dir', 'mistyped'], { cwd });
    expect(absent).toMatchObject({ code: 2, stdout: '' });
    expect(absent.stderr).toContain(`${join(cwd, 'mistyped')} holds no crawl (is its disk mounted?)`);
    expect(absent.stderr).toContain('"incrawl crawl URL" and "incrawl inject" begin a crawl');
    mkdirSync(join(cwd, 'unmounted'));
    const empty = await run([...args, '--dir', 'unmounted'], { cwd });
    expect(empty).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('unmounted holds no crawl') });
    expect(readdirSync(cwd, { recursive: true })).toEqual(['unmounted']);
  });

  it('is followed: what a later crawl finds is shown from its first entry on', async () => {
    const cwd = workDir();
    const site = await startChangingSite({ '/': '<title>Home</title><p>Words' });
    const clock = clockByHand();
    const follower = start(['changes', '--follow', '--json', '--dir', 'later'], { cwd, clock });
    await follower.saying(/New changes are shown as soon as it can be read/);
    await prepare(['crawl', `${site.origin}/`, '--allow', '127.0.0.1', '--delay', '0', '--dir', 'later'], { cwd });
    const shown = await follower.saying(/"seq"/);
    expect(JSON.parse(shown)).toMatchObject({ seq: 1, kind: 'new', url: `${site.origin}/` });
    follower.stop();
    const ended = await follower.finished;
    expect(ended, ended.stderr).toMatchObject({ code: 0 });
    await site.close();
  });
});

describe('an export without pages', () => {
  let site: ChangingSite;
  const cwd = workDir();
  const ask = ['export', '--format', 'csv', '-o', 'pages.csv'];

  beforeAll(async () => {
    site = await startChangingSite({ '/': '<title>Home</title><p>Words' });
    await prepare(['crawl', `${site.origin}/`, '--allow', '127.0.0.1', '--delay', '0'], { cwd });
    await prepare(ask, { cwd });
  });
  afterAll(() => site.close());

  const lines = (): number => readFileSync(join(cwd, 'pages.csv'), 'utf8').trim().split('\n').length;

  it('does not replace a file that has content, whatever took its pages away', async () => {
    expect(lines()).toBe(2);
    const other = await run([...ask, '--host', 'other.example'], { cwd });
    expect(other).toMatchObject({ code: 2, stdout: '' });
    expect(other.stderr).toContain('no page to export, and pages.csv has content: it is left as it is; --force');
    expect((await run([...ask, '--dir', 'mistyped'], { cwd })).code).toBe(2);
    expect((await run([...ask, '--since', '999'], { cwd })).code).toBe(2);
    expect(lines()).toBe(2);
    expect(readdirSync(cwd).filter((name) => name.includes('partial'))).toEqual([]);
  });

  it('does so with --force, and where there is nothing to lose', async () => {
    expect(await json([...ask, '--host', 'other.example', '--force'], { cwd })).toMatchObject({
      documents: 0,
      file: 'pages.csv',
    });
    expect(lines()).toBe(1);
    writeFileSync(join(cwd, 'empty.csv'), '');
    const none = ['export', '--host', 'other.example', '-o'];
    for (const place of ['empty.csv', 'new.csv', '/dev/null']) {
      expect((await run([...none, place], { cwd })).code).toBe(0);
    }
    expect(existsSync(join(cwd, 'new.csv'))).toBe(true);
  });

  it('does not replace the list of a folder', async () => {
    const tree = ['export', '--format', 'tree', '-o', 'mirror'];
    await prepare(tree, { cwd });
    const before = readFileSync(join(cwd, 'mirror', 'index.jsonl'), 'utf8');
    expect(before).not.toBe('');
    expect((await run([...tree, '--host', 'other.example'], { cwd })).code).toBe(2);
    expect(readFileSync(join(cwd, 'mirror', 'index.jsonl'), 'utf8')).toBe(before);
    expect((await run([...tree, '--since', '999'], { cwd })).code).toBe(0);
  });
});
