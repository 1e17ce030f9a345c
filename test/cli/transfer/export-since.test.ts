import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { json, prepare, run } from '../../support/program.ts';
import { workDir } from '../../support/work-dir.ts';
import { type ChangingSite, startChangingSite } from '../support/changing-site.ts';

const WORDS = 'Words enough for the content of a page, which says something, and then something else again.';
const page = (title: string, head = ''): string =>
  `<!doctype html><html lang="en"><head>${head}<title>${title}</title></head><main><h1>${title}</h1><p>${WORDS}</p></main></html>`;

const network = ['--allow', '127.0.0.1', '--delay', '0', '--quiet'];
const sites: ChangingSite[] = [];
let cwd: string;

beforeEach(() => {
  cwd = workDir();
});
afterEach(async () => {
  for (const site of sites.splice(0)) await site.close();
});

async function crawled(pages: Readonly<Record<string, string>>): Promise<ChangingSite> {
  const site = await startChangingSite(pages);
  sites.push(site);
  await prepare(['crawl', ...Object.keys(pages).map((path) => site.origin + path), ...network], { cwd });
  return site;
}

async function visitAgain(...urls: readonly string[]): Promise<void> {
  await prepare(['due', 'touch', ...urls], { cwd });
  await prepare(['crawl', ...network], { cwd });
}

interface Exported {
  readonly pages: string[];
  readonly deleted: string[];
}

async function exported(...args: readonly string[]): Promise<Exported> {
  const { stdout } = await run(['export', ...args], { cwd });
  const lines = stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { url?: string; deleted?: string });
  return {
    pages: lines.flatMap(({ url }) => url ?? []).sort(),
    deleted: lines.flatMap(({ deleted }) => deleted ?? []).sort(),
  };
}

const seqNow = async (): Promise<string> =>
  String((await json<{ seq: number }>(['export', '-o', 'all.jsonl', '--force'], { cwd })).seq);

describe('export --since', () => {
  it('a page that may not be indexed any more is removed, and one that may be again is given', async () => {
    const site = await crawled({ '/asks': page('Asks') });
    const url = `${site.origin}/asks`;
    const first = await seqNow();
    site.pages.set('/asks', page('Asks', '<meta name="robots" content="noindex">'));
    await visitAgain(url);
    expect(await exported()).toEqual({ pages: [], deleted: [] });
    expect(await exported('--since', first)).toEqual({ pages: [], deleted: [url] });
    const second = await seqNow();
    site.pages.set('/asks', page('Asks again'));
    await visitAgain(url);
    expect(await exported()).toEqual({ pages: [url], deleted: [] });
    expect(await exported('--since', second)).toEqual({ pages: [url], deleted: [] });
  });

  it('--host leaves out the pages of other hosts', async () => {
    const here = await crawled({ '/stays': page('Stays'), '/goes': page('Goes') });
    const there = await crawled({ '/other': page('Other'), '/lost': page('Lost') });
    here.pages.delete('/goes');
    there.pages.delete('/lost');
    await visitAgain(`${here.origin}/goes`, `${there.origin}/lost`);
    expect(await exported('--since', '0', '--host', new URL(here.origin).host)).toEqual({
      pages: [`${here.origin}/stays`],
      deleted: [`${here.origin}/goes`],
    });
  });

  it('into a tree: the file of a page that has another type now is deleted with the page', async () => {
    const site = await crawled({ '/typed': page('Typed') });
    const url = `${site.origin}/typed`;
    const since = await seqNow();
    await prepare(['export', '--format', 'tree', '-o', 'tree'], { cwd });
    const files = (): string[] => readFileSync(join(cwd, 'tree/index.jsonl'), 'utf8').trim().split('\n');
    const old = (JSON.parse(files()[0] ?? '') as { file: string }).file;
    expect(existsSync(join(cwd, 'tree', old))).toBe(true);
    site.types.set('/typed', 'text/plain');
    site.pages.set('/typed', `${WORDS} ${WORDS}`);
    await visitAgain(url);
    await run(['export', '--format', 'tree', '-o', 'tree', '--since', since], { cwd });
    expect(existsSync(join(cwd, 'tree', old))).toBe(false);
  });

  it('--where removes a page that does not match any more, and leaves alone what its URL keeps out', async () => {
    const here = await crawled({ '/a': page('Offer one'), '/b': page('Offer two'), '/c': page('Other') });
    const there = await crawled({ '/d': page('Offer of another host') });
    const host = new URL(here.origin).host;
    const where = ['--where', `host = '${host}' and title ~ offer`];
    const since = await seqNow();
    expect(await exported(...where)).toEqual({ pages: [`${here.origin}/a`, `${here.origin}/b`], deleted: [] });
    here.pages.set('/b', page('Sold'));
    here.pages.set('/c', page('An offer, too'));
    here.pages.delete('/a');
    there.pages.delete('/d');
    await visitAgain(...['/a', '/b', '/c'].map((path) => here.origin + path), `${there.origin}/d`);
    const { stdout } = await run(['export', '--since', since, ...where], { cwd });
    const lines = stdout.trim().split('\n');
    const found = lines.map((line) => JSON.parse(line) as { url?: string; deleted?: string; state: string });
    expect(found.map(({ url = null, deleted = null, state }) => [url, deleted, state]).sort()).toEqual([
      [null, `${here.origin}/a`, 'gone'],
      [null, `${here.origin}/b`, 'fetched'],
      [`${here.origin}/c`, null, 'fetched'],
    ]);
    const counted = await json(['export', '--since', since, ...where, '--dry-run'], { cwd });
    expect(counted).toMatchObject({ documents: 1, removed: 2 });
  });
});
