import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NearPage, ReparseSummary } from '../../../src/crawler/views.ts';
import type { RecordView } from '../../../src/query/records/views.ts';
import { json, prepare, run } from '../../support/program.ts';
import { workDir } from '../../support/work-dir.ts';

const article = (seed: number): string =>
  Array.from(
    { length: 30 },
    (_, i) => `The sentence ${seed * 100 + i} of this article ${seed} is about the matter ${(seed * 7 + i * 13) % 97}.`,
  ).join(' ');

/** Two articles; the first one also stands under a second address. */
const server = createServer((request, response) => {
  const path = request.url ?? '/';
  if (path === '/robots.txt') {
    response.writeHead(404).end();
    return;
  }
  const body =
    path === '/'
      ? '<a href="/1">one</a> <a href="/1/print">print</a> <a href="/2">two</a>'
      : `<article><p>${article(path.startsWith('/1') ? 1 : 2)}</p></article>`;
  response.setHeader('content-type', 'text/html');
  response.end(`<!doctype html><html lang="en"><title>${path}</title><main>${body}</main></html>`);
});
let origin = '';
let cwd = '';
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  cwd = workDir();
  mkdirSync(join(cwd, 'conf'));
  write('');
  await prepare(['crawl', `${origin}/`, '--allow', '127.0.0.1', '--delay', '0'], { cwd });
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

const PLUGINS = ['protocol-http', 'parse-html', 'parsefilter-main-content', 'schedule-freshness', 'exporter-jsonl'];

/** The list of plugins, with options of the signature. */
function write(options: string): void {
  const lines = [...PLUGINS, `signature-simhash${options}`].map((each) => `  - ${each}\n`);
  writeFileSync(join(cwd, 'conf/plugins.yaml'), `plugins:\n${lines.join('')}`);
}

const record = (path: string) => json<RecordView>(['readdb', '--url', `${origin}${path}`], { cwd });
const near = (path: string) => json<NearPage[]>(['duplicates', 'near', `${origin}${path}`], { cwd });
const OTHER = ': { shingleWords: 2, stopWords: true }';

describe('options of the signature', { sequential: true }, () => {
  it('are seen in its id, its bits and its distances', async () => {
    const text = article(1);
    writeFileSync(join(cwd, 'a.html'), `<html lang="en"><p>${text}</p>`);
    writeFileSync(join(cwd, 'b.html'), `<html lang="en"><p>${text.replaceAll(' the ', ' a ')}</p>`);
    const views: { id: string; signature: string; distance: number }[] = [];
    for (const options of ['', ': { shingleWords: 2 }', OTHER]) {
      write(options);
      const args = ['check', 'parse', 'a.html', '--signatures', 'simhash', '--against', 'b.html'];
      const { signatures } = await json<{ signatures: typeof views }>(args, { cwd });
      views.push(...signatures);
    }
    expect(views.map(({ id }) => id.replace(/-icu.*/, ''))).toEqual([
      'simhash64x2-w3-d3.2.1.1-v3',
      'simhash64x2-w2-d3.2.1.1-v3',
      'simhash64x2-w2-d3.2.1.1-stop1.1.0-v3',
    ]);
    expect(new Set(views.map(({ signature }) => signature)).size).toBe(3);
    expect(views.map(({ distance }) => distance > 0)).toEqual([true, true, false]);
  });

  it.each([
    ['shingleWords: 0', /plugins\.yaml:7:\d+.*shingleWords.*>=? ?1/s],
    ['shingleWords: 9', /plugins\.yaml:7:\d+.*shingleWords.*<=? ?8/s],
    ['shingleWords: x', /plugins\.yaml:7:\d+.*shingleWords.*number/s],
    ['stopWords: de', /plugins\.yaml:7:\d+.*stopWords.*boolean/s],
    ['shingleWord: 2', /plugins\.yaml:7:\d+.*shingleWord\b/s],
  ])('%s is refused, with its place', async (option, message) => {
    write(`: { ${option} }`);
    const { code, stderr } = await run(['check', 'parse', 'a.html'], { cwd });
    expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
  });

  it('pages signed by others are not compared, until all are signed again', async () => {
    expect(await record('/1/print')).toMatchObject({ state: 'duplicate', target: `${origin}/1` });
    expect(await near('/1')).toMatchObject([{ url: `${origin}/1/print`, distance: 0 }]);
    write(OTHER);
    const some = ['reparse', '--where', 'url ~ "/1/print"'];
    expect(await json<ReparseSummary>(some, { cwd })).toMatchObject({ parsed: 1, differing: 1 });
    expect((await record('/1/print')).signatureName).toMatch(/^simhash64x2-w2-.*-stop/);
    expect((await record('/1')).signatureName).toMatch(/^simhash64x2-w3-d3\.2\.1\.1-v/);
    expect(await near('/1')).toEqual([]);
    expect(await near('/1/print')).toEqual([]);
    expect(await json<ReparseSummary>(['reparse'], { cwd })).toMatchObject({ parsed: 4, differing: 3 });
    expect(await near('/1')).toMatchObject([{ url: `${origin}/1/print`, distance: 0 }]);
    expect(await record('/1/print')).toMatchObject({ state: 'duplicate', target: `${origin}/1` });
    expect(await record('/2')).toMatchObject({ state: 'fetched' });
    expect((await run(['changes', '--since', '1h', '--type', 'modified'], { cwd })).stdout).toBe('');
    expect((await run(['state', 'verify', '--deep'], { cwd })).code).toBe(0);
  });
});
