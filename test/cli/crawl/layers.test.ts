import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { CrawlSummary } from '../../../src/core/steps/round-summary.ts';
import type { Explanation } from '../../../src/crawler/index.ts';
import type { RepartitionSummary, SkippedUrl } from '../../../src/crawler/views.ts';
import type { RecordView } from '../../../src/query/records/views.ts';
import { json, run } from '../../support/program.ts';
import { workDir } from '../../support/work-dir.ts';
import { served } from '../support/served.ts';

const WORDS = 'Words enough for the content of a page, which says something, and then something else again.';

/** `/` links to three folders, each of them to ten pages of one template and to the next page of a row. */
const server = createServer((request, response) => {
  const path = request.url ?? '/';
  if (path === '/robots.txt') {
    response.writeHead(404).end();
    return;
  }
  const folder = /^\/(a|b|c)\/$/.exec(path)?.[1];
  const number = Number(/^\/row\/(\d+)$/.exec(path)?.[1] ?? Number.NaN);
  const links =
    path === '/'
      ? ['/a/', '/b/', '/c/', '/row/0']
      : folder !== undefined
        ? Array.from({ length: 10 }, (_, i) => `/${folder}/item-${i}.html`)
        : number < 5
          ? [`/row/${number + 1}`]
          : [];
  response.setHeader('content-type', 'text/html');
  response.end(
    `<!doctype html><title>${path}</title><main><p>${WORDS}</p>${links.map((to) => `<p>${WORDS} <a href="${to}">link</a> ${WORDS}</p>`).join('')}</main>`,
  );
});
const site = served(server);

const crawl = (cwd: string, ...more: string[]): Promise<CrawlSummary> =>
  json<CrawlSummary>(['crawl', `${site.origin}/`, '--allow', '127.0.0.1', '--delay', '0', ...more], { cwd });

describe('layers', () => {
  it('a depth of two fetches the seeds and what they link to, and goes on when asked for more', async () => {
    const cwd = workDir();
    const first = await crawl(cwd, '--depth', '2');
    expect(first.totals.layers).toMatchObject([
      { depth: 0, visited: 1, new: 1, newUrls: 0 },
      { depth: 1, visited: 4, new: 4, newUrls: 4 },
    ]);
    expect(first.totals.filteredBy).toMatchObject({ 'outlinks: beyond the depth asked for': 31 });
    const records = await json<RecordView[]>(['readdb', '--dump'], { cwd });
    expect(records).toHaveLength(5);
    const lines = await run(['crawl', '--depth', '2', '--allow', '127.0.0.1'], { cwd });
    expect(lines.code).toBe(0);
  });

  it('without a limit all layers are reached; an export goes layer by layer, each page once', async () => {
    const cwd = workDir();
    // The pages are of one template and say the same.
    writeFileSync(join(cwd, 'incrawl.yaml'), 'dedup:\n  mode: off\n');
    const { totals } = await crawl(cwd);
    expect(totals.layers.map(({ visited }) => visited)).toEqual([1, 4, 31, 1, 1, 1, 1]);
    const { stdout } = await run(['export', '--format', 'jsonl', '--merge-by', 'depth'], { cwd });
    const urls = stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { url: string }).url);
    const depthOf = new Map(
      (await json<RecordView[]>(['readdb', '--dump'], { cwd })).map(({ url, depth }) => [url, depth]),
    );
    const depths = urls.map((url) => depthOf.get(url) ?? -1);
    expect(depths).toEqual([...depths].sort((a, b) => a - b));
    expect(new Set(urls).size).toBe(40);
    expect(urls).toHaveLength(40);
    const text = await run(['crawl', '--allow', '127.0.0.1', '--quiet'], { cwd });
    expect(text.code).toBe(0);
    const again = await run(['crawl', `${site.origin}/`, '--allow', '127.0.0.1', '--delay', '0'], { cwd: workDir() });
    expect(again.stdout).toMatch(/^layer 0 \(seeds\): 1 visited.*\nlayer 1 \(1 link from a seed\): 4 visited/m);
    expect(again.stdout).toContain('layer 2 (2 links from a seed): ');
  });
});

describe('similar URLs in a crawl', () => {
  const list = (cwd: string, options: string): string => {
    const file = join(cwd, 'plugins.yaml');
    const names =
      'protocol-http urlnormalizer-basic urlfilter-scope parse-html signature-simhash schedule-freshness scoring-depth'.split(
        ' ',
      );
    writeFileSync(
      file,
      `plugins:\n${names.map((name) => `  - ${name}\n`).join('')}  - urlfilter-similarity: ${options}\n`,
    );
    return `plugins.file=${file}`;
  };

  it('by default later ones are put off and still fetched; as published they are dropped', async () => {
    const cwd = workDir();
    // All pages have nearly one text.
    const deferred = await crawl(cwd, '-D', list(cwd, '{ quota: 4, growth: 100 }'));
    // Items of three folders, and a row of six pages, each family with a quota of four: the rest waits for those.
    expect(deferred.totals.demotedBy['urlfilter-similarity: like URLs wait']).toBeGreaterThanOrEqual(3 * 6);
    expect(deferred.totals.new).toBe(40);
    const other = workDir();
    const published = await crawl(other, '-D', list(other, '{ mode: published }'));
    expect(published.totals.filteredBy).toMatchObject({ 'urlfilter-similarity: similar to known URLs': 20 });
    expect(published.totals.new).toBe(40 - 20);
    const [refused] = await json<SkippedUrl[]>(['skipped', '--reason', 'url-not-admitted'], { cwd: other });
    const why = ['explain', refused!.url, '-D', list(other, '{ mode: published }')];
    const explained = await json<Explanation>(why, { cwd: other });
    expect(explained.skipped.at(-1)).toMatchObject({ reason: 'url-not-admitted', by: 'urlfilter-similarity' });
    expect(explained.ifFound[0]).toContain('urlfilter-similarity, which refused the last one, would decide again');
    const reported = await run(['check', 'url', `${site.origin}/a/item-7.html`, '-D', list(cwd, '{ quota: 4 }')]);
    expect(reported.stdout).toContain('|a|item-#.html');
  });
});

describe('repartition', () => {
  it('gives each host to one node, and loses none', async () => {
    const cwd = workDir();
    const hosts = Array.from({ length: 40 }, (_, i) => `http://host${i}.example/`);
    writeFileSync(join(cwd, 'seeds.txt'), hosts.map((url) => `${url}\n${url}page\n`).join(''));
    await json(['inject', 'seeds.txt'], { cwd });
    const out = join(cwd, 'shares');
    // What a run that was cut short has written; none of it looks like the crawl db of a node.
    mkdirSync(join(out, '.unfinished~', 'north', 'db'), { recursive: true });
    writeFileSync(join(out, '.unfinished~', 'north', 'db', '000005.ldb'), 'half');
    const { nodes } = await json<RepartitionSummary>(
      ['db', 'repartition', '--nodes', 'north,south,east', '--out', out],
      {
        cwd,
      },
    );
    expect(nodes.reduce((sum, { records }) => sum + records, 0)).toBe(80);
    expect(readdirSync(out).sort()).toEqual(['east', 'north', 'south']);
    const seen: string[] = [];
    for (const { dir, records } of nodes) {
      const own = await json<RecordView[]>(['readdb', '--dump', '--dir', dir]);
      expect(own).toHaveLength(records);
      seen.push(...own.map(({ url }) => new URL(url).host).filter((host, i, all) => all.indexOf(host) === i));
    }
    expect(seen.sort()).toEqual([...new Set(seen)]);
    expect(seen).toHaveLength(40);
    expect((await run(['db', 'repartition', '--nodes', 'a,b', '--out', out], { cwd })).code).toBe(2);
    expect((await run(['db', 'repartition', '--nodes', 'a,../b', '--out', join(cwd, 'x')], { cwd })).code).toBe(2);
  });
});
