import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Level } from 'level';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createGate } from '../cli/support/gate.ts';
import { json, prepare, type Running, run, start } from '../support/program.ts';
import { workDir } from '../support/work-dir.ts';

/** What a page may call itself: markup, a turned reading direction, what a terminal obeys. */
const HOSTILE = `</title><script>window.pwned=1</script><img src=x onerror="pwned()">\u202egnp.exe \u0007'"`;
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

let site: Server;
let origin: string;
const gate = createGate();
let version = '';
const own = ['--allow', '127.0.0.1', '--delay', '0'];
const dir = workDir();
let live: Running;
let view: string;

beforeAll(async () => {
  site = createServer((asked, answer) => {
    answer.setHeader('content-type', 'text/html; charset=utf-8');
    if (asked.url === '/robots.txt') return void answer.writeHead(404).end();
    const links = [1, 2, 3, 4, 5].map((i) => `<a href="/${i}?q=%3Cscript%3E">x</a>`).join('');
    const words = Array.from({ length: 60 }, (_, i) => `word${i}${asked.url?.[1]}`).join(' ') + version;
    const body = `<title>${escaped(HOSTILE)}</title><main><p>${words} ${escaped(HOSTILE)}</p></main>${links}`;
    gate.pass(() => answer.end(body));
  });
  site.listen(0, '127.0.0.1');
  await once(site, 'listening');
  origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  await prepare(['crawl', `${origin}/`, '--dir', dir, ...own]);
  ({ live, view } = await served(['--dir', dir]));
});
afterAll(async () => {
  live.stop();
  expect(await live.finished).toMatchObject({ code: 0 });
  site.closeAllConnections();
  site.close();
});

async function served(args: readonly string[]): Promise<{ live: Running; view: string }> {
  const running = start(['serve', '--port', '0', '--json', ...args]);
  const line = await running.saying(/^\{.*\}\n/m);
  return { live: running, view: (JSON.parse(line) as { url: string }).url.replace(/\/$/, '') };
}

const text = async (path: string, init?: RequestInit): Promise<string> => (await fetch(`${view}${path}`, init)).text();
const pageOf = (): string => `/url?u=${encodeURIComponent(`${origin}/1?q=%3Cscript%3E`)}`;

/** As a browser under another name would ask. */
async function statusUnder(host: string, port: string): Promise<number | undefined> {
  const asking = request({ host: '127.0.0.1', port, path: '/', headers: { host } });
  asking.end();
  const [answer] = (await once(asking, 'response')) as [{ statusCode?: number; resume(): void }];
  answer.resume();
  return answer.statusCode;
}

describe('serve', () => {
  it('shows the crawl without a script: every link of every page answers', async () => {
    const seen = new Set(['/']);
    for (const path of seen) {
      const answer = await fetch(`${view}${path}`);
      expect([path, answer.status]).toEqual([path, 200]);
      if (!answer.headers.get('content-type')?.includes('html')) continue;
      const html = await answer.text();
      for (const [, href = ''] of html.matchAll(/(?:href|src|data-curves)="(\/[^"]*)"/g)) {
        if (seen.size < 60) seen.add(href.replaceAll('&amp;', '&'));
      }
    }
    expect([...seen]).toEqual(
      expect.arrayContaining([
        '/rounds',
        '/changes',
        '/due',
        '/hosts',
        '/pages',
        '/duplicates',
        '/metrics',
        '/healthz',
      ]),
    );
    expect([...seen].filter((path) => /^\/(?:url|blocks|near|diff)\?/.test(path)).length).toBeGreaterThan(5);
    const overview = await text('/');
    expect(overview).toContain('No crawl is running.');
    expect(overview).toMatch(/fetched<\/a><\/th><td class="number">6</);
    // Two rounds within a second: their figures are known all the same.
    expect(overview).not.toMatch(/no data|No page has an estimated/);
    expect(overview).toContain('class="dot last"');
    expect(overview).toContain(`<bdi>${new URL(origin).host}</bdi></a></th><td class="number">6<`);
    expect(await text('/?span=1y')).toContain('Visits per week');
    expect(await text('/changes?kind=new')).toContain(`${origin}/1?q=%3Cscript%3E`);
    expect(await text('/pages?status=gone')).toContain('Pages by host: none');
    expect(await text(pageOf())).toContain('It is next due at');
    expect(await text('/url?u=ht!tp')).toContain('not an absolute URL');
    expect((await fetch(`${view}/nowhere`)).status).toBe(404);
  });

  it('says what a form expects, and keeps what was typed', async () => {
    for (const typed of ['prefix=example.org%2Fnews', 'prefix=https%3A%2F%2F%5B', 'host=a%2Fb']) {
      const answer = await fetch(`${view}/pages?${typed}`);
      expect(answer.status).toBe(400);
      const html = await answer.text();
      expect(html).toContain(typed.startsWith('host') ? 'Expected a host' : 'Expected the beginning of a URL');
      expect(html).toContain(`value="${decodeURIComponent(typed.slice(typed.indexOf('=') + 1))}"`);
    }
    const upper = await text(`/pages?prefix=${encodeURIComponent(origin.toUpperCase())}`);
    expect(upper).toContain(`${origin}/1?q=%3Cscript%3E`);
  });

  it('keeps hostile titles, URLs and texts inert, and loads and runs nothing but its own files', async () => {
    const blocks = `/blocks?u=${encodeURIComponent(`${origin}/1?q=%3Cscript%3E`)}`;
    for (const path of [
      '/',
      '/pages',
      '/changes',
      '/due',
      pageOf(),
      blocks,
      '/url?u=%3Cscript%3Ealert(1)%3C/script%3E',
    ]) {
      const answer = await fetch(`${view}${path}`);
      const html = await answer.text();
      expect(html).not.toContain('<img');
      expect(html).not.toMatch(/\u202e|\u0007/);
      expect(html.replace(/&quot;/g, '')).not.toMatch(/<[^>]*\son\w+=/);
      expect(html).not.toMatch(/<[^>]*\sstyle=/);
      expect([...html.matchAll(/<script[^>]*>/g)].map(([tag]) => tag)).toEqual([
        '<script src="/assets/live.js" defer>',
      ]);
      expect([...html.matchAll(/(?:src|action|data-curves)="([^"]*)"/g)].every(([, url]) => url?.startsWith('/'))).toBe(
        true,
      );
      const policy = answer.headers.get('content-security-policy') ?? '';
      expect(policy).toContain("default-src 'none'");
      expect(policy).toContain("script-src 'self'");
      expect(policy).not.toContain('unsafe');
      expect(answer.headers.get('x-frame-options')).toBe('DENY');
    }
    expect(await text(blocks)).toContain('&lt;script&gt;window.pwned=1&lt;/script&gt;');
    expect(await text(blocks)).toContain('\\u202egnp.exe');
  });

  it('gives figures to Prometheus and to monitors', async () => {
    const metrics = await text('/metrics');
    expect(metrics).toMatch(/^incrawl_urls\{state="fetched"\} 6$/m);
    expect(metrics).toMatch(/^incrawl_requests_total [1-9]\d*$/m);
    expect(metrics).toMatch(/^incrawl_visits_total\{outcome="new"\} 6$/m);
    expect(metrics).toMatch(/^incrawl_run_active 0$/m);
    expect(metrics).toMatch(/^incrawl_serve_process_cpu_seconds_total /m);
    for (const line of metrics.split('\n')) expect(line).toMatch(/^(?:#.*|[a-z_0-9]+(?:\{[^}]*\})? \S+|)$/);
    expect(await (await fetch(`${view}/healthz`)).json()).toMatchObject({ status: 'ok', crawl: 'idle' });
    expect(await (await fetch(`${view}/data/outcomes.json`)).json()).toMatchObject({
      series: [{ label: 'new', values: [1, 5] }, {}, {}, {}],
    });
  });

  it('a HEAD request for the events keeps no listener', async () => {
    for (let i = 0; i < 65; i++) expect((await fetch(`${view}/events`, { method: 'HEAD' })).status).toBe(200);
    const leave = new AbortController();
    expect((await fetch(`${view}/events`, { signal: leave.signal })).status).toBe(200);
    leave.abort();
  });

  it('answers under the names of this machine only, and changes nothing', async () => {
    const { port } = new URL(view);
    expect(await statusUnder('attacker.test', port)).toBe(421);
    expect(await statusUnder(`localhost:${port}`, port)).toBe(200);
    const touched = await fetch(`${view}/touch`, {
      method: 'POST',
      headers: { origin: view },
      body: new URLSearchParams({ u: origin }),
    });
    expect(touched.status).toBe(403);
    expect((await fetch(`${view}/`, { method: 'DELETE' })).status).toBe(403);
    expect(await text(pageOf())).not.toContain('action="/touch"');
  });

  it('gives the crawl db up to commands and crawls at once, and follows a running crawl', async () => {
    await text('/pages');
    expect(await json(['readdb', '--stats', '--dir', dir])).toMatchObject({ urls: 6 });
    await prepare(['due', 'touch', '--dir', dir, ...[1, 2, 3, 4, 5].map((i) => `${origin}/${i}?q=%3Cscript%3E`)]);
    gate.closeAfter(2);
    version = ' <i>freshly</i> added';
    const events = await fetch(`${view}/events`);
    const crawl = start(['crawl', '--dir', dir, '--json', ...own]);
    let heard = '';
    const decoder = new TextDecoder();
    for await (const part of events.body as unknown as AsyncIterable<Uint8Array>) {
      heard += decoder.decode(part, { stream: true });
      if (/"text":"A crawl runs.*round 1, fetch/.test(heard)) break;
    }
    expect(heard).toContain('in flight');
    expect(await text('/')).toContain('A crawl runs (crawl, process');
    // The crawl answers for the crawl db that it has.
    expect(await text('/pages')).toContain(`${origin}/1?q=%3Cscript%3E`);
    expect(await text(pageOf())).toContain('It is in segment');
    expect(await text('/metrics')).toMatch(/^incrawl_run_active 1$/m);
    expect(await text(`/blocks?u=${encodeURIComponent(`${origin}/`)}`)).toContain('class="block main"');
    gate.open();
    const { code, stdout } = await crawl.finished;
    expect([code, JSON.parse(stdout)]).toMatchObject([0, { totals: { requests: 5 } }]);
    const diff = `/diff?u=${encodeURIComponent(`${origin}/1?q=%3Cscript%3E`)}`;
    expect(await text(diff)).toMatch(/<ins>freshly added ?<br>|<ins>freshly added/);
    expect(await text(diff)).toContain('&lt;/title&gt;&lt;script&gt;');
    expect(await text(`${diff}&from=nowhere`)).toContain('no content of');
  });

  it('says so when another process holds the crawl db and does not answer', async () => {
    const other = workDir();
    await prepare(['crawl', `${origin}/`, '--dir', other, '--rounds', '1', ...own]);
    const db = new Level(join(other, 'db'));
    await db.open();
    const { live: shut, view: at } = await served(['--dir', other]);
    const pages = await fetch(`${at}/pages`);
    expect([pages.status, await pages.text()]).toEqual([503, expect.stringContaining('holds the crawl db')]);
    expect(await (await fetch(`${at}/`)).text()).toContain('these figures are from the last round');
    expect(await (await fetch(`${at}/metrics`)).text()).toMatch(/^incrawl_urls\{state="fetched"\} 1$/m);
    await db.close();
    expect((await fetch(`${at}/pages`)).status).toBe(200);
    shut.stop();
    expect((await shut.finished).code).toBe(0);
  });

  it('says what is wrong with a damaged crawl db', async () => {
    const other = workDir();
    await prepare(['crawl', `${origin}/`, '--dir', other, '--rounds', '1', ...own]);
    writeFileSync(join(other, 'db', 'CURRENT'), 'nothing');
    const { live: hurt, view: at } = await served(['--dir', other]);
    for (const path of ['/', '/pages', '/metrics']) {
      const answer = await fetch(`${at}${path}`);
      expect([answer.status, await answer.text()]).toEqual([500, expect.stringContaining('the crawl db is damaged')]);
    }
    hurt.stop();
    expect((await hurt.finished).stderr).not.toContain('stack');
  });

  it('refuses a second server, a missing folder, and other machines without a token', async () => {
    expect(await run(['serve', '--port', '0', '--dir', dir])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('already'),
    });
    expect((await run(['serve', '--dir', join(dir, 'nowhere')])).stderr).toContain('there is no folder');
    expect(await run(['serve', '--host', '0.0.0.0', '--dir', dir])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--token-file'),
    });
    const short = join(dir, 'short');
    writeFileSync(short, 'secret\n');
    expect((await run(['serve', '--token-file', short, '--dir', dir])).stderr).toContain('16 characters');
    const { port } = new URL(view);
    expect((await run(['serve', '--port', port, '--dir', workDir()])).stderr).toContain('cannot listen');
  });

  it('with a token: requires it, and can make pages due', async () => {
    const other = workDir();
    await prepare(['crawl', `${origin}/`, '--dir', other, '--rounds', '1', ...own]);
    const token = 'a-token-of-some-length';
    const file = join(other, 'token');
    writeFileSync(file, `${token}\n`);
    const { live: locked, view: at } = await served(['--dir', other, '--token-file', file]);
    expect((await fetch(`${at}/`)).status).toBe(401);
    expect((await fetch(`${at}/`, { headers: { authorization: 'Bearer wrong' } })).status).toBe(401);
    expect((await fetch(`${at}/healthz`)).status).toBe(200);
    const basic = { authorization: `Basic ${Buffer.from(`me:${token}`).toString('base64')}` };
    expect((await fetch(`${at}/changes.atom`)).status).toBe(401);
    expect(await (await fetch(`${at}/changes.atom`, { headers: basic })).text()).toContain(`href="${origin}/"`);
    const page = `/url?u=${encodeURIComponent(`${origin}/`)}`;
    expect(await (await fetch(`${at}${page}`, { headers: basic })).text()).toContain('action="/touch"');
    const form = new URLSearchParams({ u: `${origin}/` });
    const touch = (headers: Record<string, string>, body: URLSearchParams | string = form): Promise<Response> =>
      fetch(`${at}/touch`, { method: 'POST', redirect: 'manual', body, headers });
    expect((await touch({ origin: at })).status).toBe(401);
    expect((await touch({ ...basic, origin: 'http://attacker.test' })).status).toBe(403);
    const multipart = { ...basic, origin: at, 'content-type': 'multipart/form-data; boundary=x' };
    expect((await touch(multipart, 'no part at all')).status).toBe(400);
    expect(await touch({ authorization: `Bearer ${token}`, origin: at })).toMatchObject({ status: 303 });
    expect(await (await fetch(`${at}${page}`, { headers: basic })).text()).toContain('It has been due since');
    locked.stop();
    expect((await locked.finished).code).toBe(0);
  });
});

describe('serve before the first crawl', () => {
  it('says that there is nothing yet, and makes no crawl db', async () => {
    const empty = workDir();
    const { live: early, view: at } = await served(['--dir', empty]);
    expect(await (await fetch(`${at}/`)).text()).toContain('Nothing has been crawled yet.');
    const pages = await fetch(`${at}/pages`);
    expect([pages.status, await pages.text()]).toEqual([400, expect.stringContaining('holds no crawl')]);
    expect((await fetch(`${at}/metrics`)).status).toBe(200);
    early.stop();
    expect((await early.finished).code).toBe(0);
    expect(readdirSync(empty)).toEqual([]);
  });
});
