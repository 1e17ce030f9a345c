import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { json, prepare, run } from '../../support/program.ts';
import { workDir } from '../../support/work-dir.ts';
import { type ChangingSite, startChangingSite } from '../support/changing-site.ts';

const WORDS = 'Words enough for the content of a page, which says something, and then something else again.';
const PAGE = `<!doctype html><html lang="en"><title>Same</title><main><h1>Same</h1><p>${WORDS}</p></main></html>`;

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

const crawl = (...seeds: readonly string[]): Promise<unknown> => prepare(['crawl', ...seeds, ...network], { cwd });

async function crawlAgain(...urls: readonly string[]): Promise<string[]> {
  site.requests.length = 0;
  await prepare(['due', 'touch', ...urls], { cwd });
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

it('a change in the headers alone is found, listed and exported', async () => {
  const [at, other] = [`${site.origin}/`, `${site.origin}/other`];
  const named = 'Приве́т, это́ страни́ца';
  site.headers.set('/', { etag: '"1"' });
  site.pages.set(
    '/other',
    PAGE.replaceAll('Same', named).replace('</main>', '<a href="/next">a page further on</a></main>'),
  );
  site.types.set('/other', 'text/html; charset=koi8-r');
  site.headers.set('/other', { 'x-robots-tag': 'nofollow' });
  await crawl(at, other);
  expect(site.requests).not.toContain('GET /next');
  const first = await seqNow();

  site.headers.set('/', { etag: '"1"', 'x-robots-tag': 'noindex' });
  site.types.set('/other', 'text/html; charset=UTF-8');
  site.headers.delete('/other');
  const asked = await crawlAgain(at, other);
  expect(asked.filter((request) => request === 'GET /')).toHaveLength(2);
  expect(asked).toContain('GET /next');
  const changes = await exported('--since', first);
  expect(changes).toHaveLength(2);
  expect(changes).toContainEqual(expect.objectContaining({ deleted: at }));
  expect(changes).toContainEqual(expect.objectContaining({ url: other, title: named }));
  const second = await seqNow();

  site.types.set('/other', 'Text/HTML;charset="utf8"');
  expect((await crawlAgain(at, other)).sort()).toEqual(['GET /', 'GET /other']);
  expect(await exported('--since', second)).toEqual([]);

  site.headers.delete('/');
  await crawlAgain(at);
  expect(await exported('--since', second)).toMatchObject([{ url: at }]);
});
