import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { json, run } from '../../support/program.ts';
import { workDir } from '../../support/work-dir.ts';
import { startSite } from '../support/local-site.ts';

type Answer = Readonly<Record<string, unknown>>;

async function answers(
  kind: string,
  input: string,
  cwd = workDir(),
  options: readonly string[] = [],
): Promise<Answer[]> {
  const { code, stdout } = await run(['check', kind, '--stdin', ...options], { cwd, input });
  expect(code).toBe(0);
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Answer);
}

const HTML = `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>A \u0007title</title></head>
<body><p>The quick brown fox jumps over the lazy dog, again and again, until evening comes.</p><a href="next">more</a></body></html>`;

describe('check', () => {
  it('url: one line for each line, in order, bad ones with an error', async () => {
    const lines = [
      'HTTP://Example.ORG:80/a/../b#top',
      '{"url": "../c", "base": "https://example.org/x/y"}',
      '{"url": 5}',
      '{broken',
      'http://exa mple/',
      '"https://example.org/q\\u2028z"',
    ];
    const all = await answers('url', lines.join('\n'));
    expect(all).toHaveLength(6);
    expect(all[0]).toMatchObject({ input: lines[0], url: 'http://example.org/b', reason: null });
    expect(all[1]).toMatchObject({ url: 'https://example.org/c' });
    expect(all[2]).toMatchObject({ input: lines[2], error: expect.stringContaining('"url"') });
    expect(all[3]).toMatchObject({ input: '{broken', error: expect.stringContaining('JSON') });
    expect(all[4]).toMatchObject({ url: null, reason: expect.any(String) });
    expect(all[5]?.url).toBe('https://example.org/q%E2%80%A8z');
  });

  it('url: those before count as known, so that one that is like them is refused as in a crawl', async () => {
    const cwd = workDir();
    writeFileSync(
      join(cwd, 'list.yaml'),
      'plugins: [urlfilter-scope, urlfilter-similarity: { mode: published }, signature-simhash, schedule-freshness]\n',
    );
    const urls = ['/a/x/t.html', '/a/y/t.html', '/a/x/t.html', '/b/y/t.html'].map(
      (path) => `https://example.org${path}`,
    );
    const all = await answers('url', urls.join('\n'), cwd, ['-D', `plugins.file=${join(cwd, 'list.yaml')}`]);
    expect(all.map(({ url }) => url)).toEqual([urls[0], null, urls[2], urls[3]]);
    expect(all[1]).toMatchObject({
      reason: expect.stringMatching(/^similar to known URLs: /),
      steps: [{ name: 'urlfilter-scope' }, { name: 'urlfilter-similarity', before: urls[1], after: null }],
    });
  });

  it('parse: what a parse filter adds to the record', async () => {
    const cwd = workDir();
    writeFileSync(join(cwd, 'a.html'), '<!doctype html><title>A</title><p class="price"> 12  EUR</p>');
    const fields = '{ price: .price, none: .absent }';
    writeFileSync(
      join(cwd, 'list.yaml'),
      `plugins: [parse-html, parsefilter-selectors: { fields: ${fields} }, signature-simhash, schedule-freshness]\n`,
    );
    const args = ['check', 'parse', 'a.html', '-D', `plugins.file=${join(cwd, 'list.yaml')}`];
    expect(await json(args, { cwd })).toMatchObject({ metadata: { 'selectors.price': '12 EUR' } });
    expect((await run(args, { cwd })).stdout).toMatch(/^metadata +selectors\.price 12 EUR$/m);
  });

  it('parse: signatures of several plugins, and how far another version is by each', async () => {
    const cwd = workDir();
    const lines = Array.from({ length: 30 }, (_, i) => `<p>Sentence ${i * 7919} of a page with number ${i * 31}.</p>`);
    writeFileSync(join(cwd, 'a.html'), lines.join(''));
    writeFileSync(join(cwd, 'b.html'), lines.with(3, '<p>Another sentence altogether, put in its place.</p>').join(''));
    const args = ['check', 'parse', 'a.html', '--against', 'b.html'];
    const { signatures } = await json<{ signatures: Record<string, unknown>[] }>(
      [...args, '--signatures', 'simhash,simhash-js,digest'],
      { cwd },
    );
    expect(signatures.map(({ name, id, distance }) => [name, String(id).split('-', 1)[0], distance])).toEqual([
      ['simhash', expect.stringMatching(/^simhash64/), expect.any(Number)],
      ['simhash-js', 'simhash', expect.any(Number)],
      ['digest', expect.any(String), expect.any(Number)],
    ]);
    const [simhash, simhashJs, digest] = signatures.map(({ distance }) => Number(distance));
    expect([simhash! > 0 && simhash! < 16, simhashJs! > 0 && simhashJs! < 16, digest! > 16]).toEqual([
      true,
      true,
      true,
    ]);
    const all = await run([...args, '--signatures', 'all'], { cwd });
    expect(all.stdout).toMatch(/signatures \(4\):\n {2}name simhash · id simhash64.* · distance \d+ · cpuMs /);
    const unknown = await run(['check', 'parse', 'a.html', '--signatures', 'simhsh'], { cwd });
    expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringMatching(/"simhsh".*did you mean simhash\?/)]);
  });

  it('url: one argument, for people and as JSON', async () => {
    const cwd = workDir();
    expect(await json(['check', 'url', '../b', '--base', 'http://example.org/a/c'], { cwd })).toMatchObject({
      url: 'http://example.org/b',
    });
    const { code, stdout } = await run(['check', 'url', 'http://example.org/\u001b[2J'], { cwd });
    expect(code).toBe(0);
    expect(stdout).not.toContain('\u001b');
  });

  it('parse: a robots meta tag for the agent name applies', async () => {
    const cwd = workDir();
    writeFileSync(join(cwd, 'page.html'), '<meta name="our-bot" content="nofollow"><p>One <a href="next">link</a>.');
    const links = async (...args: string[]): Promise<unknown> =>
      (await json(['check', 'parse', 'page.html', '--url', 'https://example.org/', ...args], { cwd })).outlinks;
    expect(await links('-D', 'agent.name=Our-Bot')).toMatchObject([{ nofollow: true }]);
    expect(await links()).toMatchObject([{ nofollow: false }]);
  });

  it('parse: an X-Robots-Tag line for another agent does not hide a later line for all', async () => {
    const server = createServer((request, response) => {
      response.setHeader('content-type', 'text/html');
      response.setHeader(
        'x-robots-tag',
        request.url === '/all' ? ['otherbot: noarchive', 'nofollow'] : 'otherbot: nofollow',
      );
      response.end('<p>One <a href="/next">link</a>.');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const links = async (path: string): Promise<unknown> =>
      (await json(['check', 'parse', `http://127.0.0.1:${port}${path}`, '--allow', '127.0.0.1', '--delay', '0']))
        .outlinks;
    expect(await links('/all')).toMatchObject([{ nofollow: true }]);
    expect(await links('/other')).toMatchObject([{ nofollow: false }]);
    server.close();
  });

  it('parse: files with the URL they came from', async () => {
    const cwd = workDir();
    writeFileSync(join(cwd, 'page.html'), HTML);
    const [page, absent] = await answers(
      'parse',
      '{"file": "page.html", "url": "https://example.org/dir/"}\nabsent.html\n',
      cwd,
    );
    expect(page).toMatchObject({ file: 'page.html', lang: 'en', signature: expect.stringMatching(/^[0-9a-f]{16}$/) });
    expect(page?.text).toContain('quick brown fox');
    expect(page?.outlinks).toMatchObject([{ url: 'https://example.org/dir/next', anchor: 'more' }]);
    expect(absent?.error).toEqual(expect.any(String));
    const shown = await run(['check', 'parse', 'page.html', '--url', 'https://example.org/'], { cwd });
    expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining('quick brown fox') });
  });

  it('parse: a page is fetched where robots.txt allows it', async () => {
    const site = await startSite({ pages: 1 });
    const options = ['--allow', '127.0.0.1', '--delay', '0'];
    const lines = [`${site.origin}/page/1`, `${site.origin}/private/x`, `${site.origin}/page/1`];
    const [page, denied, again] = await answers('parse', lines.join('\n'), workDir(), options);
    expect(page).toMatchObject({ url: `${site.origin}/page/1`, error: null });
    expect(denied?.error).toContain('robots.txt does not allow the URL. (line 2: Disallow: /private/)');
    expect(again).toEqual(page);
    expect(site.log).toEqual(['/page/1', '/page/1']);
    await site.close();
  });

  it('robots: text, agent and URL', async () => {
    const robots = 'User-agent: *\nDisallow: /private\nCrawl-delay: 2\nSitemap: https://example.org/s.xml\n';
    const line = (url: string): string => JSON.stringify({ robots, agent: 'incrawl', url });
    const all = await answers(
      'robots',
      `${line('https://example.org/private/x')}\n${line('https://example.org/')}\nbare\n`,
    );
    expect(all[0]).toMatchObject({ allowed: false, crawlDelay: 2, sitemaps: ['https://example.org/s.xml'] });
    expect(all[1]).toMatchObject({ allowed: true });
    expect(all[2]?.error).toContain('absolute URL');
    const cwd = workDir();
    writeFileSync(join(cwd, 'robots.txt'), robots);
    const args = ['check', 'robots', 'https://example.org/private', '--robots', 'robots.txt'];
    expect(await json(args, { cwd })).toMatchObject({ allowed: false });
  });

  it('robots without a text: that of the URL is fetched', async () => {
    const site = await startSite({ pages: 1 });
    const ask = (path: string, ...more: string[]) =>
      run(['check', 'robots', `${site.origin}${path}`, '--json', ...more]);
    const allow = ['--allow', '127.0.0.1', '--delay', '0'];
    expect(JSON.parse((await ask('/private/x', ...allow)).stdout)).toMatchObject({
      allowed: false,
      rule: { line: 2, text: 'Disallow: /private/' },
      status: 200,
    });
    expect(JSON.parse((await ask('/page/1', ...allow)).stdout)).toMatchObject({ allowed: true, code: null });
    expect(await ask('/page/1')).toMatchObject({ code: 1, stderr: expect.stringContaining('--allow') });
    await site.close();
    expect(JSON.parse((await ask('/page/1', ...allow)).stdout)).toMatchObject({
      allowed: false,
      code: 'connect-failed',
      fault: expect.stringContaining('ECONNREFUSED'),
    });
  });

  it('sitemap: URLs, sitemaps and faults', async () => {
    const cwd = workDir();
    const url = '<url><loc>https://example.org/a</loc><lastmod>2026-03-01</lastmod></url>';
    writeFileSync(
      join(cwd, 'sitemap.xml'),
      `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${url}</urlset>`,
    );
    const sitemap = await json(['check', 'sitemap', 'sitemap.xml'], { cwd });
    expect(sitemap).toMatchObject({
      file: 'sitemap.xml',
      urls: [{ loc: 'https://example.org/a', lastmod: expect.any(String) }],
      sitemaps: [],
    });
    expect(await answers('sitemap', 'sitemap.xml\nabsent.xml\n', cwd)).toHaveLength(2);
  });

  it('plugins: the list, and a new one', async () => {
    const cwd = workDir();
    const list = await json<Answer[]>(['plugins', 'list'], { cwd });
    expect(list).toContainEqual(expect.objectContaining({ name: 'parse-html', kind: 'parse', bundled: true }));
    expect((await run(['plugins'], { cwd })).stdout).toContain('parse-html');
    const made = await json<{ files: string[] }>(['plugins', 'new', 'urlfilter-no-calendar', 'mine'], { cwd });
    expect(made.files.length).toBeGreaterThanOrEqual(2);
    expect((await run(['plugins', 'new', 'urlfilter-no-calendar', 'mine'], { cwd })).code).not.toBe(0);
    expect((await run(['plugins', 'new', 'nokind', 'mine'], { cwd })).code).not.toBe(0);
  });
});
