import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { RecordView } from '../../../src/query/records/views.ts';
import { json } from '../../support/program.ts';
import { SHIPPED_PLUGINS } from '../../support/shipped-plugins.ts';
import { workDir } from '../../support/work-dir.ts';
import { served } from '../support/served.ts';

const ITEMS = 60;
const textOf = (path: string): string =>
  Array.from(
    { length: 60 },
    (_, i) => `Word${i}x${path.length * 7919 + Number(/\d+/.exec(path)?.[0] ?? 0) * 31 + i * i}`,
  ).join(' ');
const anchorOf = (id: number): string =>
  id % 3 === 0 ? 'Advert' : id % 5 === 0 ? 'Next' : id % 7 === 0 ? 'Best of all' : 'Item';

/** Items of one template, each with a text of its own: links to most of them wait for the share of their family. */
const server = createServer((request, response) => {
  const path = request.url ?? '/';
  if (path === '/robots.txt') {
    response.writeHead(404).end();
    return;
  }
  const links =
    path === '/'
      ? ['<a href="/list">List</a>']
      : path === '/list'
        ? Array.from({ length: ITEMS }, (_, id) => `<a href="/item/${id + 1}">${anchorOf(id + 1)}</a>`)
        : [];
  response.setHeader('content-type', 'text/html; charset=utf-8');
  response.end(`<!doctype html><title>${path}</title><main><p>${textOf(path)}.</p>${links.join(' ')}</main>`);
});
const site = served(server);

const PLUGINS = {
  'parsefilter-marks': `filter: (page) => {
      for (const link of page.result.outlinks) {
        if (link.anchor === 'Advert') link.noise = 'sold; here';
        if (link.anchor === 'Next') link.isNextPage = true;
      }
    }`,
  'scoring-anchor': `seedScore: () => 1,
    outlinkScore: (parent, { anchor, noise, isNextPage }) =>
      parent.score * (noise === undefined ? 0.5 : 0.1) * (isNextPage ? 1.5 : 1) * (anchor.startsWith('Best') ? 4 : 1),
    rank: ({ score }) => score`,
};

/** A crawl with a small share of like URLs, or without the filter. */
function folder(filter: string): string {
  const cwd = workDir();
  const list = SHIPPED_PLUGINS.replace('  - urlfilter-similarity\n', filter)
    .replace('  - scoring-depth\n', '')
    .replace('  - parsefilter-noise-links\n', '');
  const own = Object.keys(PLUGINS).map((name) => `  - use: ./plugins/${name}\n`);
  mkdirSync(join(cwd, 'conf'));
  writeFileSync(join(cwd, 'conf/plugins.yaml'), list + own.join(''));
  for (const [name, body] of Object.entries(PLUGINS)) {
    mkdirSync(join(cwd, 'conf/plugins', name), { recursive: true });
    const text = `export default { name: '${name}', api: 1, setup: () => ({\n    ${body},\n  }) };\n`;
    writeFileSync(join(cwd, 'conf/plugins', name, 'plugin.mjs'), text);
  }
  return cwd;
}

const crawlArgs = (...more: string[]) => ['crawl', `${site.origin}/`, '--allow', '127.0.0.1', '--delay', '0', ...more];

async function recordsOf(cwd: string) {
  const records = await json<RecordView[]>(['readdb', '--dump'], { cwd });
  return records.map(({ url, score, depth, metadata }) => ({
    path: url.slice(site.origin.length),
    score: Number(score.toPrecision(3)),
    depth,
    demoted: metadata.demoted ?? null,
  }));
}

it('links that wait enter with the noise, the depth and the score that they were found with', async () => {
  const [at, without] = [folder('  - urlfilter-similarity: { quota: 5 }\n'), folder('')];
  await json(crawlArgs('--rounds', '2'), { cwd: at });
  const list = await json<RecordView>(['readdb', '--url', `${site.origin}/list`], { cwd: at });
  expect(list.metadata.waiting).toBeGreaterThan(ITEMS / 2);
  expect(list.metadata.waitingMarks).toMatch(/^\w+ noise:sold%3B%20here [\d,]+; next [\d,]+; x4 [\d,]+$/);
  await json(crawlArgs(), { cwd: at });
  await json(crawlArgs(), { cwd: without });
  const expected = await recordsOf(without);
  expect(await recordsOf(at)).toEqual(expected);
  expect(expected).toHaveLength(ITEMS + 2);
  expect(new Set(expected.map(({ score }) => score)).size).toBeGreaterThan(4);
  expect(new Set(expected.map(({ demoted }) => demoted))).toEqual(new Set([null, 'outlinks: noise (sold; here)']));
  const done = await json<RecordView>(['readdb', '--url', `${site.origin}/list`], { cwd: at });
  expect(done.metadata).not.toHaveProperty('waiting');
  expect(done.metadata).not.toHaveProperty('waitingMarks');
  expect(await json(['state', 'verify', '--deep'], { cwd: at })).toMatchObject({ findings: [] });
});
