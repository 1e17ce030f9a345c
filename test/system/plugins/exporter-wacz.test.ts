import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, truncateSync } from 'node:fs';
import { copyFile, readdir } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Page } from '../../../src/transports/browser/playwright.ts';
import { workDir } from '../../support/work-dir.ts';
import { png } from '../mirror/requisite-site.ts';
import { run } from '../support/binary.ts';
import { NO_TOOLS, TOOLS, viewer } from '../support/wacz-viewer.ts';
import { browserProgram, noBrowser, playwright } from '../transports/rendering/browser.ts';

const NO_VIEWER = NO_TOOLS ?? noBrowser;
const skipped = (reason: string | null): string => (reason === null ? '' : ` (skipped: ${reason})`);

interface Framed {
  frames(): readonly { content(): Promise<string>; evaluate(script: string): Promise<unknown> }[];
}

const servers: Server[] = [];
afterAll(() => {
  for (const each of servers) each.close();
});

async function originOf(listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const paths = ['/', '/packed', '/caf%C3%A9?a=1&b=2'];
const COLOUR = 'rgb(1, 2, 3)';
const REQUISITES: Readonly<Record<string, readonly [type: string, body: string | Buffer]>> = {
  '/style.css?v=3': ['text/css', '@import "/deep.css"; h1 { font-style: italic }'],
  '/deep.css': ['text/css', `h1 { color: ${COLOUR} }`],
  '/picture.png': ['image/png', png(7, 5, [200, 0, 0])],
};

/** Paths asked for so far. */
const asked: string[] = [];

/** A page in gzip, and one with a query and a name that is not ASCII; each has a style sheet, and two pictures. */
const site: RequestListener = ({ url = '' }, response) => {
  asked.push(url);
  const requisite = REQUISITES[url];
  if (requisite !== undefined) return void response.setHeader('content-type', requisite[0]).end(requisite[1]);
  if (url === '/moved.png') return void response.writeHead(302, { location: '/picture.png' }).end();
  if (!paths.includes(url)) return void response.writeHead(404).end();
  const links = paths.map((path) => `<a href="${path.replace('&', '&amp;')}">${path}</a>`).join(' ');
  const page =
    Buffer.from(`<!doctype html><title>${url}</title><link rel=stylesheet href="/style.css?v=3"><h1>Seen at ${url}</h1><p>Gruß.</p>
<img src="/picture.png"><img src="moved.png">${links}`);
  response.setHeader('content-type', 'text/html; charset=utf-8');
  if (url !== '/packed') return void response.end(page);
  response.setHeader('content-encoding', 'gzip');
  response.end(gzipSync(page));
};

describe(`WACZ archives${skipped(NO_TOOLS)}`, () => {
  let dir = '';
  let origin = '';
  let where: string[] = [];
  let archive = '';
  beforeAll(async () => {
    dir = workDir();
    origin = await originOf(site);
    where = ['--dir', join(dir, 'crawl')];
    archive = join(dir, 'site.wacz');
    const needed = ['-D', 'fetch.requisites=all'];
    const network = ['--allow', '127.0.0.0/8', '--delay', '0', '--contact', 'a@example.org'];
    expect(await run(['crawl', `${origin}/`, ...network, ...where, ...needed])).toMatchObject({ code: 0 });
    const exported = await run(['export', '--format', 'wacz', '-o', archive, ...where]);
    expect([exported.code, exported.stderr]).toEqual([0, expect.stringContaining('3 pages, 4 requisites')]);
  }, 60_000);

  const validated = (file: string): Promise<string> =>
    promisify(execFile)('python3', ['-m', 'wacz.main', 'validate', '-f', file], {
      env: { ...process.env, PYTHONPATH: join(TOOLS, 'python') },
    }).then(
      ({ stdout }) => stdout,
      (error: { stdout: string }) => error.stdout,
    );

  it('are made as a whole, and only into a file', async () => {
    expect(await readdir(dir)).toEqual(['crawl', 'site.wacz']);
    const alone = await run(['export', '--format', 'wacz', ...where]);
    expect(alone).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('needs --output, a file') });
  });

  it.each([
    [[], ['/', '/caf%C3%A9?a=1&b=2', '/deep.css', '/moved.png', '/packed', '/picture.png', '/style.css?v=3']],
    [['--pages-only'], ['/', '/caf%C3%A9?a=1&b=2', '/packed']],
  ])('have the requisites of pages in their index, as WARC files have: %j', async (args, expected) => {
    const file = join(workDir(), 'site.warc.gz');
    expect(await run(['export', '--format', 'warc', ...args, '-o', file, ...where])).toMatchObject({ code: 0 });
    const lines = readFileSync(file.replace('.warc.gz', '.cdxj'), 'utf8').trimEnd().split('\n');
    const urls = lines.map((line) => new URL(JSON.parse(line.slice(line.indexOf('{'))).url));
    expect(urls.map(({ pathname, search }) => pathname + search).sort()).toEqual(expected);
    const one = await run(['export', '--format', 'warc', '--where', 'url ~ /packed', '-o', file, '--json', ...where]);
    expect(JSON.parse(one.stdout)).toMatchObject({ documents: 1, requisites: 4 });
  });

  it.skipIf(NO_TOOLS !== null)(
    'are valid by their specification, and a damaged one is not',
    async () => {
      expect(await validated(archive)).toContain('Validation succeeded');
      const cut = join(dir, 'cut.wacz');
      await copyFile(archive, cut);
      truncateSync(cut, 500);
      expect(await validated(cut)).not.toContain('Validation succeeded');
    },
    60_000,
  );

  it.skipIf(NO_VIEWER !== null)(
    'open in ReplayWeb.page, each page by its address, with style sheets and pictures and without the web',
    async () => {
      const home = await originOf(viewer(archive, origin));
      const browser = await playwright().chromium.launch({ executablePath: browserProgram(), args: ['--no-sandbox'] });
      try {
        const page = (await (await browser.newContext({})).newPage()) as Page & Framed;
        const texts = async (): Promise<string> =>
          (await Promise.all(page.frames().map((frame) => frame.content().catch(() => '')))).join('\n');
        // The viewer now and then misses that its service worker is ready: it shows nothing until it is loaded again.
        const shows = async (path: string): Promise<boolean> => {
          const expected = `Seen at ${path.replace('&', '&amp;')}`;
          for (let load = 0; load < 5; load++) {
            await page.goto(`${home}/?${encodeURIComponent(path)}`, { waitUntil: 'domcontentloaded', timeout: 30_000 });
            for (let look = 0; look < 60; look++) {
              if ((await texts()).includes(expected)) return true;
              await delay(250);
            }
          }
          return false;
        };
        // The colour of the heading, and the widths of the pictures: what the browser has loaded of the archive.
        const shown = `[getComputedStyle(document.querySelector('h1')).color, ...Array.from(document.images, (i) => i.naturalWidth)]`;
        const looks = async (): Promise<unknown> => {
          let seen: unknown;
          for (let look = 0; look < 40; look++) {
            for (const frame of page.frames()) seen = (await frame.evaluate(shown).catch(() => undefined)) ?? seen;
            if (JSON.stringify(seen) === JSON.stringify([COLOUR, 7, 7])) break;
            await delay(250);
          }
          return seen;
        };
        asked.length = 0;
        for (const path of paths) {
          expect([path, await shows(path)]).toEqual([path, true]);
          expect([path, await looks()]).toEqual([path, [COLOUR, 7, 7]]);
        }
        expect(asked).toEqual([]);
      } finally {
        await browser.close();
      }
    },
    300_000,
  );
});
