import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { workDir } from '../../support/work-dir.ts';
import { type RunningSite, requisiteSite, serveSite } from '../mirror/requisite-site.ts';
import { type Running, run, start } from '../support/binary.ts';
import { findChromium, openTab, type Tab } from './browser.ts';
import { hostileFiles, hostilePages } from './hostile-pages.ts';

const chromium = findChromium();
const title =
  chromium === null
    ? 'stored pages in a browser (no Chromium here; INCRAWL_CHROMIUM names one)'
    : 'stored pages in a browser';

const TOKEN = 'a-token-of-this-test-alone';
/** Pages that aim at the live view, or whose ways browsers refuse by themselves nowadays. */
const SILENT = new Set(
  [
    'plain-text',
    'refresh-by-script',
    'data-link',
    'steering-form',
    'touch-form',
    'steering-link',
    'local-steering',
  ].map((name) => `/hostile/${name}`),
);
/** Where to leave pictures for people, when that is asked for. */
const { INCRAWL_SCREENSHOTS: pictures } = process.env;

async function listening(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe.skipIf(chromium === null)(title, () => {
  let site: RunningSite;
  let sink: Server;
  /** Between the browser and the live view: notes each request. */
  let between: Server;
  let live: Running;
  let tab: Tab;
  let view = '';
  let upstream = '';
  let hostile: readonly string[] = [];
  /** Connections to the server elsewhere, with and without a request. */
  let reached: string[] = [];
  let asked: { readonly what: string; readonly status: number }[] = [];

  beforeAll(async () => {
    sink = createServer((incoming, answer) => {
      reached.push(`${incoming.method} ${incoming.url}`);
      answer.writeHead(404, { 'access-control-allow-origin': '*' }).end();
    });
    sink.on('connection', () => reached.push('connection'));
    between = createServer((incoming, answer) => {
      const { method, url, headers } = incoming;
      // Pages that lead here are crawled before there is a live view.
      if (upstream === '') return void answer.writeHead(404).end();
      const passed = request(`${upstream}${url}`, { method, headers }, (given) => {
        asked.push({ what: `${method} ${url}`, status: given.statusCode ?? 0 });
        answer.writeHead(given.statusCode ?? 502, given.headers);
        given.pipe(answer);
      });
      passed.on('error', () => answer.destroy());
      answer.on('close', () => passed.destroy());
      incoming.pipe(passed);
    });
    const aims = { sink: await listening(sink), view: await listening(between) };
    view = aims.view;
    const files = requisiteSite(aims.sink);
    const pages = hostilePages(aims);
    hostile = [...pages.keys()];
    for (const [path, body] of pages) files.set(path, { type: 'text/html; charset=utf-8', body });
    for (const [path, file] of hostileFiles(aims)) files.set(path, file);
    const main = files.get('/style/main.css?v=3')!;
    files.set('/style/main.css?v=3', { ...main, body: `${main.body} .title { font-family: F }` });
    site = await serveSite(files);
    const dir = join(workDir(), 'crawldb');
    const token = join(dir, '..', 'token');
    writeFileSync(token, TOKEN, { mode: 0o600 });
    const seeds = ['/', ...hostile, '/drawing'].map((path) => `${site.origin}${path}`);
    const where = ['--dir', dir, '--allow', '127.0.0.1', '--delay', '0', '--quiet'];
    const options = ['-D', 'fetch.requisites=all', '-D', 'dedup.mode=off'];
    const crawled = await run(['crawl', ...seeds, ...where, ...options]);
    expect([crawled.code, crawled.stderr]).toEqual([0, '']);
    const start0 = site.files.get('/')!;
    site.files.set('/', { ...start0, body: String(start0.body).replace('A page of text', 'Another page of text') });
    site.files.set('/style/colors.css', { type: 'text/css', body: '@import "deep.css";\n.title { color: #c30 }' });
    await run(['crawl', ...where, ...options, '--all']);
    live = start(['serve', '--port', '0', '--json', '--control', '--token-file', token, '--dir', dir]);
    const [line] = (await once(live.child.stdout!, 'data')) as [string];
    upstream = (JSON.parse(line) as { url: string }).url.replace(/\/$/, '');
    tab = await openTab(chromium as string);
    await tab.open(view.replace('://', `://x:${TOKEN}@`));
    // What a page asks for after its load; the browser learns only then that it needs the token for these too.
    const late = ['GET /events', 'GET /assets/icon.svg'];
    const isAsked = (path: string): boolean => asked.some(({ what }) => what === path);
    await vi.waitUntil(() => late.every(isAsked), { timeout: 20_000 });
    reached = [];
  }, 120_000);
  afterAll(async () => {
    live?.child.kill('SIGTERM');
    await tab?.close();
    await live?.finished;
    await site?.close();
    for (const server of [sink, between]) {
      server?.closeAllConnections();
      server?.close();
    }
  });

  const viewOf = (path: string): string => `${view}/stored?${new URLSearchParams({ u: `${site.origin}${path}` })}`;
  const frameAddress = (): Promise<string> => tab.evaluate(`document.querySelector('iframe')?.src ?? ''`);
  const click = async (x: number, y: number): Promise<void> => {
    for (const type of ['mousePressed', 'mouseReleased'])
      await tab.send('Input.dispatchMouseEvent', { type, x, y, button: 'left', clickCount: 1 });
  };
  const waitForFrames = () => delay(150);

  it('shows a page with its style, pictures and fonts, without a request to elsewhere', async () => {
    asked = [];
    await tab.open(viewOf('/'));
    await waitForFrames();
    expect(tab.errors()).toEqual([]);
    const files = asked.filter(({ what }) => what.includes('/file?'));
    expect(files.length).toBeGreaterThan(15);
    expect(asked.filter(({ status }) => status !== 200)).toEqual([]);
    expect(files.some(({ what }) => what.includes('font.woff2'))).toBe(true);
    expect(await tab.evaluate(`document.querySelector('main').textContent`)).toMatch(/1 of \d+ not stored/);
    if (pictures !== undefined) await picture('stored');
    // The same document by itself has the same policy.
    await tab.open(await frameAddress());
    const seen = await tab.evaluate<object>(`({
      color: getComputedStyle(document.querySelector('.title')).color,
      origin: window.origin,
      script: document.scripts.length,
      widths: [...document.images].map((image) => image.naturalWidth),
    })`);
    expect(seen).toMatchObject({ color: 'rgb(204, 51, 0)', origin: 'null', script: 0 });
    const { widths } = seen as { widths: readonly number[] };
    expect(widths.filter((width) => width === 24).length).toBe(widths.length - 1);
  });

  it('shows two dates side by side, each with the style of its time', async () => {
    await tab.open(viewOf('/').replace('/stored?', '/compare?'));
    await waitForFrames();
    expect(tab.errors()).toEqual([]);
    const sources = await tab.evaluate<readonly string[]>(`[...document.querySelectorAll('iframe')].map((f) => f.src)`);
    if (pictures !== undefined) await picture('compare');
    const colors: string[] = [];
    for (const source of sources) {
      await tab.open(source);
      colors.push(await tab.evaluate(`getComputedStyle(document.querySelector('.title')).color`));
    }
    expect(colors).toEqual(['rgb(0, 102, 204)', 'rgb(204, 51, 0)']);
  });

  it('leads from page to page within the frame, and to a note where nothing is stored', async () => {
    await tab.open(viewOf('/about'));
    await tab.open(await frameAddress());
    const links = await tab.evaluate<readonly string[]>(`[...document.links].map((link) => link.href)`);
    expect(links.length).toBe(2);
    await tab.open(links[1] as string);
    expect(await tab.evaluate('document.body.textContent')).toContain('A guide to the site.');
    await tab.open(links[1]!.replace('guide', 'absent'));
    expect(await tab.evaluate('document.body.textContent')).toContain('not in the crawl');
  });

  it('sends nothing out, runs nothing and steers nothing, whatever a page tries', async () => {
    const metrics = { width: 800, height: 700, deviceScaleFactor: 1, mobile: false };
    await tab.send('Emulation.setDeviceMetricsOverride', metrics);
    for (const path of [...hostile, '/drawing']) {
      for (const isAlone of [false, true]) {
        asked = [];
        await tab.open(viewOf(path));
        const address = await frameAddress();
        expect([path, address.startsWith(`${view}/content/`)]).toEqual([path, true]);
        if (isAlone) await tab.open(address);
        await waitForFrames();
        const box = await tab.evaluate<{ x: number; y: number }>(
          `(() => { const box = (document.querySelector('iframe.stored') ?? document.documentElement).getBoundingClientRect(); return { x: 400, y: Math.max(box.top + 40, 40) }; })()`,
        );
        await click(box.x, isAlone ? 300 : box.y);
        await waitForFrames();
        const place = await tab.evaluate<string>('location.pathname');
        expect([path, place]).toEqual([path, expect.stringMatching(isAlone ? /^\/content\// : /^\/stored$/)]);
        expect([path, await tab.evaluate('typeof window.pwned')]).toEqual([path, 'undefined']);
        const strange = asked.filter(
          ({ what }) => !/^GET \/(?:content\/[\w-]+\/(?:page|file)\?|stored\?|assets\/|events$)/.test(what),
        );
        expect([path, isAlone, reached, strange]).toEqual([path, isAlone, [], []]);
      }
    }
  }, 120_000);

  it('would notice: the same pages by themselves reach the server elsewhere', async () => {
    const silent: string[] = [];
    for (const path of hostile) {
      if (SILENT.has(path)) continue;
      reached = [];
      await tab.send('Page.navigate', { url: `${site.origin}${path}` });
      for (let tries = 0; tries < 40 && reached.length === 0; tries++) {
        await delay(250);
        if (reached.length === 0) await click(400, 300);
      }
      if (reached.length === 0) silent.push(path);
    }
    expect(silent).toEqual([]);
  }, 120_000);

  async function picture(name: string): Promise<void> {
    for (const [width, scheme] of [
      [1280, 'light'],
      [1280, 'dark'],
      [390, 'light'],
    ] as const) {
      const metrics = { width, height: 900, deviceScaleFactor: 1, mobile: width < 500 };
      await tab.send('Emulation.setDeviceMetricsOverride', metrics);
      await tab.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: scheme }] });
      await delay(300);
      const { data } = await tab.send('Page.captureScreenshot', { captureBeyondViewport: width < 500 });
      writeFileSync(join(pictures!, `${name}-${width}-${scheme}.png`), Buffer.from(String(data), 'base64'));
    }
    await tab.send('Emulation.setEmulatedMedia', { features: [] });
    await tab.send('Emulation.clearDeviceMetricsOverride');
  }
});
