import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { json, run, workDir } from './binary.ts';
import { type ChangingSite, startChangingSite } from './changing-site.ts';

const WORDS = 'Words enough for the content of a page, which says something, and then something else again.';
const PAGE = `<!doctype html><html lang="en"><title>Same</title><main><h1>Same</h1><p>${WORDS}</p></main></html>`;
const NOINDEX = { 'x-robots-tag': 'noindex' };

const network = ['--allow', '127.0.0.1', '--delay', '0', '--quiet'];
let cwd: string;
let site: ChangingSite;

beforeEach(async () => {
  cwd = workDir();
  mkdirSync(join(cwd, 'conf'));
  writeFileSync(join(cwd, 'conf/incrawl.yaml'), 'fetch:\n  auditShare: 0\n');
  site = await startChangingSite({ '/': PAGE });
});
afterEach(() => site.close());

const crawl = (...seeds: readonly string[]): Promise<unknown> => run(['crawl', ...seeds, ...network], { cwd });

async function crawlAgain(): Promise<string[]> {
  site.requests.length = 0;
  await run(['touch', `${site.origin}/`], { cwd });
  await crawl();
  return site.requests.filter((request) => !request.endsWith('/robots.txt'));
}

async function exported(...args: readonly string[]): Promise<{ url?: string; deleted?: string; title?: string }[]> {
  const { stdout } = await run(['export', ...args], { cwd });
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}

const seqNow = async (): Promise<string> =>
  String((await json<{ seq: number }>(['export', '-o', 'all.jsonl'], { cwd })).seq);

describe('what headers alone say of a page whose bytes stay the same', () => {
  it('noindex comes with a 304, and goes', async () => {
    site.headers.set('/', { etag: '"1"' });
    await crawl(`${site.origin}/`);
    const first = await seqNow();
    site.headers.set('/', { etag: '"1"', ...NOINDEX });
    expect(await crawlAgain()).toEqual(['GET /', 'GET /']);
    expect(await exported('--since', first)).toMatchObject([{ deleted: `${site.origin}/` }]);
    const second = await seqNow();
    expect(await crawlAgain()).toEqual(['GET /']);
    expect(await exported('--since', second)).toEqual([]);
    site.headers.delete('/');
    await crawlAgain();
    expect(await exported('--since', second)).toMatchObject([{ url: `${site.origin}/` }]);
  });

  it('another charset: the page is read anew and told as modified', async () => {
    site.pages.set('/', PAGE.replaceAll('Same', 'Приве́т, это́ страни́ца'));
    site.types.set('/', 'text/html; charset=koi8-r');
    await crawl(`${site.origin}/`);
    const first = await seqNow();
    site.types.set('/', 'text/html; charset=UTF-8');
    await crawlAgain();
    const pages = await exported('--since', first);
    expect(pages).toMatchObject([{ url: `${site.origin}/`, title: 'Приве́т, это́ страни́ца' }]);
    const second = await seqNow();
    site.types.set('/', 'Text/HTML;charset="utf8"');
    await crawlAgain();
    expect(await exported('--since', second)).toEqual([]);
  });

  it('nofollow that goes: the links of the page are followed', async () => {
    site.pages.set('/', PAGE.replace('</main>', '<a href="/next">a page further on</a></main>'));
    site.headers.set('/', { 'x-robots-tag': 'nofollow' });
    await crawl(`${site.origin}/`);
    const known = async (): Promise<number> => (await json<{ urls: number }>(['readdb', '--stats'], { cwd })).urls;
    expect(await known()).toBe(1);
    site.headers.delete('/');
    await crawlAgain();
    expect(await known()).toBe(2);
  });
});
