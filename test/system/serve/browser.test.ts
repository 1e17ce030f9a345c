import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { workDir } from '../../support/work-dir.ts';
import { type Running, run, start } from '../support/binary.ts';
import { findChromium, openTab, type Tab } from './browser.ts';

const chromium = findChromium();
const title =
  chromium === null
    ? 'the live view in a browser (no Chromium here; INCRAWL_CHROMIUM names one)'
    : 'the live view in a browser';

/** What a page may call itself: markup, a turned reading direction, a word without end. */
const hostile = (canary: string): string =>
  `</title><script>window.pwned=1</script><img src=x onerror="window.pwned=1"><link rel=stylesheet href="${canary}">` +
  `<a href="javascript:window.pwned=1">x</a>\u202egnp.exe ${'w'.repeat(300)}`;
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
const OWN = ['--allow', '127.0.0.1', '--delay', '0', '--quiet'];
const WIDTHS = [1280, 1024, 768, 390] as const;
/** Where to leave pictures for people, when that is asked for. */
const { INCRAWL_SCREENSHOTS: pictures } = process.env;

describe.skipIf(chromium === null)(title, () => {
  let site: Server;
  let live: Running;
  let tab: Tab;
  let view = '';
  let paths: Readonly<Record<string, string>> = {};
  /** Requests that only markup of the site in a page of the view would make. */
  let canaries = 0;

  beforeAll(async () => {
    let version = 'first';
    site = createServer((asked, answer) => {
      answer.setHeader('content-type', 'text/html; charset=utf-8');
      if (asked.url === '/canary') canaries++;
      const text = escaped(hostile(`http://${asked.headers.host}/canary`));
      if (asked.url === '/robots.txt') return void answer.writeHead(404).end();
      const href = (i: number): string => `/${i}?q=%3Cscript%3E%22onmouseover=window.pwned=1%3E${'x'.repeat(120)}`;
      const links = [1, 2, 3, 4].map((i) => `<a href="${href(i)}">${text}</a>`).join('');
      const words = Array.from({ length: 80 }, (_, i) => `Sentence ${i} of the page tells of ${version} things.`).join(
        ' ',
      );
      answer.end(`<title>${text}</title><main><p>${words}</p><p>${text}</p></main>${links}`);
    });
    site.listen(0, '127.0.0.1');
    await once(site, 'listening');
    const origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
    const dir = join(workDir(), 'crawldb');
    await run(['crawl', `${origin}/`, '--dir', dir, ...OWN]);
    version = 'second';
    await run(['due', 'touch', `${origin}/`, '--dir', dir]);
    await run(['crawl', '--dir', dir, ...OWN, '--rounds', '1']);
    live = start(['serve', '--port', '0', '--json', '--dir', dir]);
    const [line] = (await once(live.child.stdout!, 'data')) as [string];
    view = (JSON.parse(line) as { url: string }).url.replace(/\/$/, '');
    const u = encodeURIComponent(`${origin}/`);
    const lists = ['rounds', 'changes', 'due', 'hosts', 'pages', 'duplicates'].map(
      (name) => [name, `/${name}`] as const,
    );
    const ofUrl = ['url', 'blocks', 'near', 'diff'].map((name) => [name, `/${name}?u=${u}`] as const);
    paths = Object.fromEntries([['overview', '/'], ...lists, ...ofUrl]);
    tab = await openTab(chromium as string);
  });
  afterAll(async () => {
    live?.child.kill('SIGTERM');
    await tab?.close();
    await live?.finished;
    site?.closeAllConnections();
    site?.close();
  });

  it('would report an error, and whatever the content security policy blocks', async () => {
    await tab.open(`${view}/`);
    await tab.evaluate(`console.error('seen'), setTimeout(() => { throw new Error('thrown'); })`);
    await tab.evaluate(
      `document.body.append(Object.assign(document.createElement('script'), { text: 'window.pwned = 1' })), new Promise((resolve) => setTimeout(resolve))`,
    );
    expect(await tab.evaluate('typeof window.pwned')).toBe('undefined');
    expect(tab.errors().join('\n')).toMatch(/seen[\s\S]*thrown[\s\S]*Content Security Policy/);
  });

  it.each(WIDTHS)(
    'at %i px: no console error, hostile text inert, nothing wider than the window, all reachable by keyboard',
    async (width) => {
      const metrics = { width, height: 900, deviceScaleFactor: 1, mobile: width < 500 };
      await tab.send('Emulation.setDeviceMetricsOverride', metrics);
      for (const [name, path] of Object.entries(paths)) {
        await tab.open(`${view}${path}`);
        expect({ name, errors: tab.errors() }).toEqual({ name, errors: [] });
        const seen = await tab.evaluate<object>(`({
        pwned: typeof window.pwned, images: document.images.length,
        wider: document.documentElement.scrollWidth > window.innerWidth,
        heading: document.querySelector('h1')?.textContent.trim() !== '',
        unnamed: [...document.querySelectorAll('a, button, input:not([type=hidden]), select')]
          .filter((each) => !(each.textContent.trim() || each.ariaLabel || each.labels?.length)).length,
        unreachable: [...document.querySelectorAll('a, button, input:not([type=hidden]), select')].filter((each) => each.tabIndex < 0).length,
      })`);
        const wanted = { pwned: 'undefined', images: 0, wider: false, heading: true, unnamed: 0, unreachable: 0 };
        expect({ name, ...seen }).toEqual({ name, ...wanted });
        if (pictures !== undefined) await picture(`${name}-${width}`);
      }
      expect(canaries).toBe(0);
    },
  );

  it('has the overview on one screen, with each row of a table readable on a narrow one', async () => {
    const metrics = { width: 1280, height: 800, deviceScaleFactor: 1, mobile: false };
    await tab.send('Emulation.setDeviceMetricsOverride', metrics);
    await tab.open(`${view}/`);
    expect(await tab.evaluate('document.documentElement.scrollHeight')).toBeLessThanOrEqual(800);
    expect(await tab.evaluate(`document.querySelectorAll('.panel svg').length`)).toBeGreaterThanOrEqual(4);
    await tab.send('Emulation.setDeviceMetricsOverride', { ...metrics, width: 390, mobile: true });
    for (const path of [paths.pages, paths.rounds, paths.url]) {
      await tab.open(`${view}${path}`);
      const cells = await tab.evaluate<{ cells: number; cut: number; unnamed: number }>(`(() => {
        const cells = [...document.querySelectorAll('.rows tbody td')].filter((each) => each.offsetParent !== null);
        const label = (each) => getComputedStyle(each, '::before').content;
        return {
          cells: cells.length,
          cut: cells.filter((each) => each.getBoundingClientRect().right > innerWidth || each.scrollWidth > each.clientWidth + 1).length,
          unnamed: cells.filter((each) => each !== each.parentElement.firstElementChild && !/\\w/.test(label(each))).length,
        };
      })()`);
      expect({ path, ...cells }).toEqual({ path, cells: expect.any(Number), cut: 0, unnamed: 0 });
      expect(cells.cells).toBeGreaterThan(5);
    }
  });

  it('renews what the page shows when the crawl has moved on, and keeps the place of the reader', async () => {
    await tab.open(`${view}/`);
    await tab.evaluate(`document.querySelector('main').dataset.seen = 'before', scrollTo(0, 20), renew()`);
    expect(await tab.evaluate(`document.querySelector('main').dataset.seen ?? 'renewed'`)).toBe('renewed');
    expect(tab.errors()).toEqual([]);
  });

  it('shows where the keyboard is', async () => {
    await tab.open(`${view}/pages`);
    const marks: string[] = [];
    for (let i = 0; i < 6; i++) {
      for (const type of ['keyDown', 'keyUp'])
        await tab.send('Input.dispatchKeyEvent', { type, key: 'Tab', windowsVirtualKeyCode: 9 });
      marks.push(
        await tab.evaluate<string>(
          `(({ tagName }, { outlineStyle, outlineWidth }) => outlineStyle === 'none' || outlineWidth === '0px' ? 'unmarked ' + tagName : tagName)(document.activeElement, getComputedStyle(document.activeElement))`,
        ),
      );
    }
    expect(marks.join(' ')).not.toMatch(/unmarked|BODY/);
  });

  it('can be read without JavaScript', async () => {
    await tab.send('Emulation.setScriptExecutionDisabled', { value: true });
    for (const [name, path] of Object.entries(paths)) {
      await tab.open(`${view}${path}`);
      const { root } = (await tab.send('DOM.getDocument', { depth: 0 })) as { root: { nodeId: number } };
      const { nodeId } = await tab.send('DOM.querySelector', {
        nodeId: root.nodeId,
        selector: 'main table, main svg, main p, main dl',
      });
      expect({ name, hasContent: nodeId !== 0, errors: tab.errors() }).toEqual({ name, hasContent: true, errors: [] });
    }
    await tab.send('Emulation.setScriptExecutionDisabled', { value: false });
  });

  async function picture(name: string): Promise<void> {
    const { data } = await tab.send('Page.captureScreenshot', { format: 'png', captureBeyondViewport: true });
    mkdirSync(pictures as string, { recursive: true });
    writeFileSync(join(pictures as string, `${name}.png`), Buffer.from(String(data), 'base64'));
  }
});
