import { readFileSync, statSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { workDir } from '../../../support/work-dir.ts';
import { json, run, start } from '../../support/binary.ts';
import { NO_TOOLS, viewer } from '../../support/wacz-viewer.ts';
import { serving } from './apps.ts';
import { browserProgram, noBrowser, playwright } from './browser.ts';
import { ITEMS, type ScriptedSite, scriptedSite } from './scripted-site.ts';

const NETWORK = ['--allow', '127.0.0.0/8', '--delay', '0', '-D', 'render.mode=always'];
const NEEDED = ['-D', 'fetch.requisites=all'];
const PATHS = ['/', ...ITEMS.map((i) => `/items/${i}`)];

/** What a reader sees of a page: its heading and its colour, its text, what was drawn, and how many links lead on. */
const SEEN = `(() => {
  const heading = document.querySelector('#app h1');
  const picture = document.querySelector('#app img');
  if (heading === null || picture === null || !picture.complete) return null;
  return [
    heading.textContent,
    getComputedStyle(heading).color,
    document.querySelector('#app p').textContent,
    picture.naturalWidth,
    document.querySelectorAll('#app li').length,
    document.querySelectorAll('#drawn').length,
  ];
})()`;

const seenOf = (path: string, drawn: number): unknown[] => {
  const item = Number(path.split('/').pop());
  const [heading, text] =
    item === 0
      ? ['All items', 'Apples and pears of every kind, as the orchard has them this year.']
      : [`Item ${item}`, `What there is to say of item ${item}, in so many words.`];
  return [`The orchard: ${heading}`, 'rgb(1, 2, 3)', text, 24, 3, drawn];
};

interface Framed {
  goto(url: string, options: { readonly waitUntil: 'load' }): Promise<unknown>;
  frames(): readonly { evaluate(script: string): Promise<unknown> }[];
  on(event: 'request', listener: (request: { url(): string }) => void): void;
}

/** A page of a browser that ends with the test. */
async function openPage(): Promise<Framed> {
  const browser = await playwright().chromium.launch({ executablePath: browserProgram(), args: ['--no-sandbox'] });
  onTestFinished(() => browser.close());
  return (await (await browser.newContext({})).newPage()) as unknown as Framed;
}

/** What a frame of the page says last: what is expected, or what it said after ten seconds. */
async function shownBy(page: Framed, expected: unknown): Promise<unknown> {
  let seen: unknown = null;
  for (let look = 0; look < 40; look++) {
    for (const frame of page.frames()) seen = (await frame.evaluate(SEEN).catch(() => null)) ?? seen;
    if (JSON.stringify(seen) === JSON.stringify(expected)) break;
    await delay(250);
  }
  return seen;
}

async function clockOf(page: Framed): Promise<unknown> {
  const texts = page.frames().map((frame) => frame.evaluate(`document.querySelector('#clock')?.textContent`));
  return (await Promise.all(texts.map((text) => text.catch(() => null)))).find((text) => typeof text === 'string');
}

async function crawled(): Promise<{ site: ScriptedSite; dir: string; where: string[] }> {
  const site = await scriptedSite();
  onTestFinished(() => site.close());
  const dir = workDir();
  return { site, dir, where: ['--dir', join(dir, 'crawl')] };
}

const withoutTime = (asked: readonly string[]): string[] => asked.map((path) => path.replace(/\?t=.*/, '?t=')).sort();

/**
 * URLs of the requisites with their states, those with a time left out. A kill may cost a second visit, which finds
 * that nothing has changed.
 */
async function requisitesIn(dir: string): Promise<string[]> {
  const { stdout } = await run([
    'readdb',
    '--fields',
    'url,state,digest',
    '--format',
    'jsonl',
    '--dir',
    join(dir, 'requisites'),
  ]);
  const rows = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { url: string; state: string; digest: string });
  return rows
    .filter(({ url }) => !url.includes('?t='))
    .map(({ url, state, digest }) => `${new URL(url).pathname} ${state.replace('notmodified', 'fetched')} ${digest}`);
}

describe.skipIf(noBrowser !== null)(
  `a rendered page with its requisites${noBrowser === null ? '' : ` (${noBrowser})`}`,
  () => {
    it('asks the site for no more than its browser does, and for what that left out', async () => {
      const plain = await crawled();
      await run(['crawl', `${plain.site.origin}/`, ...plain.where, ...NETWORK]);
      const { site, where } = await crawled();
      const { requisites } = await json<{ requisites: Record<string, number> }>([
        ...['crawl', `${site.origin}/`, ...where, ...NETWORK, ...NEEDED],
      ]);
      const leftOut = ['/font/late.woff2', '/img/drawn.png', '/img/named.png'];
      expect(withoutTime(site.asked)).toEqual([...withoutTime(plain.site.asked), ...leftOut].sort());
      expect(requisites).toMatchObject({ urls: 16, fromBrowser: 13, requests: leftOut.length, failed: 0, gone: 0 });
    }, 180_000);

    it.skipIf(NO_TOOLS !== null)(
      `replays as an application${NO_TOOLS === null ? '' : ` (${NO_TOOLS})`}`,
      async () => {
        const { site, dir, where } = await crawled();
        await run(['crawl', `${site.origin}/`, ...where, ...NETWORK, ...NEEDED]);
        const archive = join(dir, 'site.wacz');
        expect(await run(['export', '--format', 'wacz', '-o', archive, ...where])).toMatchObject({ code: 0 });
        await site.close();
        const { origin: home, close } = await serving(viewer(archive, site.origin));
        onTestFinished(() => void close());
        const page = await openPage();
        for (const path of PATHS) {
          let seen: unknown = null;
          // The viewer now and then misses that its service worker is ready.
          for (let load = 0; load < 5 && seen === null; load++) {
            await page.goto(`${home}/?${encodeURIComponent(path)}`, { waitUntil: 'load' });
            seen = await shownBy(page, seenOf(path, 1));
          }
          expect([path, seen]).toEqual([path, seenOf(path, 1)]);
          // Its address has the time in it: the viewer shows the answer to one of the addresses that were asked for.
          const clock = async (): Promise<string> => String(await clockOf(page));
          await expect.poll(clock, { timeout: 20_000 }).toMatch(/^The server says: it is \d+$/);
        }
      },
      300_000,
    );

    it('is mirrored as the browser saw it, and its scripts do not run a second time', async () => {
      const { site, dir, where } = await crawled();
      const copy = join(dir, 'copy');
      expect(await run(['mirror', `${site.origin}/`, copy, ...where, ...NETWORK])).toMatchObject({ code: 0 });
      await site.close();
      const { origin, close } = await serving(filesOf(copy));
      onTestFinished(() => void close());
      const page = await openPage();
      const requests: string[] = [];
      page.on('request', (request) => requests.push(request.url()));
      const { files } = JSON.parse(readFileSync(join(copy, 'manifest.json'), 'utf8')) as {
        files: { url: string; file: string }[];
      };
      for (const path of PATHS) {
        const { file } = files.find(({ url }) => url === `${site.origin}${path}`)!;
        await page.goto(`${origin}/${file}`, { waitUntil: 'load' });
        expect([path, await shownBy(page, seenOf(path, 0))]).toEqual([path, seenOf(path, 0)]);
      }
      expect(requests.filter((url) => !url.startsWith(`${origin}/`) || /\.js|\/api\//.test(url))).toEqual([]);
    }, 180_000);

    it('is the same in the end wherever a crawl was killed', async () => {
      const whole = await crawled();
      await run(['crawl', `${whole.site.origin}/`, ...whole.where, ...NETWORK, ...NEEDED]);
      const expected = await requisitesIn(join(whole.dir, 'crawl'));
      expect(expected).toHaveLength(12);
      for (const after of [3, 7, 12, 16]) {
        const { site, dir, where } = await crawled();
        const crawl = start(['crawl', `${site.origin}/`, ...where, ...NETWORK, ...NEEDED]);
        while (site.asked.length < after && crawl.child.exitCode === null) await delay(5);
        crawl.child.kill('SIGKILL');
        await crawl.finished;
        const next = await run(['crawl', `${site.origin}/`, ...where, ...NETWORK, ...NEEDED]);
        expect([after, next.code, next.stderr]).toEqual([after, 0, expect.not.stringContaining('"level":"error"')]);
        expect([after, await requisitesIn(join(dir, 'crawl'))]).toEqual([after, expected]);
        expect(await run(['state', 'verify', ...where])).toMatchObject({ code: 0 });
      }
    }, 300_000);
  },
);

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html',
  css: 'text/css',
  png: 'image/png',
  js: 'text/javascript',
};

/** A static server. */
const filesOf =
  (folder: string): RequestListener =>
  ({ url = '/' }, response) => {
    const file = join(folder, decodeURIComponent(url.split('?')[0]!));
    if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return void response.writeHead(404).end();
    response.setHeader('content-type', TYPES[file.split('.').pop()!] ?? 'application/octet-stream');
    response.end(readFileSync(file));
  };
