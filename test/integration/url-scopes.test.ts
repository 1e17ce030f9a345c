import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { seed, visiting } from './visiting.ts';

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'incrawl-scopes-'));
  await writeFile(
    join(dir, 'normalizer.ts'),
    `export default { name: 'urlnormalizer-scoped', api: 1,
      setup: () => ({ normalize: (url, scope) => url.replace(/\\/plain-/, '/' + scope + '-') }) };`,
  );
  await writeFile(
    join(dir, 'filter.ts'),
    `export default { name: 'urlfilter-secret', api: 1,
      setup: () => ({ filter: (url) => (url.includes('secret') ? { accept: false, reason: 'secret' } : { accept: true }) }) };`,
  );
  await writeFile(
    join(dir, 'exemption.ts'),
    `export default { name: 'urlexemption-linked', api: 1,
      setup: () => ({ exempt: (url, { by }, { from, scope }) =>
        by === 'urlfilter-secret' && (from !== null || scope === 'generate')
          ? { exempt: true, reason: 'linked' } : { exempt: false } }) };`,
  );
  await writeFile(
    join(dir, 'plugins.yaml'),
    `plugins: [protocol-http, {use: ${join(dir, 'normalizer.ts')}}, {use: ${join(dir, 'filter.ts')}},
      {use: ${join(dir, 'exemption.ts')}}, parse-html, signature-simhash, schedule-freshness, scoring-depth]
scopes: {default: [urlnormalizer-scoped]}\n`,
  );
});
afterAll(() => rm(dir, { recursive: true, force: true }));

it('each way into the crawl has its scope, and what an exemption let in is fetched', async () => {
  const { crawler, origin, asked } = await visiting(
    ({ url = '' }, response) => {
      if (url.startsWith('/outlink')) response.writeHead(302, { location: '/plain-target' }).end();
      else {
        const links = url.startsWith('/inject') ? '<a href="/plain-link">l</a><a href="/secret-page">p</a>' : '';
        response.writeHead(200, { 'content-type': 'text/html' }).end(`<title>${url}</title><p>page ${url}</p>${links}`);
      }
    },
    `plugins.file=${join(dir, 'plugins.yaml')}`,
  );
  await crawler.crawl(seed(`${origin}/plain-seed`, `${origin}/secret-seed`));
  expect([...asked].sort()).toEqual([
    'GET /fetcher-target',
    'GET /inject-seed',
    'GET /outlink-link',
    'GET /secret-page',
  ]);
});
