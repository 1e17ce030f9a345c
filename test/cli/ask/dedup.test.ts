import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { VerifySummary } from '../../../src/crawler/index.ts';
import type { DedupSummary, DuplicateView, NearPage } from '../../../src/crawler/views.ts';
import type { RecordView } from '../../../src/query/records/views.ts';
import { json, prepare, run } from '../../support/program.ts';
import { workDir } from '../../support/work-dir.ts';

const article = (seed: number): string =>
  Array.from(
    { length: 30 },
    (_, i) => `Sentence ${seed * 100 + i} of article ${seed} speaks of matter ${(seed * 7 + i * 13) % 97}.`,
  ).join(' ');

/** Two articles; the first one also stands under a second address, as a print version. */
const server = createServer((request, response) => {
  const path = request.url ?? '/';
  if (path === '/robots.txt') {
    response.writeHead(404).end();
    return;
  }
  const body =
    path === '/'
      ? '<p>Start</p><a href="/article/1">one</a> <a href="/article/1/print">print</a> <a href="/article/2">two</a>'
      : path.startsWith('/article/')
        ? `<article><p>${article(path.startsWith('/article/1') ? 1 : 2)}</p></article>${path.endsWith('/print') ? '<a href="/only-on-print">more</a>' : ''}`
        : '<p>Little.</p>';
  response.setHeader('content-type', 'text/html');
  response.end(`<!doctype html><title>${path}</title><main>${body}</main>`);
});
let origin = '';
let cwd = '';
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  cwd = workDir();
  await prepare(['crawl', `${origin}/`, '--allow', '127.0.0.1', '--delay', '0'], { cwd });
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

describe('near duplicates of a crawl', { sequential: true }, () => {
  it('the crawl itself has marked the print version, and says so', async () => {
    const record = await json<RecordView>(['readdb', '--url', `${origin}/article/1/print`], { cwd });
    expect(record).toMatchObject({ state: 'duplicate', target: `${origin}/article/1` });
    const plain = workDir();
    writeFileSync(join(plain, 'incrawl.yaml'), 'dedup:\n  mode: off\n');
    await prepare(['crawl', `${origin}/`, '--allow', '127.0.0.1', '--delay', '0'], { cwd: plain });
    expect(await json(['readdb', '--url', `${origin}/article/1/print`], { cwd: plain })).toMatchObject({
      state: 'fetched',
    });
    const near = await json<NearPage[]>(['duplicates', 'near', `${origin}/article/1`], { cwd: plain });
    expect(near).toMatchObject([{ url: `${origin}/article/1/print`, distance: 0 }]);
  });

  it('skip-outlinks does not follow the links of a duplicate', async () => {
    const plain = workDir();
    writeFileSync(join(plain, 'incrawl.yaml'), 'dedup:\n  mode: skip-outlinks\n');
    await prepare(['crawl', `${origin}/`, '--allow', '127.0.0.1', '--delay', '0'], { cwd: plain });
    const urls = (await json<RecordView[]>(['readdb', '--dump'], { cwd: plain })).map(({ url }) =>
      url.slice(origin.length),
    );
    expect(urls).toEqual(['/', '/article/1', '/article/1/print', '/article/2']);
    const followed = (await json<RecordView[]>(['readdb', '--dump'], { cwd })).map(({ url }) =>
      url.slice(origin.length),
    );
    expect(followed).toContain('/only-on-print');
  });

  it('near names the neighbours with their distances', async () => {
    const near = await json<NearPage[]>(['duplicates', 'near', `${origin}/article/1`, '-k', '3'], { cwd });
    expect(near).toMatchObject([{ url: `${origin}/article/1/print`, distance: 0 }]);
    const alone = await run(['duplicates', 'near', `${origin}/article/2`], { cwd });
    expect(alone).toMatchObject({ code: 0, stdout: '', stderr: 'No page within 3 bits. "-k 16" looks farther.\n' });
    const far = await run(['duplicates', 'near', `${origin}/article/2`, '-k', '16'], { cwd });
    expect(far).toMatchObject({ code: 0, stderr: expect.not.stringContaining('looks farther') });
    const unknown = await run(['duplicates', 'near', `${origin}/nowhere`], { cwd });
    expect(unknown).toMatchObject({ code: 1, stderr: expect.stringContaining('Unknown URL') });
  });

  it('dedup marks the print version, export leaves it out, undo brings it back', async () => {
    type Reported = DedupSummary & { readonly list: readonly DuplicateView[] };
    expect(await json(['dedup', '--undo'], { cwd })).toEqual({ restored: 1, dryRun: false });
    const dry = await json<Reported>(['dedup', '--dry-run'], { cwd });
    expect(dry).toMatchObject({ duplicates: 1, marked: 1, dryRun: true });
    expect(dry.list).toEqual([{ url: `${origin}/article/1/print`, of: `${origin}/article/1`, distance: 0 }]);
    const text = await run(['dedup'], { cwd });
    expect(text.stdout).toContain(`duplicate of ${origin}/article/1 (0 bits)`);
    const record = await json<RecordView>(['readdb', '--url', `${origin}/article/1/print`], { cwd });
    expect(record).toMatchObject({ state: 'duplicate', target: `${origin}/article/1` });
    const explained = await run(['explain', `${origin}/article/1/print`], { cwd });
    expect(explained.stdout).toContain(`It is a duplicate of ${origin}/article/1.`);
    expect(explained.stdout).not.toContain('redirects');
    const exported = await run(['export', '--format', 'jsonl'], { cwd });
    expect(exported.stdout).not.toContain(`{"url":"${origin}/article/1/print"`);
    expect(await json<VerifySummary>(['state', 'verify'], { cwd })).toMatchObject({ sound: true });
    expect(await json(['dedup', '--undo'], { cwd })).toEqual({ restored: 1, dryRun: false });
    expect((await run(['export', '--format', 'jsonl'], { cwd })).stdout).toContain(
      `{"url":"${origin}/article/1/print"`,
    );
  });

  it('mapper and reducer on their own, with a sort by bytes between them, find the same pair', async () => {
    const records = await json<RecordView[]>(['readdb', '--dump'], { cwd });
    const input = records.map(({ url, signature }) => `${url}\t${signature ?? ''}\n`).join('');
    const mapped = await run(['mr', 'map', 'dedup'], { input });
    const sorted = mapped.stdout
      .split('\n')
      .slice(0, -1)
      .map((line) => Buffer.from(line))
      .sort(Buffer.compare);
    const reduced = await run(['mr', 'reduce', 'dedup'], { input: sorted.map((line) => `${line}\n`).join('') });
    expect(reduced.stdout).toBe(`${origin}/article/1\t${origin}/article/1/print\t0\n`);
  });

  it('refuses distances at which pairs would be missed', async () => {
    expect(await run(['dedup', '--distance', '4'], { cwd })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('0 to 3'),
    });
    expect((await run(['dedup', '--prefer', 'beauty'], { cwd })).code).toBe(2);
    expect((await run(['dedup', '--incoming', 'nothing'], { cwd })).stderr).toContain('no segment');
  });
});
